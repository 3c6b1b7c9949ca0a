import HomeTypes

/// Follows the changes of a home through lost connections. It then continues after the last event, so that nothing is
/// missed and nothing comes twice.
public struct EventFollower: Sendable {
    /// What a follower reports.
    public enum Report: Sendable, Hashable {
        /// The event stream is open.
        case connected
        /// A state or a change.
        case update(EventFeed.Update)
        /// The connection is lost; the next attempt follows.
        case interrupted(HomeError)
    }

    /// Reads one stream after a cursor until it ends.
    typealias Reading =
        @Sendable (
            _ cursor: String?, _ onOpen: () -> Void, _ onItem: (EventStreamReader.Item) -> Void
        ) async throws(HomeError) -> Void

    private let address: String
    private let read: Reading
    private let now: @Sendable () -> ContinuousClock.Instant
    private var feed: EventFeed
    private var backOff: BackOff

    /// How long a gateway may be away; nil for as long as it takes.
    public var patience: Duration?

    /// The cursor after the last event that was reported.
    public var cursor: String? { feed.cursor }

    /// Describes what to follow.
    /// - Parameters:
    ///   - cursor: the id of the last event that was read; nil to begin with the current state.
    ///   - patience: how long a gateway may be away; nil for as long as it takes.
    ///   - backOff: the waits between attempts.
    public init(
        _ connection: GatewayConnection, after cursor: String? = nil, patience: Duration?, backOff: BackOff = BackOff()
    ) {
        self.init(
            address: connection.address, after: cursor, patience: patience, backOff: backOff,
            now: { ContinuousClock.now },
            read: { (cursor, onOpen, onItem) async throws(HomeError) in
                try await connection.events(after: cursor, onOpen: onOpen, onItem: onItem)
            })
    }

    /// Describes what to follow, with the source of streams and of the time.
    init(
        address: String, after cursor: String?, patience: Duration?, backOff: BackOff,
        now: @escaping @Sendable () -> ContinuousClock.Instant, read: @escaping Reading
    ) {
        self.address = address
        self.patience = patience
        self.backOff = backOff
        self.now = now
        self.read = read
        feed = EventFeed(after: cursor)
    }

    /// Follows until the gateway has been away for too long, or refuses.
    /// - Parameter receive: called for each report, in order. It must not wait.
    /// - Throws: `unavailable` when the gateway was away for longer than the patience; what it answers if it refuses
    ///   the token; `cancelled` when the task is cancelled.
    public mutating func run(_ receive: (Report) -> Void) async throws(HomeError) {
        // When the gateway was last reached.
        var presence = now()
        while true {
            var isOpen = false
            let failure: HomeError
            do throws(HomeError) {
                feed.open()
                try await read(
                    feed.cursor,
                    {
                        isOpen = true
                        receive(.connected)
                    },
                    { item in
                        backOff.reset()
                        for update in feed.receive(item) { receive(.update(update)) }
                    })
                failure = .unavailable("the gateway at \(address) has ended the event stream")
            } catch {
                failure = error
            }
            // The gateway's absence begins when the connection is lost, not with the last heartbeat before that.
            if isOpen { presence = now() }
            if Task.isCancelled { throw .cancelled("the event stream was cancelled") }
            for update in feed.close() { receive(.update(update)) }
            // 429: other clients hold all connections, which does not last.
            guard failure.code == .unavailable || failure.code == .resourceExhausted else { throw failure }
            receive(.interrupted(failure))
            let wait = backOff.wait()
            if let patience, presence.duration(to: now()) + wait > patience { throw failure }
            do {
                try await Task.sleep(for: wait)
            } catch {
                throw .cancelled("the event stream was cancelled")
            }
        }
    }
}
