import Transport

/// What waits for a reader who takes everything at once.
final class Mailbox<Element: Sendable>: Sendable {
    private let waiting = Locked<[Element]>([])
    private let signal: AsyncStream<Void>.Continuation
    /// Yields after something was added, once for any number of elements that nobody has taken yet.
    let arrivals: AsyncStream<Void>

    /// Nothing waits.
    init() { (arrivals, signal) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1)) }

    /// Adds an element behind all others.
    func add(_ element: Element) {
        waiting.withLock { $0.append(element) }
        signal.yield()
    }

    /// Everything that waits, in its order.
    func takeAll() -> [Element] {
        waiting.withLock { elements in
            defer { elements = [] }
            return elements
        }
    }
}
