import Testing
import Transport

@testable import Cameras

@Suite struct MediaTimelineTests {
    @Test func gapsStayAndDuplicatesGo() {
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

    @Test func aCameraThatBeginsAnewOnTheSameConnectionIsFollowed() {
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

    @Test func aClockThatIsSetMakesNoJump() {
        var timeline = MediaTimeline(clockRate: 90_000, firstSequenceNumber: 0)
        _ = timeline.accept(ssrc: 1, sequenceNumber: 1, timestamp: 0, at: .zero)
        #expect(
            timeline.accept(ssrc: 1, sequenceNumber: 2, timestamp: 2_000_000_000, at: .zero + .milliseconds(40))
                == .inOrder)
        #expect(timeline.outgoing(2_000_000_000) == 3600)
        // Pictures out of order, as with B-frames, are no such jump.
        _ = timeline.accept(ssrc: 1, sequenceNumber: 3, timestamp: 1_999_997_000, at: .zero + .milliseconds(80))
        #expect(timeline.outgoing(1_999_997_000) == 600)
    }

    @Test func pausesGrowAndDiffer() {
        var delay = ReconnectDelay()
        var random = RandomSource.seeded(5)
        let pauses = (0..<12).map { _ in delay.next(afterRefusedCredentials: false, random: &random).inSeconds }
        #expect(pauses[0] < 1)
        #expect(pauses.dropFirst(8).allSatisfy { $0 >= 15 && $0 < 45 })
        #expect(Set(pauses).count == 12)
        delay.reset()
        #expect(delay.next(afterRefusedCredentials: true, random: &random).inSeconds >= 15)
    }
}
