import Testing
import Transport

@testable import MediaRelay

/// What datagrams on their way to a shard cost in memory, and how much of its turn they take.
@Suite struct HandOverTests {
    private let path = DatagramPath(
        source: TransportAddress(ipv4: 0xC633_6401, port: 1), local: TransportAddress(ipv4: 0xCB00_7105, port: 2),
        door: ShardLinks.relayedDoor, holder: nil)

    private func fill(_ handOver: inout HandOver, datagrams: Int, size: Int) {
        let bytes = [UInt8](repeating: 0x80, count: size)
        for _ in 0..<datagrams { bytes.withUnsafeBytes { handOver.append($0, path, next: nil) } }
    }

    @Test(arguments: [1, 12, 1_200])
    func `the bound counts what datagrams cost and not only their bytes`(size: Int) {
        let queue = HandOverQueue(sources: 1)
        let room = HandOverQueue.maximumBytes / HandOver.cost(of: size)
        var dropped = 0
        var handed = 0
        // Twice as many as fit, in parts that are merged with what waits.
        while handed < 2 * room {
            var handOver = HandOver()
            fill(&handOver, datagrams: 1_000, size: size)
            handed += 1_000
            dropped += queue.add(&handOver, from: 0).dropped
        }
        var taken = [HandOver()]
        queue.take(into: &taken)
        let (count, cost) = (taken[0].count, taken[0].cost)
        #expect(count == room && dropped == handed - room)
        #expect(cost <= HandOverQueue.maximumBytes)
        // Arrays grow by doubling.
        #expect(taken[0].footprint <= 3 * HandOverQueue.maximumBytes)
    }

    @Test func `one hand-over that is too large is cut and keeps its beginning`() {
        let queue = HandOverQueue(sources: 1)
        var handOver = HandOver()
        fill(&handOver, datagrams: 100_000, size: 1)
        let result = queue.add(&handOver, from: 0)
        #expect(result.isFirst && result.dropped == 100_000 - HandOverQueue.maximumBytes / HandOver.cost(of: 1))
    }

    @Test func `what is left of a drained hand-over keeps its order`() {
        var handOver = HandOver()
        for number in 0..<10 as Range<UInt8> { [number].withUnsafeBytes { handOver.append($0, path, next: nil) } }
        var found: [UInt8] = []
        var parts: [Int] = []
        for _ in 0..<4 {
            parts.append(handOver.drain(atMost: 4) { datagram, _, _ in found.append(datagram[0]) })
        }
        #expect(parts == [4, 4, 2, 0])
        #expect(found == Array(0..<10))
        let isEmpty = handOver.isEmpty
        #expect(isEmpty)
    }

    @Test func `memory of a flood is given back and that of a steady stream stays`() {
        var handOver = HandOver()
        fill(&handOver, datagrams: 17_000, size: 12)
        handOver.drain { _, _, _ in }
        let flooded = handOver.footprint
        #expect(flooded > HandOver.keptBytes)
        for _ in 0..<HandOver.calmTurns {
            fill(&handOver, datagrams: 30, size: 1_200)
            handOver.drain { _, _, _ in }
        }
        let calm = handOver.footprint
        #expect(calm <= HandOver.keptBytes)
        // A stream that fills its memory again and again allocates nothing.
        fill(&handOver, datagrams: 1_000, size: 1_200)
        handOver.drain { _, _, _ in }
        let steady = handOver.footprint
        for _ in 0..<4 * HandOver.calmTurns {
            fill(&handOver, datagrams: 1_000, size: 1_200)
            handOver.drain { _, _, _ in }
        }
        let after = handOver.footprint
        #expect(after == steady)
    }

    @Test(arguments: [1, 3])
    func `a turn handles a part of a flood and the next turns the rest`(shards: Int) throws {
        let world = try RelayWorld(shards: shards)
        let links = world.host.relay.links
        links.connected.setReader {}
        let (most, datagrams) = (HandOverQueue.datagramsPerTurn, 3 * HandOverQueue.datagramsPerTurn + 100)
        var handOver = HandOver()
        fill(&handOver, datagrams: datagrams, size: 12)
        links.handOver(connected: &handOver)
        let shard = world.shards[ShardLinks.relayedDoor]
        world.host.takeTurn(ShardLinks.relayedDoor)
        #expect(shard.counters.strayDatagrams == UInt64(most))
        // What comes meanwhile waits behind it, and its wake-up is not needed.
        fill(&handOver, datagrams: 10, size: 12)
        links.handOver(connected: &handOver)
        links.connected.setReader(nil)
        world.host.settle()
        #expect(world.counters.strayDatagrams == UInt64(datagrams + 10))
        #expect(world.counters.handOverDrops == 0)
    }
}
