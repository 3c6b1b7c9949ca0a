import Foundation
import Testing
import Transport

@testable import PushAvStreamTransport

/// Cameras that do all that cameras do wrong, in an order that a seed decides. Every recording keeps to its promises.
@Suite("Recordings of hostile cameras") struct RecordingMutationTests {
    @Test(arguments: 0..<60) func promisesHold(seed: Int) throws {
        var random = RandomSource.seeded(UInt64(seed) &* 7_919 &+ 1)
        func pick(_ range: ClosedRange<Int>) -> Int {
            range.lowerBound + Int(random.next() % UInt64(range.count))
        }
        let reorders = pick(0...2) == 0
        var bench = RecordingBench(
            pictures: reorders ? "h264" : "VP8", sound: pick(0...5) > 0, segment: .milliseconds(pick(500...4_000)),
            chunk: .milliseconds([0, 500, 900, 2_000][pick(0...3)])
        ) {
            $0.longestSession = .seconds(pick(5...40))
            $0.longestAbsence = .seconds(pick(4...30))
            $0.mostWaitingBytes = pick(0...3) == 0 ? 200 : 1 << 20
        }
        bench.assembler.outOfBandParameters = reorders ? H264Fixture.parameters : []
        bench.framesAreH264 = reorders
        bench.begin()
        var interval = 10
        for _ in 0..<60 {
            switch pick(0...16) {
            case 0: bench.pictureClock = UInt32(truncatingIfNeeded: random.next())
            case 1: bench.soundClock = UInt32(truncatingIfNeeded: random.next())
            case 2: bench.pictureClock &+= UInt32(truncatingIfNeeded: pick(-200_000...200_000))
            case 3: bench.soundClock &+= UInt32(truncatingIfNeeded: pick(-100_000...100_000))
            case 4: bench.assembler.recordRestart(ofPictures: true)
            case 5: bench.assembler.recordRestart(ofPictures: false)
            case 6: bench.assembler.recordMissing(.loss, inPictures: true)
            case 7: bench.assembler.recordMissing(.overload, inPictures: pick(0...1) == 0)
            case 8: bench.wait(.milliseconds(pick(0...20_000)))
            case 9: bench.width = UInt8([64, 96, 128][pick(0...2)])
            case 10: bench.captureError = .milliseconds(pick(-2_000...2_000))
            case 11: bench.assembler.wallClockOffset += Int64(pick(-10_000...10_000)) * 1_000_000_000
            case 12: interval = pick(1...60)
            case 13: for _ in 0..<pick(1...20) { bench.picture(isKeyFrame: pick(0...5) == 0) }
            case 14: for _ in 0..<pick(1...20) { bench.sound() }
            case 15:
                bench.stop([.lengthReached, .inactive, .privacy][pick(0...2)])
                bench.begin()
            default: break
            }
            bench.run(
                .milliseconds(pick(0...3_000)), keyFrameEvery: interval, pictures: pick(0...9) > 0,
                sounds: pick(0...9) > 0)
        }
        bench.stop()
        let recordings = bench.recordings
        #expect(!recordings.isEmpty)
        for recording in recordings {
            #expect(recording.faults == [], "seed \(seed)")
            // No sample ends long after the session does, by the clock that both tracks share.
            let end = Double((recording.end?.at ?? 0) / 1_000 - recording.session.id.start) / 1_000
            for track in recording.session.tracks.indices {
                #expect(recording.end(track) <= end + 0.01, "seed \(seed)")
            }
            #expect(recording.session.id.start >= 0)
        }
        // What is recorded is never longer than the time that passed.
        let length = recordings.reduce(0) { $0 + $1.length(0) }
        let passed = (bench.now - RecordingBench.start).inSeconds
        #expect(length <= passed + 3 * Double(recordings.count), "seed \(seed): \(length) s of \(passed) s")
    }
}
