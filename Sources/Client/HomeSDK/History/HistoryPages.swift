import GatewayClient
import HomeTypes

/// A page of a history.
public struct HistoryPage: Sendable, Hashable {
    /// The items, newest first.
    public var items: [HistoryItem]
}

/// The pages of a query, newest items first. What happens while they are read appears on none of them.
public struct HistoryPages: AsyncSequence, Sendable {
    public typealias Element = HistoryPage
    public typealias Failure = HomeError

    let model: HomeModel
    let path: String
    /// Whether the filters leave nothing.
    let isEmpty: Bool

    /// Reads the pages one by one. It is a reference, so it can be kept in a constant.
    public actor AsyncIterator: AsyncIteratorProtocol {
        public typealias Element = HistoryPage
        public typealias Failure = HomeError

        private let model: HomeModel
        private let path: String
        private var cursor: String?
        private var isAtEnd: Bool
        private var isReading = false
        /// The callers that wait for their turn, in order.
        private var waiting: [CheckedContinuation<Void, Never>] = []

        init(_ pages: HistoryPages) {
            model = pages.model
            path = pages.path
            isAtEnd = pages.isEmpty
        }

        /// The next page; nil after the last one. After an error the same page can be asked for again. Two callers at the same
        /// time get two pages, one after the other. A task that is cancelled while it waits for its turn returns at its turn.
        public func next() async throws(HomeError) -> HistoryPage? {
            // While a call waits for its page, the actor serves others, which must not ask for the same page.
            await takeTurn()
            defer { passTurn() }
            guard !isAtEnd else { return nil }
            let place = cursor.map { "&cursor=\(GatewayConnection.segment($0))" } ?? ""
            let answer = try await model.history(HistoryRecordPage.self, path + place)
            cursor = answer.cursor
            isAtEnd = answer.cursor == nil
            let home = model.current
            return HistoryPage(
                items: answer.items.map { HistoryItem(model, $0, device: home?.devices[$0.deviceID]) })
        }

        private func takeTurn() async {
            guard isReading else {
                isReading = true
                return
            }
            await withCheckedContinuation { waiting.append($0) }
        }

        private func passTurn() {
            if waiting.isEmpty { isReading = false } else { waiting.removeFirst().resume() }
        }
    }

    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(self) }
}
