import PeerFakes
import Testing
import Transport

@testable import MediaRelay

/// A principal with a session of its own, and the publisher of another one.
@Suite struct PublisherHijackingTests {
    private func makeWorld(_ layout: HijackingTests.Layout, seed: UInt64 = 1) throws -> RelayWorld {
        let world = try RelayWorld(seed: seed, shards: layout.shards)
        world.host.doorShift = layout.doorShift
        return world
    }

    @Test(arguments: HijackingTests.Layout.all)
    func `checks from a publisher's address take nothing from it`(_ layout: HijackingTests.Layout) throws {
        let world = try makeWorld(layout)
        let victim = try world.addPublisher(principal: "alice", onShard: layout.shards - 1)
        #expect(world.connect(victim))
        let viewer = try world.addViewer(1, watching: victim.packets.camera)
        #expect(world.connect(viewer))
        let attacker = try world.addViewer(2, principal: "mallory")
        attacker.hasVanished = true
        for number in 0..<100 as Range<UInt64> {
            world.forge(try world.check(of: attacker, number: number), from: victim.addresses[0])
            world.run(.milliseconds(100))
        }
        #expect(world.counters.contestedChecks > 90)
        #expect(victim.isConnected && victim.notices.all == [.connected])
        #expect(world.holder(of: victim.addresses[0]) === (try world.relayed(victim)))
        #expect(try world.relayed(victim).refusedDatagrams == 0)
        #expect(victim.packets.numbers == Array(0..<victim.packets.video.count))
        #expect(viewer.hasSeenEverything(of: victim))
    }

    /// While the publisher connects, its address is proved by its answer and by nothing else.
    @Test(arguments: HijackingTests.Layout.all)
    func `checks from the address of a publisher that is connecting do not keep it out`(
        _ layout: HijackingTests.Layout
    ) throws {
        for seed in 1...5 as ClosedRange<UInt64> {
            let world = try makeWorld(layout, seed: seed)
            let attacker = try world.addViewer(2, principal: "mallory")
            attacker.hasVanished = true
            world.run(.milliseconds(5))
            let victim = try world.addPublisher(principal: "alice", onShard: layout.shards - 1)
            let start = world.now
            for number in 0..<100 as Range<UInt64> where !victim.isConnected {
                world.forge(try world.check(of: attacker, number: number), from: victim.addresses[0])
                world.run(.milliseconds(3))
            }
            #expect(victim.isConnected, "seed \(seed)")
            #expect(world.now - start < .milliseconds(300))
            world.run(.seconds(2))
            #expect(victim.packets.isWhole && victim.packets.video.count > 190, "seed \(seed)")
        }
    }
}
