import Testing
import Transport

@testable import Intake

@Suite struct MediaTimelineTests {
    @Test func gapsStayAndDuplicatesAreDropped() {
        var timeline = MediaTimeline(clockRate: 90_000, firstSequenceNumber: 65_534)
        var numbers: [UInt16] = []
        var arrivals: [MediaTimeline.Arrival] = []
        for (index, number) in ([65_000, 65_001, 65_001, 65_004, 65_003, 65_005] as [UInt16]).enumerated() {
            let arrival = timeline.accept(
                ssrc: 1, sequenceNumber: number, timestamp: UInt32(index) * 3000, at: .zero + .milliseconds(index * 33))
            arrivals.append(arrival)
            if arrival != .outdated { numbers.append(timeline.takeSequenceNumber()) }
        }
        #expect(arrivals == [.restarted, .inOrder, .outdated, .afterGap(2), .outdated, .inOrder])
        #expect(numbers == [65_534, 65_535, 2, 3])
    }

    @Test func aReconnectionIsAPauseOnTheSameTimeline() {
        var timeline = MediaTimeline(clockRate: 90_000, firstSequenceNumber: 10)
        _ = timeline.accept(ssrc: 1, sequenceNumber: 5, timestamp: 4_000_000_000, at: .zero)
        #expect(timeline.takeSequenceNumber() == 10)
        #expect(timeline.outgoing(4_000_000_000) == 4_000_000_000)
        timeline.restart()
        let arrival = timeline.accept(ssrc: 9, sequenceNumber: 60_000, timestamp: 77, at: .zero + .seconds(2))
        #expect(arrival == .restarted)
        #expect(timeline.takeSequenceNumber() == 11)
        #expect(timeline.outgoing(77) == 4_000_180_000)
        // A long pause wraps like any other clock.
        timeline.restart()
        _ = timeline.accept(ssrc: 9, sequenceNumber: 1, timestamp: 0, at: .zero + .seconds(2 + 86_400 * 30))
        #expect(timeline.outgoing(0) == 4_000_180_000 &+ UInt32(truncatingIfNeeded: 86_400 * 30 * 90_000))
    }

