import RTP
import Testing
import Transport

@Suite struct PacketBatchTests {
    private func append(_ count: Int, length: Int, to pool: inout PacketBatchPool, seed: Int = 0) {
        for number in 0..<count {
            pattern(length, seed: seed + number).withUnsafeBytes {
                pool.append(
                    PacketBatch.Packet(
                        offset: 0, length: 0, timestamp: UInt32(seed), sequenceNumber: UInt16(number), payloadType: 96,
                        flags: number == 0 ? [.startsFrame, .keyFrame] : []), payload: $0)
            }
        }
    }

    @Test func aBatchHoldsWhatWasAppended() throws {
        var pool = PacketBatchPool()
        let isEmptyAtFirst = pool.isEmpty
        #expect(isEmptyAtFirst)
        append(20, length: 1_160, to: &pool)
        let finished = pool.finish(arrival: .ms(5))
        let batch = try #require(finished)
        #expect(batch.packets.count == 20)
        #expect(batch.arrival == .ms(5))
        #expect(batch.startsKeyFrame)
        for (number, packet) in batch.packets.enumerated() {
            #expect(Array(batch.payload(of: packet)) == pattern(1_160, seed: number))
            #expect(packet.sequenceNumber == UInt16(number))
        }
        let nothing = pool.finish(arrival: .ms(6))
        #expect(nothing == nil)
    }

    @Test func aBatchThatSomebodyHoldsIsNotWrittenAgain() throws {
        var pool = PacketBatchPool()
        append(3, length: 100, to: &pool)
        let first = pool.finish(arrival: .zero)
        let kept = try #require(first)
        for round in 1...50 {
            append(5, length: 300, to: &pool, seed: round)
            _ = pool.finish(arrival: .zero)
        }
        #expect(kept.packets.count == 3)
        #expect(Array(kept.payload(of: kept.packets[2])) == pattern(100, seed: 2))
    }

    @Test func batchesThatAreLetGoOfAreUsedAgain() {
        var pool = PacketBatchPool()
        var ring: [PacketBatch] = []
        var seen: Set<ObjectIdentifier> = []
        for round in 0..<500 {
            append(4, length: 1_000, to: &pool, seed: round)
            if let batch = pool.finish(arrival: .zero) {
                seen.insert(ObjectIdentifier(batch))
                ring.append(batch)
            }
            if ring.count > 10 { ring.removeFirst() }
        }
        #expect(seen.count <= 13)
    }

    @Test func keyFramesDoNotSwellTheBatchesOfOtherFrames() {
        var pool = PacketBatchPool()
        var ring: [PacketBatch] = []
        for round in 0..<1_500 {
            // The odd interval lets each batch hold a key frame some day.
            append(round % 37 == 0 ? 60 : 2, length: 1_000, to: &pool, seed: round)
            if let batch = pool.finish(arrival: .zero) { ring.append(batch) }
            if ring.count > 40 { ring.removeFirst() }
        }
        let held = ring.reduce(0) { $0 + $1.footprint }
        let needed = ring.reduce(0) { $0 + $1.payloadByteCount }
        #expect(held < needed * 4)
    }

    @Test func framesGoStraightIntoBatches() throws {
        var pool = PacketBatchPool()
        var packetizer = VP8Packetizer(firstPictureID: 1)
        ([0x50] + pattern(4_000)).withUnsafeBytes {
            packetizer.packetize($0) { payload in
                pool.append(
                    PacketBatch.Packet(
                        offset: 0, length: 0, timestamp: 0, sequenceNumber: 0, payloadType: 96, flags: payload.flags),
                    payload: payload.bytes)
            }
        }
        let finished = pool.finish(arrival: .zero)
        let batch = try #require(finished)
        #expect(batch.packets.count == 4)
        #expect(batch.startsKeyFrame)
        #expect(batch.packets.map { $0.flags.contains(.marker) } == [false, false, false, true])
        #expect(batch.packets.allSatisfy { $0.flags.contains(.keyFrame) })
    }
}
