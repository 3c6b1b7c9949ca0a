import ICE
import NetworkSimulator
import PeerConnection
import PeerFakes
import Testing
import Transport

@testable import MediaRelay

/// A publisher's network lets nothing out but TCP.
@Suite struct PublisherTCPTests {
    @Test(arguments: [1, 3]) func `a publisher whose network blocks UDP publishes over TCP`(shards: Int) throws {
        let world = try RelayWorld(shards: shards)
        let listener = world.addWay(.tcp, at: TransportAddress(ipv4: 0xCB00_7106, port: 8190))
        let publisher = try world.addPublisher(onShard: shards - 1)
        let outside = try #require(TransportAddress("192.0.2.7", port: 0))
        _ = world.simulation.network.addNAT(
            .portRestricted, outside: outside, inside: [publisher.addresses[0]], firewall: .blocksUDP)
        #expect(world.connect(publisher))
        let viewers = try world.addViewers(of: publisher)
        world.run(.seconds(3))
        #expect(publisher.status.path == .tcp)
        #expect(publisher.packets.numbers == Array(0..<publisher.packets.video.count))
        for viewer in viewers {
            #expect(viewer.hasSeenEverything(of: publisher) && viewer.pictures.count > 250)
            #expect(viewer.status.path != .tcp)
        }
        #expect(publisher.reportBlocks.count >= 4 && publisher.arrivals.received > 300, "reports come back by TCP")
        // Longer than consent lasts without an answer.
        world.run(.seconds(35))
        #expect(publisher.isConnected && publisher.notices.all == [.connected])
        #expect(publisher.packets.isWhole && listener.closed.isEmpty)
        let relayed = try world.relayed(publisher)
        let connection = try #require(relayed.remoteAddress)
        #expect(world.holder(of: connection) === relayed && connection.hasSameHost(as: outside))
        try world.shard(of: publisher).dismiss(relayed, because: .removed, at: world.now)
        world.run(.milliseconds(100))
        #expect(listener.closed == [connection.by(.direct)], "the connection ends with the session")
        #expect(publisher.failure?.reason == .closedByPeer)
    }

    @Test(arguments: [1, 3]) func `a viewer in the same network watches over TCP`(shards: Int) throws {
        let world = try RelayWorld(shards: shards)
        _ = world.addWay(.tcp, at: TransportAddress(ipv4: 0xCB00_7106, port: 8190))
        let publisher = try world.addPublisher(onShard: shards - 1)
        let viewer = try world.addViewer(1, onShard: 0, watching: publisher.packets.camera)
        let outside = try #require(TransportAddress("192.0.2.7", port: 0))
        _ = world.simulation.network.addNAT(
            .portRestricted, outside: outside, inside: [publisher.addresses[0], viewer.addresses[0]],
            firewall: .blocksUDP)
        #expect(world.connect(publisher) && world.connect(viewer))
        world.run(.seconds(3))
        #expect(publisher.status.path == .tcp && viewer.status.path == .tcp)
        #expect(viewer.hasSeenEverything(of: publisher) && viewer.pictures.count > 250)
        #expect(world.host.outbox.runs.isEmpty, "no media leaves by the socket")
    }
}
