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

    @Test func releasedBatchesAreUsedAgain() {
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

    /// A ring that held minutes and holds seconds again gives the memory back, not only to the source's pool.
    @Test func batchesThatAreNeededNoLongerAreFreed() {
        var pool = PacketBatchPool()
        var ring: [PacketBatch] = []
        func run(_ rounds: Int, keeping count: Int) -> Int {
            var seen: Set<ObjectIdentifier> = []
            for round in 0..<rounds {
                append(1, length: 100, to: &pool, seed: round)
                if let batch = pool.finish(arrival: .zero) {
                    seen.insert(ObjectIdentifier(batch))
                    ring.append(batch)
                }
                ring.removeFirst(max(ring.count - count, 0))
            }
            return seen.count
        }
        _ = run(2_000, keeping: 1_000)
        _ = run(8_000, keeping: 40)
        let used = run(2_000, keeping: 40)
        #expect((40...130).contains(used))
    }

    /// A ring releases a whole group of pictures at a time. Its batches must not be made again with every group.
    @Test func aRingThatReleasesGroupsKeepsItsBatches() {
        var pool = PacketBatchPool()
        var ring: [PacketBatch] = []
        var seen: Set<ObjectIdentifier> = []
        for round in 0..<10_000 {
            append(1, length: 100, to: &pool, seed: round)
            if let batch = pool.finish(arrival: .zero) {
                seen.insert(ObjectIdentifier(batch))
                ring.append(batch)
            }
            if ring.count > 200 { ring.removeFirst(150) }
        }
        #expect(seen.count <= 203)
    }

    /// The relay reads batches on its own thread, and the source writes into them again on another. What stands between
    /// the two is the count of references alone: nothing else passes from the reader back to the pool.
    @Test func anotherThreadReadsBatchesBeforeTheyAreUsedAgain() async throws {
        let handedOver = Locked<(batches: [(seed: Int, batch: PacketBatch)], isOver: Bool)>(([], false))
        let rounds = 2_000
        let (results, continuation) = AsyncStream.makeStream(of: Int.self)
        let isRunning = startDetachedThread {
            func isIntact(_ seed: Int, _ batch: PacketBatch) -> Bool {
                batch.packets.count == 3
                    && batch.packets.indices.allSatisfy {
                        Array(batch.payload(of: batch.packets[$0])) == pattern(200, seed: seed + $0)
                    }
            }
            var intact = 0
            var kept: [(seed: Int, batch: PacketBatch)] = []
            while true {
                var (news, isOver) = handedOver.withLock { state in
                    let news = state.batches
                    state.batches.removeAll()
                    return (news, state.isOver)
                }
                if isOver, news.isEmpty { break }
                // Most are released as soon as they have been read, with no lock between the two.
                while let (seed, batch) = news.popLast() {
                    if seed % 50 == 0 {
                        kept.append((seed, batch))
                    } else if isIntact(seed, batch) {
                        intact += 1
                    }
                }
            }
            for (seed, batch) in kept where isIntact(seed, batch) { intact += 1 }
            continuation.yield(intact)
            continuation.finish()
        }
        try #require(isRunning)
        var pool = PacketBatchPool()
        for seed in 0..<rounds {
            append(3, length: 200, to: &pool, seed: seed)
            guard let batch = pool.finish(arrival: .zero) else { continue }
            handedOver.withLock { $0.batches.append((seed, batch)) }
        }
        handedOver.withLock { $0.isOver = true }
        var intact: [Int] = []
        for await count in results { intact.append(count) }
        #expect(intact == [rounds])
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
