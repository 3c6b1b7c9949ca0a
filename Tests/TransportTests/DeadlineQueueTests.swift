import Testing
import Transport

@Suite("A queue of deadlines")
struct DeadlineQueueTests {
    private func milliseconds(_ count: Int64) -> Instant { Instant(nanoseconds: count * 1_000_000) }

    @Test func `gives keys in the order of their earliest deadline`() {
        var queue = DeadlineQueue<Int>()
        var random = RandomSource.seeded(7)
        var earliest: [Int: Int64] = [:]
        for _ in 0..<2_000 {
            let key = Int(random.next() % 100)
            let time = Int64(random.next() % 1_000)
            queue.schedule(key, at: milliseconds(time))
            earliest[key] = min(earliest[key] ?? .max, time)
        }
        var found: Set<Int> = []
        for time in Int64(0)..<1_000 {
            while let key = queue.popDue(at: milliseconds(time)) {
                #expect(found.insert(key).inserted)
                #expect(earliest[key] == time)
            }
        }
        #expect(found.count == 100)
        let left = queue.popDue(at: .distantFuture)
        #expect(left == nil)
    }

    @Test func `forgets what is removed`() {
        var queue = DeadlineQueue<String>()
        queue.schedule("a", at: milliseconds(1))
        queue.remove("a")
        let due = queue.popDue(at: milliseconds(2))
        #expect(due == nil)
    }

    @Test func `deadlines that move to an earlier time do not pile up`() {
        var queue = DeadlineQueue<Int>()
        for step in Int64(0)..<20_000 {
            queue.schedule(1, at: milliseconds(step + 5_000))
            queue.schedule(1, at: milliseconds(step + 2))
            _ = queue.popDue(at: milliseconds(step + 2))
        }
        #expect(queue.entryCount < 200)
    }
}
