import Testing
import Transport

@testable import Cameras

/// The queue between a talker's clock and the gateway's, without either: time here is frames that are pulled.
@Suite struct TalkQueueTests {
    /// A talker and a camera on virtual time: the talker's packets of 20 ms come by `arrivals`, in milliseconds.
    struct Line {
        var queue = TalkQueue()
        var spoken = 0
        var frame = [Int16](repeating: 0, count: TalkQueue.frameLength)

        /// Says 20 ms: a sample's value is the time at which it was said, in milliseconds, so its age can be read.
        mutating func say(at millisecond: Int, quiet: Bool = false) {
            let samples = [Int16](repeating: quiet ? 0 : Int16(truncatingIfNeeded: millisecond), count: 960)
            samples.withUnsafeBufferPointer { queue.push($0) }
        }

        /// Pulls the next frame.
        @discardableResult
        mutating func pull() -> Int { frame.withUnsafeMutableBufferPointer { queue.pull(into: $0) } }
    }

    @Test func theTalkComesOutInOrderAfterTwoPackets() {
        var line = Line()
        line.pull()
        #expect(line.frame.allSatisfy { $0 == 0 } && line.queue.filled == 960)
        line.say(at: 1)
        line.pull()
        #expect(line.frame.allSatisfy { $0 == 0 }, "one packet alone waits for the second")
        line.say(at: 2)
        line.pull()
        #expect(line.frame.allSatisfy { $0 == 1 })
        line.say(at: 3)
        line.pull()
        #expect(line.frame.allSatisfy { $0 == 2 })
        #expect(line.queue.milliseconds == 20 && line.queue.dropped == 0)
    }

    @Test func nothingOlderThanTheBoundWaits() {
        var line = Line()
        for number in 1...50 { line.say(at: number) }
        #expect(line.queue.milliseconds == 200)
        #expect(line.queue.dropped == 40 * 960)
        line.pull()
        #expect(line.frame[500] == 41, "the newest 200 ms are kept")
        // A single packet longer than the bound keeps its end.
        let long = (0..<12_000).map { Int16($0) }
        long.withUnsafeBufferPointer { line.queue.push($0) }
        #expect(line.queue.milliseconds == 200)
        line.pull()
        #expect(line.frame[0] == 2_400)
    }

    @Test func aBurstDelaysTheTalkOnlyForAMoment() {
        var line = Line()
        // Half a second of speech, 160 ms without a packet, and all of them at once.
        var clock = 100
        func speak(_ packets: Int) { for _ in 0..<packets { line.say(at: clock); line.pull(); clock += 20 } }
        speak(25)
        #expect(line.queue.milliseconds == 20)
        for _ in 0..<8 { line.pull() }
        for _ in 0..<8 { line.say(at: clock); clock += 20 }
        #expect(line.queue.milliseconds > 100)
        speak(400)
        #expect(line.queue.milliseconds <= 30, "after eight seconds nothing waits without need")
    }

    @Test func aBurstIsDroppedAtOnceWhileNobodySpeaks() {
        var line = Line()
        for _ in 0..<9 { line.say(at: 0, quiet: true) }
        for _ in 0..<26 {
            line.pull()
            line.say(at: 0, quiet: true)
        }
        #expect(line.queue.milliseconds <= 40)
    }

    @Test(arguments: [-1000, -200, 200, 1000]) func driftDoesNotAddUp(partsPerMillion: Int) {
        var line = Line()
        // Two minutes: the talker's 20 ms are a little shorter or longer than the gateway's.
        var due = 0.0
        let step = 20.0 * (1 - Double(partsPerMillion) / 1_000_000)
        var (highest, silent) = (0.0, 0)
        line.say(at: 1)
        for frame in 0..<6_000 {
            let now = Double(frame) * 20
            while due <= now {
                line.say(at: 1000)
                due += step
            }
            if line.pull() < 960 { silent += 1 }
            if frame > 100 { highest = max(highest, line.queue.milliseconds) }
        }
        #expect(highest <= 60)
        // The slower clock's talker is short of 20 ms for each 20 ms of drift, and the queue gathers again.
        #expect(silent <= 10 + max(0, -partsPerMillion) * 120 / 20_000 * 3)
    }

    @Test func lostPacketsBecomeSilenceAndTheDelayStays() {
        var line = Line()
        var random = RandomSource.seeded(7)
        var silent = 0
        for frame in 0..<3_000 {
            if Int.random(in: 0..<10, using: &random) > 0 { line.say(at: frame % 1000 + 1000) }
            if line.pull() < 960 { silent += 1 }
            #expect(line.queue.milliseconds <= 60)
        }
        // Every tenth packet is lost; collecting packets again costs one more frame each time.
        #expect((250...700).contains(silent))
    }

    @Test func aCutJoinsWithoutAClick() {
        var line = Line()
        // A tone of 400 Hz; the cut may shift its phase, and no step between two samples may be larger than a fade's.
        var index = 0
        func tone(_ count: Int) {
            let samples = (0..<count).map { offset -> Int16 in
                let phase = (index + offset) % 120
                return Int16(8000 - abs(phase - 60) * 266)
            }
            index += count
            samples.withUnsafeBufferPointer { line.queue.push($0) }
        }
        for _ in 0..<8 { tone(960) }
        var last: Int?
        var steepest = 0
        for _ in 0..<100 {
            line.pull()
            tone(960)
            for sample in line.frame {
                if let last { steepest = max(steepest, abs(Int(sample) - last)) }
                last = Int(sample)
            }
        }
        #expect(line.queue.dropped > 0)
        #expect(steepest < 600)
    }

    @Test func openingDropsWhatWasSaidBefore() {
        var line = Line()
        for number in 1...8 { line.say(at: number) }
        line.queue.restart()
        #expect(line.queue.milliseconds == 40)
        line.pull()
        #expect(line.frame[0] == 7)
    }

    @Test func theLastWordsAreSentWithoutWaiting() {
        var line = Line()
        line.say(at: 5)
        line.queue.finish()
        #expect(line.pull() == 960)
        #expect(line.queue.count == 0)
    }
}

@Suite struct SpeechGainTests {
    @Test func sixDecibelsDoubleAndPeaksAreHeld() {
        var gain = SpeechGain(decibels: 6.02)
        var soft = [Int16](repeating: 1000, count: 480)
        soft.withUnsafeMutableBufferPointer { gain.apply(to: $0) }
        #expect(soft.allSatisfy { abs(Int($0) - 2000) < 5 })
        var loud = (0..<4800).map { Int16($0 % 2 == 0 ? 30_000 : -30_000) }
        loud.withUnsafeMutableBufferPointer { gain.apply(to: $0) }
        #expect(loud.allSatisfy { $0.magnitude <= 29_500 })
        // And it recovers.
        var after = [Int16](repeating: 1000, count: 48_000)
        after.withUnsafeMutableBufferPointer { gain.apply(to: $0) }
        #expect(abs(Int(after[47_000]) - 2000) < 5)
    }

    @Test func noGainChangesNothingBelowTheCeiling() {
        var gain = SpeechGain(decibels: 0)
        let original = (0..<960).map { Int16($0 * 20 - 9600) }
        var samples = original
        samples.withUnsafeMutableBufferPointer { gain.apply(to: $0) }
        #expect(samples == original)
    }
}
