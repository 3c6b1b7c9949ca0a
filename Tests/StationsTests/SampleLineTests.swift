import StationFakes
import Testing
import Transport

@testable import Stations

/// A camera's sound as its timestamps describe it.
private struct Source {
    var line: SampleLine
    /// The timestamp in ticks, not rounded.
    var ticks: Double
    var now = Instant.zero
    let clockRate: Double

    init(clockRate: Int, first: Double = 0xFFFF_F000) {
        line = SampleLine(clockRate: clockRate)
        ticks = first
        self.clockRate = Double(clockRate)
    }

    /// One packet of `seconds`. The clock of the sound chip is fast by `skew`, compared with that of the timestamps.
    mutating func packet(_ seconds: Double = 0.02, skew: Double = 0, hasLoss: Bool = false) -> SampleLine.Placement {
        let placement = line.place(
            timestamp: UInt32(truncatingIfNeeded: Int64(ticks)), count: Int((seconds * 48_000).rounded()),
            hasLoss: hasLoss, at: now)
        ticks += seconds * clockRate / (1 + skew)
        now += .nanoseconds(Int64(seconds * 1e9))
        return placement
    }

    mutating func pass(_ seconds: Double) {
        ticks += seconds * clockRate
        now += .nanoseconds(Int64(seconds * 1e9))
    }
}

@Suite(.ownThread) struct SampleLineTests {
    @Test func steadySoundIsLeftAlone() {
        var source = Source(clockRate: 8_000)
        for number in 0..<1_000 {
            let placement = source.packet()
            #expect(placement == SampleLine.Placement(position: Int64(number) * 960))
        }
    }

    /// Ten minutes of a sound chip that is off by 500 parts per million add up to 300 ms. Only a few of them remain.
    @Test(arguments: [-500e-6, -50e-6, 50e-6, 500e-6]) func driftStaysBoundedForTenMinutes(skew: Double) {
        var source = Source(clockRate: 8_000)
        var worst = 0.0
        var mostStretch = 0
        for _ in 0..<30_000 {
            let first = source.ticks
            let placement = source.packet(skew: skew)
            mostStretch = max(mostStretch, abs(placement.stretch))
            let due = (first - 0xFFFF_F000) * 6
            worst = max(worst, abs(due - Double(placement.position)))
            #expect(placement.silence == 0 && placement.skip == 0)
        }
        #expect(worst < 480, "10 ms at most")
        #expect(mostStretch <= 4, "half a percent of 960")
        #expect(source.line.believesTimestamps)
    }

    @Test func timestampsThatJitterByMillisecondsDoNotStretchTheSound() {
        var source = Source(clockRate: 16_000)
        var random = RandomSource.seeded(4)
        var stretched = 0
        for _ in 0..<3_000 {
            let jitter = Double(random.next() % 65) - 32
            source.ticks += jitter
            stretched += abs(source.packet(0.064).stretch)
            source.ticks -= jitter
        }
        #expect(stretched == 0)
    }

    @Test func aLostPacketBecomesSilence() {
        var source = Source(clockRate: 8_000)
        for _ in 0..<100 { _ = source.packet() }
        source.pass(0.04)
        let placement = source.packet(hasLoss: true)
        #expect(placement.silence == 1_920 && placement.skip == 0)
        #expect(source.packet() == SampleLine.Placement(position: placement.position + 960))
    }

    @Test func aLongGapIsAStepOfWholePackets() {
        var source = Source(clockRate: 8_000)
        _ = source.packet(0.025)
        source.pass(7.003)
        let placement = source.packet()
        #expect(placement.padding == 720)
        #expect(placement.skip.isMultiple(of: 960) && placement.skip > 6 * 48_000)
        #expect(placement.silence < 960)
        #expect(placement.position == Int64(7.028 * 48_000))
    }

    @Test func aClockThatJumpsLeavesNoTrace() {
        var source = Source(clockRate: 8_000)
        for jump in [-3_600.0, 3_600, -0.3, 86_400] {
            for _ in 0..<200 { _ = source.packet() }
            let end = source.line.end
            source.ticks += jump * 8_000
            #expect(source.packet() == SampleLine.Placement(position: end))
        }
        #expect(source.line.believesTimestamps)
    }

    @Test func timestampsThatMakeNoSenseAreIgnored() {
        var source = Source(clockRate: 8_000)
        // Timestamps of a clock with twice the rate, as some cameras send for AAC.
        var last = SampleLine.Placement()
        for _ in 0..<1_000 {
            last = source.packet()
            source.ticks += 160
        }
        #expect(!source.line.believesTimestamps)
        #expect(last.silence == 0 && last.skip == 0 && last.stretch == 0)
        // A pause that the wall clock confirms is still a pause.
        source.now += .seconds(3)
        #expect(source.packet().skip > 2 * 48_000)
        // The sound that arrives at its end may be longer than the pause.
        source.now += .milliseconds(1_100)
        let placement = source.packet(2)
        #expect(placement.silence == 0 && placement.skip == 0)
    }

    @Test func noInputTraps() {
        var random = RandomSource.seeded(9)
        for _ in 0..<200 {
            var line = SampleLine(clockRate: Int(random.next() % 3) * 48_000)
            var now = Instant.zero
            for _ in 0..<100 {
                now += .nanoseconds(Int64(random.next() % 3_000_000_000) - 500_000_000)
                let placement = line.place(
                    timestamp: UInt32(truncatingIfNeeded: random.next()), count: Int(random.next() % 200_000),
                    hasLoss: random.next() & 1 == 0, at: now)
                #expect(placement.padding >= 0 && placement.skip >= 0 && placement.silence >= 0)
                #expect(placement.skip.isMultiple(of: 960))
            }
        }
    }
}
