import Transport

/// Which gateway this is, and which of its runs. The home's store says so, and it is opened after the first line of the
/// log.
public final class GatewayIdentity: Sendable {
    /// The gateway's identifier, and the number of its starts.
    public struct Run: Sendable, Equatable {
        public var gateway: String
        public var incarnation: Int64
    }

    private let state = Locked<Run?>(nil)

    /// Not known yet.
    public init() {}

    /// The run; nil before the store is open.
    public var run: Run? { state.withLock { $0 } }

    /// It is known from now on.
    func use(_ run: Run) { state.withLock { $0 = run } }
}
