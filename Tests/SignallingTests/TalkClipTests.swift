import Testing

@testable import Signalling

@Suite struct TalkClipTests {
    @Test func `the chime is kept as notes, and its samples are made when it is played`() {
        guard case .notes(let notes) = TalkClip.chime.sound else {
            Issue.record("the chime keeps its samples")
            return
        }
        #expect(notes.count == 2)
        let samples = TalkClip.chime.samples
        #expect(samples.count == 76_800)
        #expect(TalkClip.chime.durationSeconds == 1.6)
        // Each note begins and ends without a click, and is loud in between.
        for range in [0..<28_800, 28_800..<76_800] {
            let note = samples[range].map { abs(Int($0)) }
            #expect(note[0] == 0 && note[note.count - 1] < 100)
            #expect(note.contains { $0 > 10_000 } && !note.contains { $0 > 12_000 })
        }
    }
}
