import Congestion
import RTP
import Testing
import Transport

@testable import MediaRelay

/// The conclusions from a viewer's reports, piece by piece.
@Suite struct LineTests {
    private let start = Instant(nanoseconds: 1_000_000_000)

    private func block(highest: UInt32, lost: Int32) -> RTCPReportBlock {
        RTCPReportBlock(
            ssrc: 1, fractionLost: 0, cumulativeLost: lost, extendedHighestSequenceNumber: highest, jitter: 0,
            lastSenderReport: 0, delaySinceLastSenderReport: 0)
    }

    @Test func theMeterNeedsASecondAndTwoHundredPackets() {
        var meter = LossMeter()
        #expect(meter.record(block(highest: .max - 50, lost: 10), at: start) == nil)
        #expect(meter.record(block(highest: 200, lost: 50), at: start + .milliseconds(999)) == nil)
        #expect(
            meter.record(block(highest: 349, lost: 110), at: start + .seconds(1))
                == LossMeter.Window(share: 0.25, packets: 400, lost: 100, duration: .seconds(1)))
        #expect(meter.record(block(highest: 548, lost: 200), at: start + .seconds(9)) == nil)
        #expect(meter.record(block(highest: 549, lost: 100), at: start + .seconds(9))?.share == 0)
        // A receiver that restarts, and one that reports nonsense.
        #expect(meter.record(block(highest: 5, lost: 0), at: start + .seconds(11)) == nil)
        #expect(meter.record(block(highest: 205, lost: 0x7F_FFFF), at: start + .seconds(13))?.share == 1)
        #expect(meter.record(block(highest: 405, lost: -0x80_0000), at: start + .seconds(15))?.share == 0)
        #expect(meter.record(block(highest: 900_000, lost: 0), at: start + .seconds(17)) == nil)
    }

    @Test func aRetransmissionIsLostWhenAllItsCopiesAre() {
        var recent = RecentRetransmissions()
        recent.recordSent(7, asPrecaution: false, at: start)
        #expect(recent.wasSentOnce(7, at: start))
        recent.recordCopy(7)
        #expect(!recent.wasSentOnce(7, at: start))
        #expect(!recent.recordLost(7) && recent.recordLost(7) && !recent.recordLost(7))
        recent.recordSent(8, asPrecaution: true, at: start)
        recent.recordArrived(8)
        #expect(!recent.recordLost(8) && recent.contains(8))
        // A precaution does not answer a request.
        #expect(
            !recent.contains(8, within: .seconds(1), of: start) && recent.contains(7, within: .seconds(1), of: start))
        #expect(recent.count(within: .seconds(1), of: start) == 1)
        for index in 100..<1_000 as Range<UInt64> { recent.recordSent(index, asPrecaution: false, at: start) }
        #expect(recent.count(within: .seconds(1), of: start) == 256)
        recent.forgetOld(at: start + .seconds(1))
        #expect(!recent.contains(999))
    }

    @Test func gapsInTheFeedbackShowTheLossOnThePathBack() {
        var line = ViewerLine()
        func report(_ packets: UInt32, _ lost: Int32, at second: Int) {
            line.record(
                block(highest: packets, lost: lost),
                BandwidthEstimator.Traffic(
                    datagrams: UInt64(packets), bytes: UInt64(packets) * 1_000, demand: 8_000_000, mayBegin: true),
                at: start + .seconds(second))
        }
        report(0, 0, at: 0)
        report(1_000, 200, at: 1)
        #expect(line.repairsEarly && !line.sendsTwice)
        for number in 0..<60 as Range<UInt8> where number % 5 != 0 { line.recordFeedback(number: 230 &+ number) }
        // A line that has just become too slow looks the same.
        #expect(line.repairsEarly && !line.isLossy)
        report(2_000, 400, at: 2)
        #expect(line.isLossy && line.sendsTwice)
        report(3_000, 450, at: 3)
        #expect(line.repairsEarly && !line.sendsTwice)
        report(4_000, 650, at: 4)
        for number in 0..<60 as Range<UInt8> { line.recordFeedback(number: number) }
        #expect(line.repairsEarly && !line.sendsTwice)
        report(5_000, 660, at: 5)
        #expect(!line.repairsEarly)
    }
}
