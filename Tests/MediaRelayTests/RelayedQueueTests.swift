import DatagramPort
import Testing
import Transport

@testable import MediaRelay

@Suite struct RelayedQueueTests {
    private let peer = TransportAddress(ipv4: 0xC633_6407, port: 5000).by(.relayed)

    private func send(_ bytes: [UInt8], segmentSize: Int, to queue: RelayedQueue) -> SendOutcome {
        bytes.withUnsafeBytes {
            queue.send(
                $0, transmit: Transmit(destination: peer, byteCount: bytes.count, segmentSize: segmentSize))
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
