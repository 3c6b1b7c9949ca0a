import DatagramPort
import Testing
import Transport

@testable import MediaRelay

@Suite struct RelayedQueueTests {
    private let peer = TransportAddress(ipv4: 0xC633_6407, port: 5000).by(.relayed)

    private func send(
        _ bytes: [UInt8], segmentSize: Int, to queue: RelayedQueue, at destination: TransportAddress? = nil,
        as load: RelayedQueue.Load = .media
    ) -> SendOutcome {
        bytes.withUnsafeBytes {
            queue.send(
                $0,
                transmit: Transmit(
                    destination: destination ?? peer, byteCount: bytes.count, segmentSize: segmentSize),
                as: load)
        }
    }

    private func take(from queue: RelayedQueue) -> [(bytes: [UInt8], peer: TransportAddress)] {
        var batch = RelayedQueue.Batch()
        queue.take(into: &batch)
        var found: [(bytes: [UInt8], peer: TransportAddress)] = []
        batch.drain { found.append((Array($0), $1)) }
        return found
    }

    @Test func aRunIsCutIntoItsDatagrams() {
        let queue = RelayedQueue()
        let wakes = Locked(0)
        queue.setReader { wakes.withLock { $0 += 1 } }
        #expect(send([1, 2, 3, 4, 5], segmentSize: 2, to: queue) == .sent)
        #expect(send([6], segmentSize: 1, to: queue) == .sent)
        let found = take(from: queue)
        #expect(found.map(\.bytes) == [[1, 2], [3, 4], [5], [6]])
        #expect(found.allSatisfy { $0.peer == peer.by(.direct) })
        #expect(wakes.withLock { $0 } == 1)
        #expect(send([7], segmentSize: 1, to: queue) == .sent)
        #expect(wakes.withLock { $0 } == 2)
    }

    @Test func nothingIsTakenWithoutAReader() {
        let queue = RelayedQueue()
        #expect(!queue.isInUse)
        #expect(send([1], segmentSize: 1, to: queue) == .refused)
        queue.setReader {}
        #expect(queue.isInUse && send([1], segmentSize: 1, to: queue) == .sent)
        queue.setReader(nil)
        #expect(!queue.isInUse && take(from: queue).isEmpty)
    }

    @Test func aReaderThatTakesNothingDoesNotFillTheMemory() {
        let queue = RelayedQueue()
        queue.setReader {}
        let run = [UInt8](repeating: 0x80, count: 60_000)
        let outcomes = (0..<100).map { _ in send(run, segmentSize: 1200, to: queue) }
        #expect(outcomes.first == .sent && outcomes.last == .blocked)
        #expect(take(from: queue).count < 2000)
        #expect(send(run, segmentSize: 1200, to: queue) == .sent)
    }

    @Test func mediaWaitsForItsOwnConnectionOnly() {
        let queue = RelayedQueue()
        queue.setReader {}
        let other = peer.withPort(5001)
        queue.setLimit(3_000, for: peer)
        queue.setLimit(3_000, for: other)
        let run = [UInt8](repeating: 0x80, count: 2_400)
        #expect(send(run, segmentSize: 1200, to: queue) == .sent)
        #expect(send(run, segmentSize: 1200, to: queue) == .sent, "a run that was begun below the limit")
        #expect(send(run, segmentSize: 1200, to: queue) == .blocked)
        #expect(send([1], segmentSize: 1, to: queue, as: .control) == .sent)
        #expect(send(run, segmentSize: 1200, to: queue, at: other) == .sent)
        // Sound goes on for a while.
        let sound = [UInt8](repeating: 0x80, count: 200)
        var sounds = 0
        while send(sound, segmentSize: 200, to: queue) == .sent, sounds < 1_000 { sounds += 1 }
        #expect(sounds * 200 > 5_000 && sounds * 200 < 10_000)
        // The thread has taken everything, and its connection a part of it.
        #expect(take(from: queue).count == 7 + sounds)
        queue.record([.init(peer: peer.by(.tcp), taken: 4_801 + sounds * 200, waiting: 3_001, limit: 3_000)])
        #expect(send(run, segmentSize: 1200, to: queue) == .blocked)
        queue.record([.init(peer: peer.by(.tcp), taken: 0, waiting: 2_000, limit: 3_000)])
        #expect(send(run, segmentSize: 1200, to: queue) == .sent)
        queue.setLimit(nil, for: peer)
        #expect(send(run, segmentSize: 1200, to: queue) == .sent && send(run, segmentSize: 1200, to: queue) == .sent)
    }

