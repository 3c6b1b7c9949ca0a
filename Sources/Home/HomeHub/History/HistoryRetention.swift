/// How much of the history is kept.
public struct HistoryRetention: Sendable, Hashable {
    /// How long items are kept, in seconds.
    public var seconds: Double
    /// How many bytes the file may take.
    public var bytes: Int
    /// How many items there may be.
    public var items: Int

    /// Keeps items for some days.
    public init(days: Int = 30, megabytes: Int = 256, items: Int = 2_000_000) {
        self.seconds = Double(days) * 86_400
        self.bytes = megabytes * 1_000_000
        self.items = items
    }
}
