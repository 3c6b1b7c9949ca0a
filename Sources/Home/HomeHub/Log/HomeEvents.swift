/// The changes in the home for one watcher, one after the other.
public struct HomeEvents: AsyncSequence, Sendable {
    public typealias Element = HomeEvent
    public typealias Failure = Never

    /// What comes before the changes: the current state, and a notice of what is missing.
    let initial: [HomeEvent]
    let reader: ChangeReader

    /// Reads one stream of changes.
    public struct Iterator: AsyncIteratorProtocol {
        private var ready: [HomeEvent]
        private var index = 0
        private let reader: ChangeReader

        init(_ events: HomeEvents) {
            self.ready = events.initial
            self.reader = events.reader
        }

        public mutating func next() async -> HomeEvent? {
            while index == ready.count {
                guard let events = await reader.next() else { return nil }
                (ready, index) = (events, 0)
            }
            defer { index += 1 }
            return ready[index]
        }
    }

    public func makeAsyncIterator() -> Iterator { Iterator(self) }

    /// The same changes, as many together as are ready.
    public var batches: Batches { Batches(events: self) }

    /// The changes, as many together as are ready. No batch is empty.
    public struct Batches: AsyncSequence, Sendable {
        public typealias Element = [HomeEvent]
        public typealias Failure = Never

        fileprivate let events: HomeEvents

        /// Reads one stream of changes.
        public struct Iterator: AsyncIteratorProtocol {
            fileprivate var initial: [HomeEvent]
            fileprivate let reader: ChangeReader

            public mutating func next() async -> [HomeEvent]? {
                guard initial.isEmpty else {
                    defer { initial = [] }
                    return initial
                }
                return await reader.next()
            }
        }

        public func makeAsyncIterator() -> Iterator { Iterator(initial: events.initial, reader: events.reader) }
    }
}