    @Test func aCameraThatRestartsOnTheSameConnectionIsFollowed() {
        var timeline = MediaTimeline(clockRate: 8000, firstSequenceNumber: 0)
        _ = timeline.accept(ssrc: 1, sequenceNumber: 100, timestamp: 0, at: .zero)
        #expect(
            timeline.accept(ssrc: 1, sequenceNumber: 50, timestamp: 900_000, at: .zero + .milliseconds(20)) == .outdated
        )
        #expect(
            timeline.accept(ssrc: 1, sequenceNumber: 51, timestamp: 900_160, at: .zero + .milliseconds(40))
                == .restarted)
        #expect(timeline.outgoing(900_160) == 320)
        #expect(
            timeline.accept(ssrc: 1, sequenceNumber: 30_000, timestamp: 5, at: .zero + .milliseconds(60)) == .restarted)
        #expect(timeline.outgoing(5) == 480)
    }

    @Test func `a restart on the same connection leaves a gap, so that decoders know`() {
        var timeline = MediaTimeline(clockRate: 90_000, firstSequenceNumber: 10)
        _ = timeline.accept(ssrc: 1, sequenceNumber: 5, timestamp: 0, at: .zero)
        #expect(timeline.takeSequenceNumber() == 10)
        // Another source, and one whose numbers leap.
        _ = timeline.accept(ssrc: 2, sequenceNumber: 40_000, timestamp: 7, at: .zero + .milliseconds(33))
        #expect(timeline.takeSequenceNumber() == 12)
        _ = timeline.accept(ssrc: 2, sequenceNumber: 50_000, timestamp: 2_977, at: .zero + .milliseconds(66))
        #expect(timeline.takeSequenceNumber() == 14)
    }

    @Test func settingTheClockCausesNoJump() {
        var timeline = MediaTimeline(clockRate: 90_000, firstSequenceNumber: 0)
        _ = timeline.accept(ssrc: 1, sequenceNumber: 1, timestamp: 0, at: .zero)
        #expect(
            timeline.accept(ssrc: 1, sequenceNumber: 2, timestamp: 2_000_000_000, at: .zero + .milliseconds(40))
                == .inOrder)
        #expect(timeline.outgoing(2_000_000_000) == 3600)
        // Pictures out of order, as with B-frames, are not such a jump.
        _ = timeline.accept(ssrc: 1, sequenceNumber: 3, timestamp: 1_999_997_000, at: .zero + .milliseconds(80))
        #expect(timeline.outgoing(1_999_997_000) == 600)
    }

    @Test func settingTheClockBackByTwoSecondsMakesNoViewerWait() {
        var timeline = MediaTimeline(clockRate: 90_000, firstSequenceNumber: 0)
        _ = timeline.accept(ssrc: 1, sequenceNumber: 1, timestamp: 900_000, at: .zero)
        // A frame that is shown before the one before it: no clock was set.
        _ = timeline.accept(ssrc: 1, sequenceNumber: 2, timestamp: 894_000, at: .zero + .milliseconds(33))
        #expect(timeline.outgoing(894_000) == 894_000)
        _ = timeline.accept(ssrc: 1, sequenceNumber: 3, timestamp: 714_000, at: .zero + .milliseconds(66))
        #expect(timeline.outgoing(714_000) > 894_000)
        #expect(timeline.outgoing(714_000) < 894_000 + 9000)
    }

    /// A stream that runs for `seconds`: a packet each `step` milliseconds whose clock goes on by `ticks`. Answers how
    /// many seconds went out.
    private func run(
        _ timeline: inout MediaTimeline, from start: Int, seconds: Int, step: Int, ticks: UInt32, clockRate: Double
    ) -> Double {
        var first: UInt32?
        var last: UInt32 = 0
        for index in 0..<(seconds * 1000 / step) {
            let number = UInt32(start * 1000 / step + index)
            let timestamp = number &* ticks
            _ = timeline.accept(
                ssrc: 1, sequenceNumber: UInt16(truncatingIfNeeded: number), timestamp: timestamp,
                at: .zero + .milliseconds(start * 1000 + index * step))
            last = timeline.outgoing(timestamp)
            first = first ?? last
        }
        return Double(last &- (first ?? 0)) / clockRate
    }

    @Test(arguments: [(90_000, 40), (8000, 20)]) func aClockThatIsSlightlyOffIsLeftAlone(_ rate: Int, _ step: Int) {
        var timeline = MediaTimeline(clockRate: rate, firstSequenceNumber: 0)
        // 0.6 % too fast: no crystal is as bad.
        let ticks = UInt32(rate * step / 1000) + (rate == 8000 ? 1 : 22)
        let out = run(&timeline, from: 0, seconds: 60, step: step, ticks: ticks, clockRate: Double(rate))
        #expect(!timeline.hasWrongPace && timeline.leaps == 0)
        #expect(out > 60.2 && out < 60.5)
    }

    @Test(arguments: [(90_000, 40), (8000, 20), (16_000, 64)], [0.095, 0.5, 2, 10.5])
    func aClockOfAnotherRateThanDescribedIsReplacedByArrival(_ stream: (rate: Int, step: Int), _ factor: Double) {
        var timeline = MediaTimeline(clockRate: stream.rate, firstSequenceNumber: 0)
        let (rate, step) = stream
        let ticks = UInt32(Double(rate * step) / 1000 * factor)
        _ = run(&timeline, from: 0, seconds: 30, step: step, ticks: ticks, clockRate: Double(rate))
        #expect(timeline.hasWrongPace)
        let out = run(&timeline, from: 30, seconds: 60, step: step, ticks: ticks, clockRate: Double(rate))
        #expect(abs(out - 60) < 0.2, "a minute is a minute, and not \(out) s")
        // The camera was restarted with the right clock: it is believed again.
        let right = UInt32(rate * step / 1000)
        for index in 0..<(30_000 / step) {
            _ = timeline.accept(
                ssrc: 2, sequenceNumber: UInt16(truncatingIfNeeded: index), timestamp: UInt32(index) &* right,
                at: .zero + .milliseconds(91_000 + index * step))
        }
        #expect(!timeline.hasWrongPace)
    }

    @Test(arguments: [90_000, 48_000, 8000]) func soundAndPicturesContinueWhenClocksJumpOrRunBackwards(_ rate: Int) {
        var random = RandomSource.seeded(UInt64(rate))
        var timeline = MediaTimeline(clockRate: rate, firstSequenceNumber: 0)
        let step = UInt32(rate / 50)
        var clock: UInt32 = 7
        var last: UInt32?
        var sets = 0
        for index in 0..<10_000 {
            clock &+= step
            if index % 500 == 499 {
                // Forwards, backwards, to anywhere: an hour, a day, half of the range.
                let seconds = [20, -20, 3600, -3600, 23_000, -23_000].randomElement(using: &random) ?? 20
                clock &+= UInt32(truncatingIfNeeded: seconds * rate)
                sets += 1
            }
            _ = timeline.accept(
                ssrc: 1, sequenceNumber: UInt16(truncatingIfNeeded: index), timestamp: clock,
                at: .zero + .milliseconds(index * 20))
            let out = timeline.outgoing(clock)
            if let last { #expect(out &- last >= 1 && out &- last <= step * 2) }
            last = out
        }
        #expect(timeline.leaps == sets && !timeline.hasWrongPace)
    }

    @Test func aClockThatRunsBackwardsAllTheTimeIsReplacedByArrival() {
        var timeline = MediaTimeline(clockRate: 90_000, firstSequenceNumber: 0)
        var last: UInt32 = 0
        for index in 0..<1500 {
            let timestamp = 4_000_000_000 &- UInt32(index) &* 3600
            _ = timeline.accept(
                ssrc: 1, sequenceNumber: UInt16(index), timestamp: timestamp, at: .zero + .milliseconds(index * 40))
            let out = timeline.outgoing(timestamp)
            // Judged after twenty seconds.
            if index > 520 { #expect(out &- last >= 3500 && out &- last <= 3700) }
            last = out
        }
        #expect(timeline.hasWrongPace)
    }
}
