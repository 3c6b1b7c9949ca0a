import HomeHub

/// The runs that begin and end, for one reader. The reader has a place in the store and no queue, so a slow one costs
/// only its place.
struct RunFeed: AsyncSequence, Sendable {
    /// A run that has just begun or ended.
    struct Element: Sendable {
        /// The reader continues after it.
        var cursor: Int64
        var run: RunRecord
    }

    typealias Failure = Never

    let service: AutomationService
    let start: Int64
    /// Yields when the store has more; ends with the service.
    let signals: AsyncStream<Void>

    /// Reads one feed.
    struct Iterator: AsyncIteratorProtocol {
        private let service: AutomationService
        private var signals: AsyncStream<Void>.Iterator
        private var place: Int64
        private var ready: ArraySlice<Element> = []

        init(_ feed: RunFeed) {
            service = feed.service
            signals = feed.signals.makeAsyncIterator()
            place = feed.start
        }

        mutating func next() async -> Element? {
            while true {
                if let next = ready.popFirst() { return next }
                let page = await service.changes(after: place)
                if page.place > place {
                    place = page.place
                    ready = page.runs[...]
                } else if await signals.next() == nil {
                    return nil
                }
            }
        }
    }

    func makeAsyncIterator() -> Iterator { Iterator(self) }
}
