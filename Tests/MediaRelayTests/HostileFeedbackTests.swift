import Congestion
import PeerFakes
import RTP
import Testing
import Transport

@testable import MediaRelay

/// Feedback that is false: it costs the relay little, and others nothing.
@Suite struct HostileFeedbackTests {
    private static func makeWorld() throws -> (world: RelayWorld, viewer: SimulatedViewer, relayed: Viewer) {
        let world = try RelayWorld { $0.frameSize = 16_500 }
        let viewer = try world.addViewer { $0.asksAgain = false }
        #expect(world.connect(viewer))
        world.run(.seconds(3))
        return (world, viewer, try world.relayed(viewer))
    }

    /// Writes a message that reports `count` packets from `base` on, all of them in runs of the same status.
    private static func writeFeedback(
        base: UInt16, count: Int, arrived: Bool = false, number: UInt8 = 0, into writer: inout ByteWriter
    ) {
        let begin = writer.count
        writer.write(UInt32(0x8FCD_0000))
        writer.write(UInt32(9))
        writer.write(UInt32(1))
        writer.write(base)
        writer.write(UInt16(count))
        writer.write(UInt32(number))
        var left = count
        while left > 0 {
            let run = min(left, 0x1FFF)
            writer.write(UInt16(arrived ? 0x2000 : 0) | UInt16(run))
            left -= run
        }
        if arrived { for _ in 0..<count { writer.write(UInt8(1)) } }
        while (writer.count - begin) % 4 != 0 { writer.write(UInt8(0)) }
        writer.overwrite(UInt16((writer.count - begin) / 4 - 1), at: begin + 2)
    }

    /// 36 bytes report 65,528 packets as missing, and a datagram holds dozens of such messages.
    @Test func aMessageIsReadOnlyForWhatWasSent() throws {
        let (world, viewer, relayed) = try Self.makeWorld()
        let before = relayed.readStatistics()
        for round in 0..<40 as Range<UInt16> {
            viewer.send { writer in
                for message in 0..<38 as Range<UInt8> {
                    Self.writeFeedback(base: round &* 1_700, count: 65_528, number: message, into: &writer)
                }
            }
            world.run(.milliseconds(20))
        }
        let sent = relayed.log.next - relayed.log.unreported
        let packets = relayed.feedback.transportPackets
        let most = relayed.egress.reduce(0) { $0 + $1.packetsSent + $1.packetsRetransmitted }
        #expect(packets.received == 0 && packets.lost > 0 && packets.lost <= most && sent < 100)
        #expect(relayed.readStatistics().packetsRetransmitted == before.packetsRetransmitted)
        #expect(viewer.missingPictures == 0)
    }

    @Test func whatWasNeverSentCannotBeAcknowledged() throws {
        let (world, viewer, relayed) = try Self.makeWorld()
        let next = UInt16(truncatingIfNeeded: relayed.log.next)
        viewer.send { Self.writeFeedback(base: next &+ 2_000, count: 900, arrived: true, into: &$0) }
        world.run(.milliseconds(30))
        #expect(relayed.feedback.transportPackets == (0, 0))
        // The same packets once more are not more packets.
        for _ in 0..<5 {
            viewer.send { Self.writeFeedback(base: next &- 50, count: 50, arrived: true, into: &$0) }
            world.run(.milliseconds(30))
        }
        #expect(relayed.feedback.transportPackets == (50, 0))
    }

    /// A round trip of half a minute would make every repair too late, and each request one for a key frame.
    @Test func aRoundTripThatIsMadeUpKeepsNoRepairBack() throws {
        let (world, viewer, relayed) = try Self.makeWorld()
        let report = try #require(viewer.reports[viewer.videoSSRC])
        let block = RTCPReportBlock(
            ssrc: viewer.videoSSRC, fractionLost: 0, cumulativeLost: 0, extendedHighestSequenceNumber: 1, jitter: 0,
            lastSenderReport: UInt32(truncatingIfNeeded: report.ntp.rawValue >> 16) &- 30 << 16,
            delaySinceLastSenderReport: 0)
        viewer.send { $0.writeReceiverReport(ssrc: 9, blocks: [block]) }
        world.run(.milliseconds(30))
        let roundTrip = try #require(relayed.feedback.roundTrip)
        #expect(roundTrip > .seconds(20))
        let asked = world.camera.requests.count
        let newest = try #require(viewer.newestNumber)
        viewer.askAgain(for: (0..<20).map { newest &- $0 })
        world.run(.milliseconds(30))
        #expect(relayed.readStatistics().packetsRetransmitted == 20)
        #expect(world.camera.requests.count == asked)
    }

    /// A datagram can name six thousand packets. Each is looked for in the ring, and among the newest retransmissions.
    @Test func requestsAreLookedForUpToABound() throws {
        let (world, viewer, relayed) = try Self.makeWorld()
        let newest = try #require(viewer.newestNumber)
        viewer.askAgain(for: (0..<3_000).map { newest &- 3_000 &+ $0 })
        world.run(.milliseconds(30))
        #expect(relayed.feedback.requestsLeft == 0)
        #expect(relayed.readStatistics().packetsRetransmitted <= 128)
    }
}
