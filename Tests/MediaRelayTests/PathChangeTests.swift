import NetworkSimulator
import PeerFakes
import RTP
import Testing
import Transport

@testable import MediaRelay

/// The viewer's path becomes another one while there is room for everything.
@Suite struct PathChangeTests {
    /// The phone goes from Wi-Fi to a mobile network: another address and a longer way.
    @Test func aNewPathIsNotTakenForAQueue() throws {
        let world = try LimitedLineTests.makeWorld { $0.substream = (3_000, 14_000) }
        let viewer = try world.addViewer(3) {
            $0.transportFeedback = .milliseconds(100)
            $0.patience = .milliseconds(1_500)
            $0.nacks = NackGenerator.Configuration(maximumAge: .milliseconds(1_200), maximumRequests: 10)
        }
        let addresses = try (7...8).map { try #require(TransportAddress("192.0.2.\($0)", port: 0)) }
        let router = world.simulation.network.addNAT(.fullCone, outside: addresses[0], inside: [viewer.addresses[0]])
        world.simulation.network.setConditions(
            LinkConditions(latency: .milliseconds(120)), from: world.host.addresses[0], to: addresses[1])
        #expect(world.connect(viewer))
        world.run(.seconds(5))
        let relayed = try world.relayed(viewer)
        world.simulation.network.rebind(router, to: addresses[1])
        world.run(.seconds(8))
        let begin = world.now
        for _ in 0..<100 {
            world.run(.milliseconds(200))
            #expect(!relayed.line.isLimited)
        }
        #expect(relayed.remoteAddress?.hasSameHost(as: addresses[1]) == true)
        #expect(viewer.pictures.count { $0.at > begin } > 280)
    }

    /// The same address is reached on a longer way, as when a route changes: no new path informs the gateway.
    @Test(arguments: [60, 100] as [Int64]) func aLongerWayToTheSameAddressIsNotTakenForAQueue(step: Int64) throws {
        let world = try LimitedLineTests.makeWorld { $0.substream = (3_000, 14_000) }
        let (viewer, relayed) = try LimitedLineTests.addViewer(to: world)
        world.simulation.network.setConditions(
            LinkConditions(latency: .milliseconds(10 + step)), from: world.host.addresses[0], to: viewer.addresses[0])
        let begin = world.now
        for _ in 0..<500 {
            world.run(.milliseconds(40))
            #expect(!relayed.line.isLimited)
        }
        #expect(viewer.notices.takeWishes().isEmpty)
        #expect(viewer.pictures.count { $0.at > begin } >= 298)
    }

    /// Without feedback, the round trips of checks show a queue. They become longer for good while the rate is limited.
    @Test(arguments: [nil, 200] as [Int64?]) func aLongerWayDoesNotStarveAPlayerWithoutFeedback(queue: Int64?) throws {
        let world = try LimitedLineTests.makeWorld()
        let (viewer, relayed) = try LimitedLineTests.addViewer(to: world, transportFeedback: false)
        LimitedLineTests.limit(world, viewer, to: LimitedLineTests.rate, queue: queue)
        world.run(.seconds(20))
        #expect(relayed.line.isLimited)
        var line = LinkConditions(latency: .milliseconds(110))
        line.bitsPerSecond = LimitedLineTests.rate
        if let queue { line.queueLimit = .milliseconds(queue) } else { line.policedBurst = 16_000 }
        world.simulation.network.setConditions(line, from: world.host.addresses[0], to: viewer.addresses[0])
        let sent = relayed.wire.bytes
        world.run(.seconds(20))
        let share = Double(relayed.wire.bytes - sent) * 8 / 20 / Double(LimitedLineTests.rate)
        #expect(share > 0.5, "\(share)")
    }
}
