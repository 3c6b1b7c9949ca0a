import NetworkSimulator
import PeerConnection
import PeerFakes
import Testing
import Transport

@testable import MediaRelay

/// The publisher's path becomes another one while it publishes.
@Suite struct PublisherPathTests {
    /// A publisher whose camera has a viewer on each shard.
    private func start(shards: Int) throws -> (RelayWorld, SimulatedPublisher, [SimulatedViewer]) {
        let world = try RelayWorld(shards: shards)
        let publisher = try world.addPublisher(onShard: shards - 1)
        #expect(world.connect(publisher))
        let viewers = try world.addViewers(of: publisher)
        world.run(.seconds(1))
        return (world, publisher, viewers)
    }

    @Test(arguments: [1, 3]) func `media goes on through an ICE restart of the publisher`(shards: Int) throws {
        let (world, publisher, viewers) = try start(shards: shards)
        try world.restartICE(publisher)
        world.run(.seconds(2))
        let hasNewPath = publisher.events.contains { $0.event == .pathChanged }
        #expect(hasNewPath, "the path is that of the new credentials")
        // Longer than consent lasts without an answer.
        world.run(.seconds(35))
        #expect(publisher.isConnected && publisher.notices.all == [.connected])
        #expect(publisher.packets.numbers == Array(0..<publisher.packets.video.count))
        for viewer in viewers {
            #expect(viewer.hasSeenEverything(of: publisher) && viewer.hasHeardEverything(of: publisher))
        }
    }

    /// A phone goes from Wi-Fi to a mobile network.
    @Test(arguments: [1, 3]) func `a publisher that restarts ICE at another address goes on there`(shards: Int) throws {
        let (world, publisher, viewers) = try start(shards: shards)
        let before = publisher.addresses[0]
        publisher.move(to: try #require(TransportAddress("198.51.100.77", port: 40_000)))
        try world.restartICE(publisher)
        world.run(.seconds(1))
        let relayed = try world.relayed(publisher)
        #expect(relayed.remoteAddress == publisher.addresses[0])
        #expect(world.holder(of: publisher.addresses[0]) === relayed)
        let first = publisher.sent
        world.run(.seconds(2))
        let arrived = publisher.packets.numbers.count { $0 >= first }
        #expect(arrived > 190, "\(arrived)")
        for viewer in viewers { #expect(viewer.hasSeen(publisher.sent - 10)) }
        world.run(.seconds(35))
        #expect(publisher.isConnected && publisher.notices.all == [.connected])
        // The end of the session leaves no address behind, neither the present one nor the one before.
        try world.shard(of: publisher).end(relayed, because: .removed)
        world.host.settle()
        #expect(world.holder(of: before) == nil && world.holder(of: publisher.addresses[0]) == nil)
    }

    /// No restart informs the relay: it learns the address from the publisher's next check for consent.
    @Test(arguments: NATKind.allCases, [1, 3])
    func `a publisher whose router gives it another address goes on there`(kind: NATKind, shards: Int) throws {
        let world = try RelayWorld(shards: shards)
        let publisher = try world.addPublisher(onShard: shards - 1)
        let outside = try (7...8).map { try #require(TransportAddress("192.0.2.\($0)", port: 0)) }
        let router = world.simulation.network.addNAT(kind, outside: outside[0], inside: [publisher.addresses[0]])
        #expect(world.connect(publisher))
        let viewers = try world.addViewers(of: publisher)
        world.run(.seconds(1))
        world.simulation.network.rebind(router, to: outside[1])
        world.run(.seconds(12))
        let relayed = try world.relayed(publisher)
        let address = try #require(relayed.remoteAddress)
        #expect(address.hasSameHost(as: outside[1]) && world.holder(of: address) === relayed)
        let first = publisher.sent
        world.run(.seconds(2))
        let arrived = publisher.packets.numbers.count { $0 >= first }
        #expect(arrived > 190, "\(arrived)")
        for viewer in viewers { #expect(viewer.hasSeen(first)) }
        #expect(publisher.isConnected && publisher.notices.all == [.connected])
    }
}
