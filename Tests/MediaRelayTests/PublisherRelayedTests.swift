import ICE
import NetworkSimulator
import PeerConnection
import PeerFakes
import Testing
import Transport

@testable import MediaRelay

/// A publisher that reaches the relay through a TURN server alone.
@Suite struct PublisherRelayedTests {
    private let relayed = TransportAddress(ipv4: 0xCB00_7101, port: 50_000)
    private let elsewhere = TransportAddress(ipv4: 0xCB00_7142, port: 52_000)

    /// A publisher that no datagram of the relay's socket reaches. It has named its address.
    private func addPublisher(to world: RelayWorld) throws -> SimulatedPublisher {
        let publisher = try world.addPublisher(onShard: world.shards.count - 1)
        let (relay, host) = (world.host.addresses[0], publisher.addresses[0])
        world.simulation.network.setConditions(.cut, from: relay, to: host)
        world.simulation.network.setConditions(.cut, from: host, to: relay)
        try world.nameCandidate(of: publisher)
        return publisher
    }

    @Test(arguments: [1, 3]) func `a publisher publishes at a relayed address`(shards: Int) throws {
        let world = try RelayWorld(shards: shards)
        _ = world.addWay(.relayed, at: relayed)
        let publisher = try addPublisher(to: world)
        #expect(world.connect(publisher))
        let viewers = try world.addViewers(of: publisher)
        world.run(.seconds(3))
        #expect(publisher.status.path == .relayed)
        #expect(publisher.connection.remoteAddress == relayed)
        #expect(publisher.packets.numbers == Array(0..<publisher.packets.video.count))
        for viewer in viewers {
            #expect(viewer.hasSeenEverything(of: publisher) && viewer.pictures.count > 250)
            #expect(viewer.hasHeardEverything(of: publisher) && viewer.sounds.count > 125)
        }
        #expect(publisher.reportBlocks.count >= 4 && publisher.arrivals.received > 300)
        // Longer than consent lasts without an answer.
        world.run(.seconds(35))
        #expect(publisher.isConnected && publisher.packets.isWhole)
    }

    /// The publisher's router may let in only what comes from an address that the publisher knows.
    @Test(arguments: [1, 3]) func `a publisher should restart where nothing answers an unknown address`(
        shards: Int
    ) throws {
        let world = try RelayWorld(shards: shards)
        world.host.relay.links.relayed.setReader {}
        let publisher = try addPublisher(to: world)
        publisher.hasVanished = true
        world.reportRelayed([relayed])
        world.run(.milliseconds(1_900))
        #expect(!publisher.status.wantsRestart)
        world.run(.milliseconds(200))
        #expect(publisher.status.wantsRestart)
        try world.restartICE(publisher)
        #expect(!publisher.status.wantsRestart)
    }

    @Test(arguments: [1, 3]) func `a publisher without a path uses an allocation that comes late`(shards: Int) throws {
        let world = try RelayWorld(shards: shards)
        let publisher = try addPublisher(to: world)
        world.run(.seconds(1))
        #expect(!publisher.isConnected)
        _ = world.addWay(.relayed, at: relayed)
        #expect(world.connect(publisher))
        let viewers = try world.addViewers(of: publisher)
        world.run(.seconds(1))
        for viewer in viewers { #expect(viewer.hasSeenEverything(of: publisher)) }
    }

    /// The server restarts without its allocations, or another one takes its place.
    @Test(arguments: [1, 3]) func `a publisher follows the server to another address`(shards: Int) throws {
        let world = try RelayWorld(shards: shards)
        let server = world.addWay(.relayed, at: relayed)
        let publisher = try addPublisher(to: world)
        #expect(world.connect(publisher))
        let viewers = try world.addViewers(of: publisher)
        world.run(.seconds(1))
        let (elsewhere, host) = (elsewhere, publisher.addresses[0])
        var checks = 0
        world.simulation.observer = { datagram in
            let isRequest = datagram.bytes.starts(with: [0, 1])
            if isRequest, datagram.source == elsewhere, datagram.destination == host { checks += 1 }
        }
        server.move(to: elsewhere)
        world.reportRelayed([elsewhere])
        world.run(.milliseconds(100))
        #expect(checks > 0, "the publisher is shown the new address at once")
        // The publisher has to notice first that the old address no longer answers.
        world.run(.seconds(20))
        #expect(publisher.connection.remoteAddress == elsewhere)
        let first = publisher.sent
        world.run(.seconds(2))
        let arrived = publisher.packets.numbers.count { $0 >= first }
        #expect(arrived > 190, "\(arrived)")
        for viewer in viewers { #expect(viewer.hasSeen(first)) }
        #expect(publisher.notices.all == [.connected])
    }
}
