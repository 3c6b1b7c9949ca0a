import Congestion
import NetworkSimulator
import PeerFakes
import RTP
import Testing
import Transport

@testable import MediaRelay

/// Retransmissions and probes that the socket, or a full connection, does not accept.
@Suite struct BlockedRepairTests {
    private struct Scene {
        let world: RelayWorld
        let viewer: SimulatedViewer
        let relayed: Viewer

        init(latency: Duration, hasStream: Bool = true, feedback: Duration? = nil) throws {
            let world = try RelayWorld(conditions: LinkConditions(latency: latency))
            world.run(.seconds(2))
            let viewer = try world.addViewer {
                $0.asksAgain = false
                $0.hasRetransmissionStream = hasStream
                $0.hasTransportSequence = hasStream
                $0.transportFeedback = feedback
            }
            #expect(world.connect(viewer))
            world.run(.seconds(3))
            relayed = try world.relayed(viewer)
            (self.world, self.viewer) = (world, viewer)
        }

        /// Lets the socket accept nothing for the viewer, or everything.
        func block(_ isBlocked: Bool) {
            let address = viewer.addresses[0]
            world.host.outbox.isBlocked = { isBlocked && $0 == address }
        }

        /// The newest video packets, oldest first.
        func newest(_ count: UInt16) throws -> [UInt16] {
            let newest = try #require(viewer.newestNumber)
            return (0..<count).map { newest &- count &+ 1 &+ $0 }
        }

        /// What has left is what has been counted, and the transport-wide numbers of it have no gap.
        func expectTrueCounts() {
            let packets = world.runs(for: viewer).flatMap { Outbox.packets(of: $0) }
            #expect(relayed.wire.datagrams == UInt64(packets.count))
            #expect(relayed.wire.bytes == UInt64(packets.reduce(0) { $0 + $1.count }))
            let numbers = packets.compactMap { Outbox.transportSequence(of: $0) }
            #expect(zip(numbers, numbers.dropFirst()).allSatisfy { $1 == $0 &+ 1 })
            #expect(world.host.outbox.keyStreamReuses == 0)
        }
    }

    @Test(arguments: [true, false]) func aRepairThatIsNotAcceptedIsNoLossAndTheNextRequestIsAnswered(
        hasStream: Bool
    ) throws {
        let scene = try Scene(
            latency: .milliseconds(50), hasStream: hasStream, feedback: hasStream ? .milliseconds(100) : nil)
        let (world, viewer, relayed) = (scene.world, scene.viewer, scene.relayed)
        let roundTrip = try #require(relayed.feedback.roundTrip)
        #expect(roundTrip > .milliseconds(90), "a request within three quarters of it is taken for a repetition")
        let numbers = try scene.newest(20)
        let index = relayed.egress[0].nextRetransmissionIndex
        let lost = relayed.feedback.transportPackets.lost
        scene.block(true)
        viewer.askAgain(for: numbers)
        world.run(.milliseconds(60))
        scene.block(false)
        #expect(relayed.readStatistics().packetsRetransmitted == 0)
        // A key stream that has hidden one packet hides no other.
        if hasStream { #expect(relayed.egress[0].nextRetransmissionIndex > index) }
        viewer.askAgain(for: numbers)
        world.run(.milliseconds(600))
        #expect(relayed.readStatistics().packetsRetransmitted == 20)
        if hasStream {
            #expect(viewer.retransmissions == 20)
            #expect(relayed.feedback.transportPackets.received > 0)
        }
        #expect(relayed.feedback.transportPackets.lost == lost)
        scene.expectTrueCounts()
    }

    /// The credit is for what leaves. Thirty packets are half of the most that can be saved up here.
    @Test func requestsThatMeetAFullSocketUseNothingUp() throws {
        let scene = try Scene(latency: .milliseconds(10))
        let (world, viewer, relayed) = (scene.world, scene.viewer, scene.relayed)
        let numbers = try scene.newest(30)
        scene.block(true)
        for _ in 0..<60 {
            viewer.askAgain(for: numbers)
            world.run(.milliseconds(12))
        }
        scene.block(false)
        #expect(relayed.readStatistics().packetsRetransmitted == 0)
        viewer.askAgain(for: numbers)
        world.run(.milliseconds(100))
        let statistics = relayed.readStatistics()
        #expect(statistics.packetsRetransmitted == 30 && statistics.retransmissionsRefused == 0)
        scene.expectTrueCounts()
    }

    /// Each try encrypts a run, so a full socket is not tried again for each of many requests.
    @Test func aFloodOfRequestsTriesAFullSocketNowAndThen() throws {
        let scene = try Scene(latency: .milliseconds(10))
        let (world, viewer, relayed) = (scene.world, scene.viewer, scene.relayed)
        let numbers = try scene.newest(30)
        let index = relayed.egress[0].nextRetransmissionIndex
        scene.block(true)
        viewer.askAgain(for: numbers)
        world.run(.milliseconds(30))
        let one = relayed.egress[0].nextRetransmissionIndex - index
        for _ in 0..<100 {
            viewer.askAgain(for: numbers)
            world.run(.milliseconds(1))
        }
        world.run(.milliseconds(15))
        let all = relayed.egress[0].nextRetransmissionIndex - index - one
        #expect(one > 0 && all >= one && all <= one * 11, "\(one) \(all)")
        scene.block(false)
        world.run(.milliseconds(100))
        scene.expectTrueCounts()
    }

    @Test func aProbeThatIsNotAcceptedHasFailedAndComesAgainLater() throws {
        let scene = try Scene(latency: .milliseconds(10))
        let (world, viewer, relayed) = (scene.world, scene.viewer, scene.relayed)
        let begin = world.now
        relayed.line.estimator.chooseProbe(larger: 3_000_000, at: begin)
        world.run(.milliseconds(1_950))
        let index = relayed.egress[0].nextRetransmissionIndex
        scene.block(true)
        world.run(.milliseconds(150))
        #expect(relayed.egress[0].nextRetransmissionIndex > index, "the probe was tried")
        #expect(!relayed.line.estimator.isProbing)
        let next = try #require(relayed.line.nextProbe)
        #expect(next - begin >= .milliseconds(4_400), "\(next - begin)")
        scene.block(false)
        world.run(.milliseconds(100))
        scene.expectTrueCounts()
        #expect(viewer.retransmissions == 0)
        world.run(.milliseconds(2_800))
        #expect(viewer.retransmissions > 0)
        scene.expectTrueCounts()
    }
}