    @Test func allPeersBehindOneConnectionWaitTogether() {
        let queue = RelayedQueue(hasOneConnection: true)
        queue.setReader {}
        queue.setLimit(1_000, for: TransportAddress(ipv4: 0x7F00_0001, port: 3478))
        #expect(send([UInt8](repeating: 0, count: 1_000), segmentSize: 1_000, to: queue) == .sent)
        #expect(send([UInt8](repeating: 0, count: 600), segmentSize: 600, to: queue, at: peer.withPort(7)) == .blocked)
    }

    @Test func theWishToCloseAConnectionKeepsItsPlace() {
        let queue = RelayedQueue()
        queue.close(peer)
        queue.setReader {}
        #expect(take(from: queue).isEmpty, "nobody would read it")
        #expect(send([1], segmentSize: 1, to: queue) == .sent)
        queue.close(peer)
        #expect(take(from: queue).map(\.bytes) == [[1], []])
    }

    @Test func whatTheShardDoesNotTakeInTimeIsCounted() throws {
        let world = try RelayWorld()
        let links = world.host.relay.links
        links.connected.setReader {}
        let size = 1_000
        for _ in 0..<3 {
            var arrived = HandOver()
            for _ in 0..<1_000 {
                [UInt8](repeating: 0x80, count: size).withUnsafeBytes {
                    arrived.append(
                        $0,
                        DatagramPath(
                            source: peer.by(.tcp), local: world.host.addresses[0], door: ShardLinks.relayedDoor,
                            holder: nil),
                        next: nil)
                }
            }
            links.handOver(connected: &arrived)
        }
        let room = HandOverQueue.maximumBytes / HandOver.cost(of: size)
        #expect(world.counters.handOverDrops == UInt64(3_000 - room))
    }

    @Test(arguments: [1, 3])
    func whatComesBackEntersTheFirstShard(shards: Int) throws {
        let world = try RelayWorld(shards: shards)
        let links = world.host.relay.links
        links.relayed.setReader {}
        var arrived = HandOver()
        ([0x80, 96, 0, 1] as [UInt8]).withUnsafeBytes {
            arrived.append(
                $0,
                DatagramPath(source: peer, local: world.host.addresses[0], door: ShardLinks.relayedDoor, holder: nil),
                next: nil)
        }
        links.handOver(relayed: &arrived)
        world.host.settle()
        #expect(world.counters.strayDatagrams == 1)
    }

    @Test func aSendByTheRelayedRouteDoesNotReachTheSocket() {
        let outbox = Outbox()
        let queue = RelayedQueue()
        queue.setReader {}
        let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: SegmentRun.maximumBytes, alignment: 64)
        defer { memory.deallocate() }
        var sender = MediaSender(port: outbox, relayed: queue, memory: memory)
        for destination in [peer, peer.by(.direct)] {
            ([0, 1, 2, 3] as [UInt8]).withUnsafeBytes {
                sender.send($0, Transmit(destination: destination, byteCount: 4), from: nil)
            }
        }
        #expect(outbox.waiting.map(\.transmit.destination) == [peer.by(.direct)])
        #expect(take(from: queue).map(\.bytes) == [[0, 1, 2, 3]])
    }
}
