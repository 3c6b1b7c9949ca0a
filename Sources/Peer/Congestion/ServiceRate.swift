import Transport

/// What the path carries, by packets that had to wait on it: while there is a queue, they arrive as fast as the path takes
/// them. The queue behind a large key frame is enough, so this is often known before the path is too slow.
struct ServiceRate: Sendable {
    /// How long a packet must have waited, in milliseconds.
    private static let leastWait = 12.0
    /// A pause that is longer is not the path's, in units of 250 µs.
    private static let longestPause: Int64 = 800
    /// So much time with a queue counts, and makes a rate, in units of 250 µs.
    private static let memory = (most: 1_600.0, least: 400.0)

    private var bytes = 0.0
    private var time = 0.0
    private var last: Int64?

    /// Counts a packet that arrived at `arrival`, in units of 250 µs, after waiting for `wait` milliseconds.
    mutating func record(bytes count: Int, arrival: Int64, wait: Double) {
        defer { last = max(last ?? arrival, arrival) }
        guard let last, wait >= Self.leastWait, arrival >= last, arrival - last <= Self.longestPause else { return }
        bytes += Double(count)
        time += Double(arrival - last)
        guard time > Self.memory.most else { return }
        bytes *= Self.memory.most / time
        time = Self.memory.most
    }

    /// Bits a second; nil while too few packets had to wait.
    var bitsPerSecond: Double? { time >= Self.memory.least ? bytes * 8 * 4_000 / time : nil }

    /// The path may have changed.
    mutating func removeAll() { self = ServiceRate() }
}
