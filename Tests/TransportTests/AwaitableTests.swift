import Testing
import Transport

/// Waits that end with their condition, with their time, or because their task is cancelled.
@Suite(.timeLimit(.minutes(10))) struct AwaitableTests {
    private static let hour = Duration.seconds(3_600)

    /// Lets other tasks run until so many of them wait for the value. The suite's time limit cancels it.
    private static func isAwaited<Value: Sendable>(_ value: Awaitable<Value>, by count: Int) async -> Bool {
        while value.waitCount != count, !Task.isCancelled { await Task.yield() }
        return value.waitCount == count
    }

    @Test func `a condition that is met already ends a wait at once`() async {
        let flag = Awaitable(true)
        #expect(await flag.wait(atMost: .zero) { $0 })
        #expect(await flag.wait(atMost: Self.hour) { $0 })
        #expect(flag.waitCount == 0)
    }

    @Test func `a change ends the waits whose conditions it meets, and no other`() async {
        let count = Awaitable(0)
        let waits = (1...3).map { goal in
            Task { await count.wait(atMost: Self.hour) { $0 >= goal } }
        }
        #expect(await Self.isAwaited(count, by: 3))
        count.withLock { $0 = 2 }
        #expect(count.waitCount == 1)
        #expect(await waits[0].value)
        #expect(await waits[1].value)
        let now = count.withLock { count in
            count += 1
            return count
        }
        #expect(now == 3)
        #expect(await waits[2].value)
        #expect(count.waitCount == 0)
    }

    @Test func `a condition that was met for a moment has ended the wait`() async {
        let flag = Awaitable(false)
        let wait = Task { await flag.wait(atMost: Self.hour) { $0 } }
        #expect(await Self.isAwaited(flag, by: 1))
        flag.withLock { $0 = true }
        flag.withLock { $0 = false }
        #expect(await wait.value)
    }

    @Test func `a wait is over after its time, and a later one can succeed`() async {
        let flag = Awaitable(false)
        for patience: Duration in [.seconds(-1), .zero, .nanoseconds(1), .milliseconds(1)] {
            #expect(await !flag.wait(atMost: patience) { $0 })
            #expect(flag.waitCount == 0)
        }
        let wait = Task { await flag.wait(atMost: Self.hour) { $0 } }
        #expect(await Self.isAwaited(flag, by: 1))
        flag.withLock { $0 = true }
        #expect(await wait.value)
    }

    @Test func `a task that is cancelled already does not wait`() async {
        let (never, flag, isSet) = (Awaitable(false), Awaitable(false), Awaitable(true))
        let task = Task {
            // Only the cancellation ends this wait, so the others begin after it.
            let first = await never.wait(atMost: Self.hour) { $0 }
            let second = await flag.wait(atMost: Self.hour) { $0 }
            let third = await isSet.wait(atMost: Self.hour) { $0 }
            return [first, second, third]
        }
        task.cancel()
        #expect(await task.value == [false, false, true])
        #expect(never.waitCount == 0 && flag.waitCount == 0)
    }

    @Test func `the cancellation of a task ends its wait, and no other`() async {
        let flag = Awaitable(false)
        let waits = (0..<2).map { _ in
            Task { await flag.wait(atMost: Self.hour) { $0 } }
        }
        #expect(await Self.isAwaited(flag, by: 2))
        waits[0].cancel()
        #expect(await !waits[0].value)
        #expect(flag.waitCount == 1)
        flag.withLock { $0 = true }
        #expect(await waits[1].value)
        #expect(flag.waitCount == 0)
    }

    @Test func `many waits that end in all ways at the same time end once each`() async {
        let count = Awaitable(0)
        let met = (1...100).map { goal in
            Task { await count.wait(atMost: Self.hour) { $0 >= goal } }
        }
        let late = (1...100).map { time in
            Task { await count.wait(atMost: .microseconds(time)) { $0 < 0 } }
        }
        let cancelled = (1...100).map { _ in
            Task { await count.wait(atMost: Self.hour) { $0 < 0 } }
        }
        let changes = (1...100).map { _ in
            Task { count.withLock { $0 += 1 } }
        }
        for task in cancelled { task.cancel() }
        for task in met { #expect(await task.value) }
        for task in late + cancelled { #expect(await !task.value) }
        for task in changes { await task.value }
        #expect(count.waitCount == 0)
    }

    @Test func `a wait ends once when its condition, its time and a cancellation come together`() async {
        for round in 0..<500 {
            let flag = Awaitable(false)
            let wait = Task { await flag.wait(atMost: .microseconds(round)) { $0 } }
            let change = Task { flag.withLock { $0 = true } }
            if round.isMultiple(of: 2) { wait.cancel() }
            _ = await wait.value
            await change.value
            #expect(flag.waitCount == 0)
        }
    }
}
