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
        #expect(meter.note(block(highest: .max - 50, lost: 10), at: start) == nil)
        #expect(meter.note(block(highest: 200, lost: 50), at: start + .milliseconds(999)) == nil)
        #expect(
            meter.note(block(highest: 349, lost: 110), at: start + .seconds(1))
                == LossMeter.Window(share: 0.25, duration: .seconds(1)))
        #expect(meter.note(block(highest: 548, lost: 200), at: start + .seconds(9)) == nil)
        #expect(meter.note(block(highest: 549, lost: 100), at: start + .seconds(9))?.share == 0)
        // A receiver that restarts, and one that reports nonsense.
        #expect(meter.note(block(highest: 5, lost: 0), at: start + .seconds(11)) == nil)
        #expect(meter.note(block(highest: 205, lost: 0x7F_FFFF), at: start + .seconds(13))?.share == 1)
        #expect(meter.note(block(highest: 405, lost: -0x80_0000), at: start + .seconds(15))?.share == 0)
        #expect(meter.note(block(highest: 900_000, lost: 0), at: start + .seconds(17)) == nil)
    }

    @Test func aRetransmissionIsLostWhenAllItsCopiesAre() {
        var recent = RecentRetransmissions()
        recent.noteSent(7, asPrecaution: false, at: start)
        #expect(recent.wasSentOnce(7, at: start))
        recent.noteCopy(7)
        #expect(!recent.wasSentOnce(7, at: start))
        #expect(!recent.noteLost(7) && recent.noteLost(7) && !recent.noteLost(7))
        recent.noteSent(8, asPrecaution: true, at: start)
        recent.noteArrived(8)
        #expect(!recent.noteLost(8) && recent.contains(8))
        // A precaution does not answer a request.
        #expect(
            !recent.contains(8, within: .seconds(1), of: start) && recent.contains(7, within: .seconds(1), of: start))
        #expect(recent.count(within: .seconds(1), of: start) == 1)
        for index in 100..<1_000 as Range<UInt64> { recent.noteSent(index, asPrecaution: false, at: start) }
        #expect(recent.count(within: .seconds(1), of: start) == 256)
        recent.forgetOld(at: start + .seconds(1))
        #expect(!recent.contains(999))
    }

    @Test func aFifthOfRandomLossLeadsToNoTrial() {
        var random = RandomSource.seeded(3)
        var limit = LineLimit()
        var now = start
        for _ in 0..<20_000 {
            // 200 packets, of which 51 in 256 are lost.
            var lost = 0
            for _ in 0..<25 {
                withUnsafeBytes(of: random.next()) { bytes in lost += bytes.count { $0 < 51 } }
            }
            now = now + .seconds(1)
            limit.judge(
                LossMeter.Window(share: Double(lost) / 200, duration: .seconds(1)), bytes: 280_000, streamRate: 280_000,
                at: now)
            #expect(!limit.isOn)
        }
    }

    @Test func theRateFollowsWhatTheLineCarries() {
        var limit = LineLimit()
        var now = start
        func judge(_ share: Double, bytes: UInt64 = 250_000) {
            now = now + .seconds(1)
            limit.judge(
                LossMeter.Window(share: share, duration: .seconds(1)), bytes: bytes, streamRate: 250_000, at: now)
        }
        for share in [0.5, 0.5, 0.2, 0.5, 0.5] {
            judge(share)
            #expect(!limit.isOn)
        }
        judge(0.6)
        #expect(limit.isOn && abs(limit.rate - 95_000) < 1)
        // The first window is still about what left before; in the second the loss has gone.
        judge(0.6)
        judge(0.05)
        #expect(limit.isOn)
        var carried: [Double] = []
        for _ in 0..<60 {
            let lost = max(0, 1 - 150_000 / limit.rate)
            judge(lost)
            carried.append(limit.rate)
        }
        #expect(limit.isOn && carried.dropFirst(10).allSatisfy { $0 > 120_000 && $0 < 180_000 })
        for _ in 0..<30 { judge(0) }
        #expect(!limit.isOn)
        // Retransmissions may run ahead a little, and no more.
        for _ in 0..<3 { judge(0.6) }
        #expect(limit.isOn)
        var taken = 0
        while limit.takeForRepair(1_200, at: now) { taken += 1 }
        #expect((20...50).contains(taken), "\(taken)")
        #expect(limit.packets(at: now) == 0 && limit.packets(at: now + .seconds(1)) > 0)
    }

    @Test func gapsInTheFeedbackShowTheLossOnThePathBack() {
        var line = ViewerLine()
        func report(_ packets: UInt32, _ lost: Int32, at second: Int) {
            line.note(
                block(highest: packets, lost: lost), bytesSent: UInt64(packets) * 1_000, streamRate: 300_000,
                at: start + .seconds(second))
        }
        report(0, 0, at: 0)
        report(1_000, 200, at: 1)
        #expect(line.repairsEarly && !line.sendsTwice)
        for number in 0..<60 as Range<UInt8> where number % 5 != 0 { line.noteFeedback(number: 230 &+ number) }
        #expect(line.sendsTwice)
        report(2_000, 250, at: 2)
        #expect(line.repairsEarly && !line.sendsTwice)
        report(3_000, 450, at: 3)
        for number in 0..<60 as Range<UInt8> { line.noteFeedback(number: number) }
        #expect(line.repairsEarly && !line.sendsTwice)
        report(4_000, 460, at: 4)
        #expect(!line.repairsEarly)
    }
}
