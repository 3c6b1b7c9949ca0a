import ICE
import PeerConnection
import PeerFakes
import Testing
import Transport

@testable import MediaRelay

/// A TURN server relays at other addresses while sessions run.
@Suite struct RelayedAddressTests {
    private let relayed = TransportAddress(ipv4: 0xCB00_7101, port: 50_000)

    /// Where the shards have sent something through the TURN server since the last call.
    private func destinations(of world: RelayWorld) -> Set<TransportAddress> {
        var batch = RelayedQueue.Batch()
        world.host.relay.links.relayed.take(into: &batch)
        var found: Set<TransportAddress> = []
        batch.drain { _, peer in found.insert(peer) }
        return found
    }

    /// A viewer that has named its address and has not been reached.
    private func addUnreachedViewer(to world: RelayWorld) throws -> TransportAddress {
        let viewer = try world.addViewer()
        viewer.hasVanished = true
        let session = try world.relayed(viewer)
        session.peer.addRemoteCandidate(.host(viewer.addresses[0]))
        world.host.now = world.now
        try world.shard(of: viewer).service(session, at: world.now)
        return viewer.addresses[0]
    }

    @Test(arguments: [1, 3]) func `a session without a path uses an allocation that comes late`(shards: Int) throws {
        let world = try RelayWorld(shards: shards)
        world.host.relay.links.relayed.setReader {}
        let address = try addUnreachedViewer(to: world)
        world.run(.milliseconds(500))
        #expect(destinations(of: world).isEmpty)
        let relayed = relayed
        world.host.relay.links.postToAll { shard, now in shard.setRelayedAddresses([relayed], at: now) }
        world.run(.milliseconds(500))
        #expect(destinations(of: world) == [address])
    }

    /// The answer was written before the allocation was known.
    @Test func `a session that begins with old addresses gets the present ones`() throws {
        let world = try RelayWorld()
        world.host.relay.links.relayed.setReader {}
        world.shard.setRelayedAddresses([relayed], at: world.now)
        let address = try addUnreachedViewer(to: world)
        world.run(.milliseconds(500))
        #expect(destinations(of: world) == [address])
    }

    @Test func `a session that begins after the server has failed does without it`() throws {
        let world = try RelayWorld()
        world.host.relay.links.relayed.setReader {}
        world.shard.setRelayedAddresses([relayed], at: world.now)
        world.shard.setRelayedAddresses([], at: world.now)
        _ = try addUnreachedViewer(to: world)
        world.run(.milliseconds(500))
        #expect(destinations(of: world).isEmpty)
    }

    @Test(arguments: [1, 3]) func `a session does not try a server that is silent, and uses it when it answers`(
        shards: Int
    ) throws {
        let world = try RelayWorld(shards: shards)
        world.host.relay.links.relayed.setReader {}
        let relayed = relayed
        func report(_ addresses: [TransportAddress]) {
            world.host.relay.links.postToAll { shard, now in shard.setRelayedAddresses(addresses, at: now) }
            world.run(.milliseconds(500))
        }
        let address = try addUnreachedViewer(to: world)
        report([relayed])
        #expect(destinations(of: world) == [address])
        report([])
        // Checks that were sent before the server fell silent.
        _ = destinations(of: world)
        world.run(.seconds(5))
        #expect(destinations(of: world).isEmpty)
        report([relayed])
        #expect(destinations(of: world) == [address])
    }

    /// The answer was written before the server fell silent.
    @Test func `a session that is described with the addresses of a silent server does not try it`() throws {
        let world = try RelayWorld()
        world.host.relay.links.relayed.setReader {}
        let viewer = try world.addViewer()
        viewer.hasVanished = true
        let session = try world.relayed(viewer)
        session.peer.setRelayed([relayed], at: world.now)
        world.shard.takeRelayedAddresses(session, instead: ICEAddresses(hosts: [], relayed: [relayed]), at: world.now)
        session.peer.addRemoteCandidate(.host(viewer.addresses[0]))
        world.host.now = world.now
        world.shard.service(session, at: world.now)
        world.run(.milliseconds(500))
        #expect(destinations(of: world).isEmpty)
    }

    /// The viewer's router may let in only what comes from an address that the viewer knows.
    @Test func `a restart is asked for where checks from an unknown address are not answered`() throws {
        let world = try RelayWorld()
        world.host.relay.links.relayed.setReader {}
        let viewer = try world.addViewer()
        viewer.hasVanished = true
        let session = try world.relayed(viewer)
        world.shard.setRelayedAddresses([relayed], at: world.now)
        world.run(.milliseconds(1_900))
        #expect(!viewer.status.wantsRestart)
        world.run(.milliseconds(200))
        #expect(viewer.status.wantsRestart)
        var random = RandomSource.seeded(9)
        let (mine, theirs) = (ICECredentials(using: &random), ICECredentials(using: &random))
        world.shard.restartICE(
            session, local: mine, remote: theirs,
            addresses: ICEAddresses(hosts: [world.host.addresses[0]], relayed: [relayed]), at: world.now)
        #expect(!viewer.status.wantsRestart)
        world.run(.seconds(5))
        #expect(!viewer.status.wantsRestart)
    }
}
