import ICE
import NetworkSimulator
import PeerConnection
import PeerFakes
import Testing
import Transport

@testable import MediaRelay

/// A principal with a session of its own, and the sessions of others.
@Suite struct HijackingTests {
    /// How many shards there are, and how the doors of the addresses lie to the shards of the sessions.
    struct Layout: Sendable, CustomTestStringConvertible {
        var shards: Int
        var doorShift: Int
        var testDescription: String { "\(shards) shards, doors moved by \(doorShift)" }

        static let all = (1...3).flatMap { shards in (0..<shards).map { Layout(shards: shards, doorShift: $0) } }
    }

    private func makeWorld(_ layout: Layout, seed: UInt64 = 1) throws -> RelayWorld {
        let world = try RelayWorld(seed: seed, shards: layout.shards)
        world.host.doorShift = layout.doorShift
        return world
    }

    @Test(arguments: Layout.all) func checksFromAnotherViewersAddressTakeNothingFromIt(_ layout: Layout) throws {
        let world = try makeWorld(layout)
        let victim = try world.addViewer(1, principal: "alice")
        #expect(world.connect(victim))
        let attacker = try world.addViewer(2, principal: "mallory")
        attacker.hasVanished = true
        var toVictim = 0
        let expected = try world.relayed(victim).configuration.peer.remoteCredentials.usernameFragment
        world.simulation.observer = { datagram in
            guard datagram.destination == victim.addresses[0], datagram.bytes[0] == 0 else { return }
            // A check that the attack has set off names the attacker's session.
            if String(decoding: datagram.bytes, as: UTF8.self).contains(expected) == false { toVictim += 1 }
        }
        for number in 0..<340 as Range<UInt64> {
            world.forge(try world.check(of: attacker, number: number), from: victim.addresses[0])
            world.run(.milliseconds(100))
            // The attacker's session fails by itself in the end.
            if world.viewer(named: attacker.name) == nil { break }
        }
        #expect(victim.isConnected && world.viewer(named: victim.name) != nil)
        #expect(world.holder(of: victim.addresses[0]) === (try world.relayed(victim)))
        #expect(victim.missingPictures == 0 && victim.hasContinuousSequence)
        #expect(world.counters.contestedChecks > 300)
        #expect(toVictim == 0, "and it is sent no checks of the attacker's session")
        // What the victim sends still reaches its own session.
        victim.askForKeyFrame()
        world.run(.seconds(1))
        #expect(try world.relayed(victim).readStatistics().refusedDatagrams == 0)
    }

    /// While the victim connects, its address is proved by its answer and by nothing else.
    @Test(arguments: Layout.all)
    func checksFromTheAddressOfAViewerThatIsConnectingDoNotKeepItOut(_ layout: Layout) throws {
        for seed in 1...20 as ClosedRange<UInt64> {
            let world = try makeWorld(layout, seed: seed)
            let attacker = try world.addViewer(2, principal: "mallory")
            attacker.hasVanished = true
            world.run(.milliseconds(5))
            let victim = try world.addViewer(1, principal: "alice")
            let start = world.now
            for number in 0..<100 as Range<UInt64> where !victim.isConnected {
                world.forge(try world.check(of: attacker, number: number), from: victim.addresses[0])
                world.run(.milliseconds(3))
            }
            #expect(victim.isConnected, "seed \(seed)")
            #expect(world.now - start < .milliseconds(300))
            world.run(.seconds(40))
            #expect(victim.isConnected && world.viewer(named: victim.name) != nil)
        }
    }

    /// A player with a fixed port that was ended without a word, and started again.
    @Test(arguments: Layout.all)
    func aViewerThatRestartsOnTheSamePortIsServedWhenThePreviousOneIsSilent(_ layout: Layout) throws {
        let world = try makeWorld(layout)
        let before = try world.addViewer(1)
        #expect(world.connect(before))
        world.run(.seconds(20))
        before.hasVanished = true
        let again = try world.addViewer(2, atHost: 1)
        let start = world.now
        #expect(world.simulation.run(for: .seconds(20)) { again.isConnected })
        #expect(world.now - start < .seconds(8), "\(world.now - start)")
        world.run(.seconds(5))
        #expect(!again.pictures.isEmpty)
        #expect(world.holder(of: again.addresses[0]) === (try world.relayed(again)))
    }

    /// The old path is silent, so the session of the viewer behind it no longer holds the address that a NAT has given to
    /// somebody else meanwhile.
    @Test(arguments: Layout.all) func anAddressThatANATHasGivenToAnotherViewerChangesHands(_ layout: Layout) throws {
        let world = try makeWorld(layout)
        let first = try world.addViewer(1)
        #expect(world.connect(first))
        world.run(.seconds(3))
        first.hasVanished = true
        world.run(.seconds(12))
        let second = try world.addViewer(2, atHost: 1)
        let start = world.now
        #expect(world.simulation.run(for: .seconds(5)) { second.isConnected })
        #expect(world.now - start < .milliseconds(200))
        // The end of the first session leaves the second one its address.
        world.run(.seconds(30))
        #expect(world.viewers.count == 1 && second.isConnected)
        #expect(world.holder(of: second.addresses[0]) === (try world.relayed(second)))
    }

    @Test(arguments: Layout.all) func aPrincipalsCandidatesDelayNobodyElse(_ layout: Layout) throws {
        let world = try makeWorld(layout)
        let attacker = try world.addViewer(2, principal: "mallory")
        attacker.hasVanished = true
        let relayed = try world.relayed(attacker)
        let before = world.host.outbox.sent
        for round in 0..<30 as Range<UInt32> {
            for index in 0..<32 as Range<UInt32> {
                let victim = TransportAddress(ipv4: 0xC612_0000 + round * 64 + index, port: 5000)
                relayed.peer.addRemoteCandidate(RemoteCandidate(address: victim, priority: 9))
            }
            world.host.now = world.now
            try world.shard(of: attacker).service(relayed, at: world.now)
            world.run(.seconds(1))
        }
        let toVictims = world.host.outbox.sent - before
        #expect(toVictims <= CheckBudget.capacity + 80, "\(toVictims) checks")
        #expect(world.counters.postponedChecks > 0)
        let viewer = try world.addViewer(1, principal: "alice")
        let start = world.now
        #expect(world.connect(viewer))
        #expect(world.now - start < .milliseconds(120))
        #expect(Set(world.shards.flatMap { $0.checkAccounts.keys }) == ["mallory", "alice"])
    }
}
