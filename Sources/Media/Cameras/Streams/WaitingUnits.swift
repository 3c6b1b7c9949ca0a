import StreamFormats
import Transport

/// The beginning of a stream, which is kept while it is not clear which tracks the stream has.
public struct WaitingUnits: Sendable {
    private var units: [StreamUnit] = []
    /// About the memory that they take.
    private var byteCount = 0
    private var since: Instant?

    /// So much of the stream is kept.
    private static let patience = StreamUnit.clockRate
    private static let maximumBytes = 8 << 20
    /// Far more than come in that time, where the times stand still.
    private static let maximumCount = 2000
    private static let maximumWait = Duration.seconds(3)

    /// Nothing has come.
    public init() {}

    /// Adds a unit.
    /// - Parameter awaitsTracks: whether more tracks are expected.
    /// - Returns: whether the wait is over.
    public mutating func add(_ unit: StreamUnit, awaitsTracks: Bool, at now: Instant) -> Bool {
        units.append(unit)
        byteCount += unit.footprint
        let first = units.first?.decoding ?? unit.decoding
        let since = since ?? now
        self.since = since
        return !awaitsTracks || abs(unit.decoding &- first) >= Self.patience || byteCount >= Self.maximumBytes
            || units.count >= Self.maximumCount || now - since >= Self.maximumWait
    }

    /// Takes what has come, in its order.
    public mutating func take() -> [StreamUnit] {
        defer { self = WaitingUnits() }
        return units
    }
}
