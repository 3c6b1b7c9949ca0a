import DatagramPort
import ICE
import PeerConnection
import PeerFakes
import Testing
import Transport

@testable import MediaRelay

/// A session gets its shard before its credentials, which name it.
@Suite struct PlacementTests {
    @Test func `a session goes to its camera's home shard while that has few`() {
        let placements = Placements(shards: 3)
        let few = Placements.few
        var places = (0..<few).map { _ in placements.take(preferring: 1) }
        #expect(places.allSatisfy { $0.shard == 1 })
        // The lowest of several.
        places += (0..<4).map { _ in placements.take(preferring: 1) }
        #expect(places.dropFirst(few).map(\.shard) == [0, 2, 0, 2])
        // A shard that sessions have left takes others at once.
        places.removeAll { $0.shard == 1 }
        #expect(placements.take(preferring: 1).shard == 1)
    }

    @Test func `the sessions of one camera are spread over all shards`() {
        let placements = Placements(shards: 4)
        let places = (0..<1_000).map { _ in placements.take(preferring: 2) }
        let counts = (0..<4).map { shard in places.count { $0.shard == shard } }
        #expect(counts == [250, 250, 250, 250])
    }

    @Test func `a camera's sessions are where its tracks are at home`() throws {
        let relay = try MediaRelay(ports: try UDPPortGroup(.loopback(), count: 4))
        defer { relay.stop() }
        for camera in ["front-door", "garden", "garage", "drive", "nursery"] {
            #expect(relay.place(for: camera).shard == ShardMark.home(of: camera, of: 4))
        }
    }

    @Test(arguments: [1, 2, 3, 7, 63, 64]) func everyFragmentNamesItsShard(_ count: Int) {
        var random = RandomSource.seeded(5)
        for shard in 0..<count {
            var names: Set<String> = []
            for _ in 0..<20 {
                let credentials = ShardMark.credentials(for: shard, of: count, using: &random)
                #expect(ShardMark.shard(ofFragment: credentials.usernameFragment.utf8, of: count) == shard)
                #expect(credentials.usernameFragment.utf8.count == 8 && credentials.hasStandardLengths)
                names.insert(credentials.usernameFragment)
            }
            #expect(names.count == 20)
        }
        for name in ["", "!", "é", "z"] {
            #expect((0..<count).contains(ShardMark.shard(ofFragment: name.utf8, of: count)))
        }
    }

    @Test func `each of the relay's fragments has a key of its own, and one of another length has none`() {
        var random = RandomSource.seeded(4)
        var keys: Set<UsernameFragmentKey?> = []
        for _ in 0..<1_000 { keys.insert(UsernameFragmentKey(ICECredentials(using: &random).usernameFragment.utf8)) }
        #expect(keys.count == 1_000 && !keys.contains(nil))
        for name in ["", "gate", "abcdefg", "abcdefghi"] { #expect(UsernameFragmentKey(name.utf8) == nil) }
    }

    @Test func withOneShardCredentialsAreLikeAnyOthers() {
        var (one, other) = (RandomSource.seeded(8), RandomSource.seeded(8))
        #expect(ShardMark.credentials(for: 0, of: 1, using: &one) == ICECredentials(using: &other))
    }

    @Test(arguments: [1, 3]) func aRestartKeepsTheSessionOnItsShard(_ shards: Int) throws {
        let world = try RelayWorld(shards: shards)
        let viewer = try world.addViewer()
        #expect(world.connect(viewer))
        world.run(.seconds(2))
        let relayed = try world.relayed(viewer)
        var random = RandomSource.seeded(3)
        for _ in 0..<6 {
            let mine = ShardMark.credentials(for: relayed.handle.shard, of: shards, using: &random)
            let theirs = ICECredentials(using: &random)
            world.host.now = world.now
            try world.shard(of: viewer).restartICE(relayed, local: mine, remote: theirs, at: world.now)
            viewer.connection.restartICE(local: theirs, remote: mine, at: world.now)
            viewer.connection.addRemoteCandidate(RemoteCandidate(address: world.host.addresses[0], priority: 5))
            world.run(.seconds(3))
        }
        #expect(viewer.missingPictures == 0)
        world.run(.seconds(40))
        #expect(viewer.isConnected && viewer.missingPictures == 0)
        #expect(world.counters.strayDatagrams == 0)
    }

    /// Together the shards let a principal send as many checks as one does.
    @Test(arguments: 1...3) func aCheckBudgetIsDivided(_ shards: Int) throws {
        let world = try RelayWorld(shards: shards)
        let attackers = try (0..<shards).map { try world.addViewer($0 + 1, principal: "mallory", onShard: $0) }
        for attacker in attackers { attacker.hasVanished = true }
        let before = world.host.outbox.sent
        for round in 0..<30 as Range<UInt32> {
            for (number, attacker) in attackers.enumerated() {
                for index in 0..<32 as Range<UInt32> {
                    let victim = TransportAddress(
                        ipv4: 0xC612_0000 + UInt32(number) << 12 + round * 64 + index, port: 5000)
                    try world.relayed(attacker).peer.addRemoteCandidate(RemoteCandidate(address: victim, priority: 9))
                }
                world.host.now = world.now
                try world.shard(of: attacker).service(try world.relayed(attacker), at: world.now)
            }
            world.run(.seconds(1))
        }
        let toVictims = world.host.outbox.sent - before
        #expect(toVictims <= CheckBudget.capacity + 80, "\(toVictims) checks")
        #expect(toVictims > CheckBudget.capacity - shards)
    }
}
