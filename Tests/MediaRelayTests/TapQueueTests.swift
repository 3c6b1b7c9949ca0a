import RTP
import Synchronization
import Testing
import Transport

@testable import MediaRelay

/// What waits for a consumer's thread is bounded by time and bytes, whatever the number of batches.
@Suite struct TapQueueTests {
    private let start = Instant(nanoseconds: 100_000_000_000)
    private var maker = Batches()

    /// Makes batches of one packet.
    private final class Batches {
        private var pool = PacketBatchPool()
        private var next: UInt16 = 0

        func make(at arrival: Instant, bytes: Int = 100, isKeyFrame: Bool = false) throws -> TappedBatch {
            let payload = [UInt8](repeating: 1, count: bytes)
            payload.withUnsafeBytes {
                pool.append(
                    PacketBatch.Packet(
                        offset: 0, length: 0, timestamp: 0, sequenceNumber: next, payloadType: 96,
                        flags: isKeyFrame ? [.startsFrame, .keyFrame] : [.startsFrame]), payload: $0)
            }
            defer { next &+= 1 }
            let batch = pool.finish(arrival: arrival)
            return TappedBatch(
                batch: try #require(batch), firstPacket: 0, firstSequence: Int64(next), timestampOffset: 0,
                capture: arrival)
        }
    }

    private func take(_ queue: TapQueue) -> [TapQueue.Entry] {
        var entries: [TapQueue.Entry] = []
        _ = queue.take(into: &entries)
        return entries
    }

    /// In letters: a batch, a gap, a restart, an end, a beginning; with the tap's number.
    private func letters(_ entries: [TapQueue.Entry]) -> [String] {
        entries.map { entry in
            switch entry.event {
            case .begins: "a\(entry.tap.id)"
            case .batch: "b\(entry.tap.id)"
            case .gap: "g\(entry.tap.id)"
            case .restarted: "r\(entry.tap.id)"
            case .ended: "e\(entry.tap.id)"
            }
        }
    }

    private func count(_ entries: [TapQueue.Entry]) -> Int { entries.count { $0.event.arrival != nil } }

    @Test func timeBoundsWhatWaitsAndTheEndIsNeverLost() throws {
        let queue = TapQueue(limits: .init(duration: .seconds(5), overflow: .refuse))
        let (first, second, third) = (
            queue.makeTap(id: 1, at: start), queue.makeTap(id: 2, at: start), queue.makeTap(id: 7, at: start)
        )
        for second in 0...9 { first.receive(try maker.make(at: start + .seconds(second))) }
        third.receive(try maker.make(at: start + .seconds(9), bytes: 0))
        second.trackEnded()
        first.trackEnded()
        // Those that lost something learn of it, each once.
        #expect(letters(take(queue)) == ["b1", "b1", "b1", "b1", "b1", "b1", "g1", "g7", "e2", "e1"])
        #expect(queue.drops == TapQueue.Drops(packets: 5, bytes: 400))
        // As soon as the consumer has looked, everything is accepted again.
        first.receive(try maker.make(at: start + .seconds(11)))
        #expect(letters(take(queue)) == ["b1"])
    }

    @Test func bytesBoundWhatWaitsAndABatchForManyTapsCountsOnce() throws {
        let queue = TapQueue(limits: .init(duration: .seconds(5), bytes: 64 << 20, overflow: .refuse))
        let taps = (0..<500 as Range<UInt64>).map { queue.makeTap(id: $0, at: start) }
        let shared = try maker.make(at: start, bytes: 1 << 20)
        for tap in taps { tap.receive(shared) }
        #expect(count(take(queue)) == 500 && queue.drops == TapQueue.Drops())
        for _ in 0..<100 { taps[1].receive(try maker.make(at: start, bytes: 1 << 20)) }
        let waiting = take(queue)
        #expect(letters(waiting).last == "g1")
        #expect((50...64).contains(count(waiting)))
        #expect(queue.drops.packets == UInt64(100 - count(waiting)))
        // A batch that comes to an empty queue is taken whatever its size.
        taps[0].receive(try maker.make(at: start, bytes: 65 << 20))
        #expect(letters(take(queue)) == ["b0"])
    }

