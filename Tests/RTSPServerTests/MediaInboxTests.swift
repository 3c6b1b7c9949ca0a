import MediaRelay
import RTP
import Testing
import Transport

@testable import RTSPServer

/// What waits for the server's thread is bounded by time and bytes, whatever the number of batches.
@Suite struct MediaInboxTests {
    private let start = Instant(nanoseconds: 1_000_000_000)

    private func batch(_ pool: inout PacketBatchPool, bytes: Int) throws -> TappedBatch {
        let payload = [UInt8](repeating: 1, count: bytes)
        payload.withUnsafeBytes {
            pool.append(
                PacketBatch.Packet(
                    offset: 0, length: 0, timestamp: 0, sequenceNumber: 0, payloadType: 96, flags: [.startsFrame]),
                payload: $0)
        }
        let batch = pool.finish(arrival: start)
        return TappedBatch(
            batch: try #require(batch), firstPacket: 0, firstSequence: 0, timestampOffset: 0, capture: start)
    }

    @Test func timeBoundsWhatWaitsAndTheEndIsNeverLost() throws {
        let inbox = MediaInbox()
        var pool = PacketBatchPool()
        for second in 0...9 {
            inbox.deliver(.batch(try batch(&pool, bytes: 100)), from: 1, at: start + .seconds(second))
        }
        inbox.deliver(.batch(try batch(&pool, bytes: 0)), from: 7, at: start + .seconds(9))
        inbox.deliver(.ended, from: 2, at: start + .seconds(9))
        inbox.deliver(.ended, from: 1, at: start + .seconds(10))
        var entries: [MediaInbox.Entry] = []
        // Those that lost something get a key frame.
        #expect(inbox.take(into: &entries) == [1, 7])
        #expect(entries.count == 8)
        guard case .ended? = entries.last?.event else {
            Issue.record("the end of the track was lost")
            return
        }
        #expect(inbox.drops == MediaInbox.Drops(packets: 5, bytes: 400))
        inbox.deliver(.batch(try batch(&pool, bytes: 100)), from: 1, at: start + .seconds(11))
        #expect(inbox.take(into: &entries).isEmpty)
        #expect(entries.count == 1)
    }

    @Test func bytesBoundWhatWaitsAndABatchForManyReadersCountsOnce() throws {
        let inbox = MediaInbox()
        var pool = PacketBatchPool()
        let shared = try batch(&pool, bytes: 1 << 20)
        for reader in 0..<500 as Range<UInt64> { inbox.deliver(.batch(shared), from: reader, at: start) }
        var entries: [MediaInbox.Entry] = []
        #expect(inbox.take(into: &entries).isEmpty)
        #expect(entries.count == 500 && inbox.drops == MediaInbox.Drops())
        for _ in 0..<100 { inbox.deliver(.batch(try batch(&pool, bytes: 1 << 20)), from: 1, at: start) }
        #expect(inbox.take(into: &entries) == [1])
        #expect((50...64).contains(entries.count))
        #expect(inbox.drops.packets == UInt64(100 - entries.count))
    }
}
