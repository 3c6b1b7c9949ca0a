import Cameras
import StationFakes
import Stations
import Testing
import Transport

/// A talk to a camera whose address is changed meanwhile.
@Suite struct ReplaceableSpeakerTests {
    private let first = FakeCamera()
    private let second = FakeCamera()
    private let states = Locked<[SpeakerState]>([])

    private func begin(_ speaker: any CameraSpeaker) {
        let states = states
        speaker.begin { state in states.withLock { $0.append(state) } }
    }

    @Test func `a talk ends with the camera that it reaches, and the next one reaches the other camera`() throws {
        let source = ReplaceableSource(first)
        begin(try #require(source.speaker))
        #expect(states.withLock { $0 } == [.open])
        source.replace(with: second)
        #expect(states.withLock { $0 } == [.open, .refused(.sourceStopped)])
        begin(try #require(source.speaker))
        #expect(states.withLock { $0 }.last == .open)
        #expect(first.fakeSpeaker?.beginnings == 1 && second.fakeSpeaker?.beginnings == 1)
    }

    @Test func `a talk that begins too late for its camera is refused`() throws {
        let source = ReplaceableSource(first)
        let late = try #require(source.speaker)
        source.replace(with: second)
        begin(late)
        #expect(states.withLock { $0 } == [.refused(.sourceStopped)])
        #expect(first.fakeSpeaker?.beginnings == 0 && second.fakeSpeaker?.beginnings == 0)
    }

    /// The end of a source waits for its thread, for a second or longer.
    @Test func `a talk that begins while the former camera still ends does not stay with it`() throws {
        let source = ReplaceableSource(first)
        source.replace(with: second) {
            if let speaker = source.speaker { begin(speaker) }
        }
        #expect(first.fakeSpeaker?.beginnings == 1)
        #expect(states.withLock { $0 } == [.open, .refused(.sourceStopped)])
        begin(try #require(source.speaker))
        #expect(second.fakeSpeaker?.beginnings == 1)
        #expect(states.withLock { $0 }.last == .open)
    }

    /// The end of a talk may come again when the next one has begun: the camera was switched off.
    @Test func `a talk that has ended is told nothing, and does not take the place of the next one`() throws {
        let source = ReplaceableSource(first)
        let old = try #require(source.speaker)
        begin(old)
        old.end()
        #expect(first.fakeSpeaker?.ends == 1)
        begin(try #require(source.speaker))
        old.silence()
        source.replace(with: second)
        #expect(states.withLock { $0 } == [.open, .open, .refused(.sourceStopped)])
        source.replace(with: first)
        #expect(states.withLock { $0 }.count == 3)
    }

    @Test func `a talk goes on when the gateway reconnects to the camera`() throws {
        let source = ReplaceableSource(first)
        begin(try #require(source.speaker))
        source.replace(with: second, endsTalk: false)
        #expect(states.withLock { $0 } == [.open])
        // A camera at another address is another one for this talk too.
        source.replace(with: FakeCamera())
        #expect(states.withLock { $0 } == [.open, .refused(.sourceStopped)])
    }
}