    @Test func aConsumerThatMustNotBeLateSkipsToTheNewest() throws {
        let queue = TapQueue(limits: .init(duration: .milliseconds(500), overflow: .skip))
        let tap = queue.makeTap(id: 1, at: start)
        tap.tapBegins(TapBeginning(capture: start))
        for number in 0..<30 { tap.receive(try maker.make(at: start + .milliseconds(20 * number))) }
        // 26 of them were within the bound; the others come after the gap.
        #expect(letters(take(queue)) == ["a1", "g1", "b1", "b1", "b1", "b1"])
        #expect(queue.drops.packets == 26)
        for number in 30..<200 { tap.receive(try maker.make(at: start + .milliseconds(20 * number))) }
        #expect(letters(take(queue)).filter { $0 != "b1" } == ["g1"])
    }

    @Test func bytesBoundASkippingQueueToo() throws {
        let queue = TapQueue(limits: .init(duration: .seconds(5), bytes: 4 << 20, overflow: .skip))
        let tap = queue.makeTap(at: start)
        for _ in 0..<10 { tap.receive(try maker.make(at: start, bytes: 1 << 20)) }
        let waiting = take(queue)
        #expect(
            waiting.reduce(0) { if case .batch(let tapped) = $1.event { $0 + tapped.batch.footprint } else { $0 } } <= 4
                << 20)
        #expect(queue.drops.packets + UInt64(count(waiting)) == 10 && count(waiting) >= 1)
    }

    /// The picture of a reader does not go on in the middle of a group.
    @Test(arguments: [TapQueue.Overflow.refuse, .skip]) func videoResumesAtAKeyFrame(_ overflow: TapQueue.Overflow)
        throws
    {
        let queue = TapQueue(limits: .init(duration: .seconds(5), overflow: overflow))
        let (video, sound) = (
            queue.makeTap(id: 1, resumesAtKeyFrame: true, at: start), queue.makeTap(id: 2, at: start)
        )
        for second in 0...7 {
            video.receive(try maker.make(at: start + .seconds(second), isKeyFrame: second == 0))
            sound.receive(try maker.make(at: start + .seconds(second)))
        }
        let expected: [TapQueue.Overflow: [String]] = [
            .refuse: ["b1", "b2", "b1", "b2", "b1", "b2", "b1", "b2", "b1", "b2", "b1", "b2", "g1", "g2"],
            .skip: ["g1", "g2", "b2", "b2"],
        ]
        #expect(letters(take(queue)) == expected[overflow])
        // Nothing of the rest of the group, but a reminder each two seconds, so that the consumer asks again.
        for tenth in 0..<60 { video.receive(try maker.make(at: start + .milliseconds(8_000 + 100 * tenth))) }
        let reminders = letters(take(queue))
        #expect(reminders == ["g1"])
        video.receive(try maker.make(at: start + .seconds(15)))
        sound.receive(try maker.make(at: start + .seconds(15)))
        #expect(letters(take(queue)).filter { $0 == "b1" }.isEmpty)
        video.receive(try maker.make(at: start + .seconds(16), isKeyFrame: true))
        video.receive(try maker.make(at: start + .seconds(17)))
        #expect(letters(take(queue)) == ["b1", "b1"])
    }

    @Test func aRestartEndsTheWaitForAKeyFrame() throws {
        let queue = TapQueue(limits: .init(duration: .seconds(1), overflow: .refuse))
        let video = queue.makeTap(id: 1, resumesAtKeyFrame: true, at: start)
        for second in 0...3 { video.receive(try maker.make(at: start + .seconds(second), isKeyFrame: second == 0)) }
        video.trackRestarted()
        #expect(letters(take(queue)) == ["b1", "b1", "g1", "r1"])
        video.receive(try maker.make(at: start + .seconds(5)))
        #expect(letters(take(queue)) == ["b1"])
    }

    /// What a ring holds comes all at once and is old. The bound is for what comes after it.
    @Test func theBoundIsNotForWhatComesOutOfTheRing() throws {
        let queue = TapQueue(
            limits: .init(duration: .milliseconds(500), startDuration: .seconds(2), overflow: .skip))
        let tap = queue.makeTap(id: 1, at: start)
        // A minute of pre-roll.
        for second in -60..<0 { tap.receive(try maker.make(at: start + .seconds(second))) }
        for number in 0..<19 { tap.receive(try maker.make(at: start + .milliseconds(100 * number))) }
        #expect(count(take(queue)) == 79 && queue.drops == TapQueue.Drops())
        for number in 19..<40 { tap.receive(try maker.make(at: start + .milliseconds(100 * number))) }
        #expect(queue.drops.packets > 0)
        let slow = queue.makeTap(id: 2, at: start + .seconds(10))
        _ = take(queue)
        for second in -60..<0 { slow.receive(try maker.make(at: start + .seconds(10 + second))) }
        let before = queue.drops.packets
        for number in 0..<25 { slow.receive(try maker.make(at: start + .milliseconds(10_000 + 100 * number))) }
        #expect(queue.drops.packets > before)
    }

    @Test func oneWakeUpUntilTheConsumerLooks() throws {
        let wakes = Locked(0)
        let queue = TapQueue(limits: .init(duration: .seconds(5), overflow: .refuse)) { wakes.withLock { $0 += 1 } }
        let tap = queue.makeTap(at: start)
        for _ in 0..<10 { tap.receive(try maker.make(at: start)) }
        tap.trackRestarted()
        #expect(wakes.withLock { $0 } == 1)
        _ = take(queue)
        #expect(wakes.withLock { $0 } == 1)
        tap.trackEnded()
        #expect(wakes.withLock { $0 } == 2)
        queue.close()
        tap.receive(try maker.make(at: start))
        var entries: [TapQueue.Entry] = []
        let isOpen = queue.take(into: &entries)
        #expect(!isOpen && entries.isEmpty && wakes.withLock { $0 } == 3)
    }

    @Test func aSteadyStreamUsesItsBatchesAgain() throws {
        let queue = TapQueue(limits: .init(duration: .seconds(5), overflow: .refuse))
        let tap = queue.makeTap(at: start)
        var seen: Set<ObjectIdentifier> = []
        var entries: [TapQueue.Entry] = []
        for number in 0..<1_000 {
            let tapped = try maker.make(at: start + .milliseconds(number))
            seen.insert(ObjectIdentifier(tapped.batch))
            tap.receive(tapped)
            _ = queue.take(into: &entries)
            #expect(count(entries) == 1)
        }
        #expect(seen.count <= 3)
    }

    /// Producers on several threads and one consumer: everything arrives in order, or is counted.
    @Test func producersAndTheConsumerRunAtTheSameTime() async throws {
        let (news, continuation) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        let queue = TapQueue(limits: .init(duration: .seconds(60), bytes: 1 << 20, overflow: .refuse)) {
            continuation.yield()
        }
        let each = 5_000
        let (start, producers) = (start, 4)
        let consumer = Task {
            var entries: [TapQueue.Entry] = []
            var found: [UInt64: [Int64]] = [:]
            var ended = 0
            for await _ in news {
                _ = queue.take(into: &entries)
                for entry in entries {
                    switch entry.event {
                    case .batch(let tapped): found[entry.tap.id, default: []].append(tapped.firstSequence)
                    case .ended: ended += 1
                    default: break
                    }
                }
                if ended == producers { break }
            }
            return found
        }
        await withTaskGroup(of: Void.self) { group in
            for number in 0..<producers {
                let tap = queue.makeTap(id: UInt64(number), at: start)
                group.addTask {
                    let maker = Batches()
                    for count in 0..<each {
                        guard let batch = try? maker.make(at: start + .milliseconds(count)) else { continue }
                        tap.receive(batch)
                        if count.isMultiple(of: 64) { await Task.yield() }
                    }
                    tap.trackEnded()
                }
            }
        }
        let found = await consumer.value
        #expect(found.values.allSatisfy { zip($0, $0.dropFirst()).allSatisfy { $0 < $1 } })
        let taken = found.values.reduce(0) { $0 + $1.count }
        #expect(UInt64(taken) + queue.drops.packets == UInt64(producers * each))
    }
}
