import Transport

/// What waits for a reader who takes everything at once. A writer waits for room first, so a slow reader slows down its
/// source and fills no memory.
final class Mailbox<Element: Sendable>: Sendable {
    private struct State {
        var elements: [Element] = []
        var waiting: [CheckedContinuation<Void, Never>] = []
        var isFinished = false
    }

    private let capacity: Int
    private let state = Locked(State())
    private let signal: AsyncStream<Void>.Continuation
    /// Yields after something was added, once for any number of elements that nobody has taken yet.
    let arrivals: AsyncStream<Void>

    /// Nothing waits.
    /// - Parameter capacity: how many elements may wait before ``waitForRoom()`` waits.
    init(capacity: Int = 1_024) {
        self.capacity = capacity
        (arrivals, signal) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
    }

    /// Adds an element behind all others.
    func add(_ element: Element) {
        state.withLock { if !$0.isFinished { $0.elements.append(element) } }
        signal.yield()
    }

    /// Everything that waits, in its order.
    func takeAll() -> [Element] {
        let (elements, waiting) = state.withLock { state in
            defer { (state.elements, state.waiting) = ([], []) }
            return (state.elements, state.waiting)
        }
        for continuation in waiting { continuation.resume() }
        return elements
    }

    /// Returns when there is room, or when nobody reads any more.
    func waitForRoom() async {
        await withCheckedContinuation { continuation in
            let mustWait = state.withLock { state in
                guard state.elements.count >= capacity, !state.isFinished else { return false }
                state.waiting.append(continuation)
                return true
            }
            if !mustWait { continuation.resume() }
        }
    }

    /// Nobody reads any more. What waits is dropped, and so is what comes later.
    func finish() {
        state.withLock { $0.isFinished = true }
        _ = takeAll()
    }
}
