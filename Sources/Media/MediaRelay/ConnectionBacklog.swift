import Transport

/// How many bytes may wait for a connection before media is kept back: what it takes in a fifth of a second.
///
/// What waits in a queue is delay for the viewer, and nothing takes it back. A bound in bytes alone is either seconds of a
/// slow path or too little for a fast one, so the bound follows the rate at which the connection takes bytes. The rate shows
/// only while something waits.
struct ConnectionBacklog: Sendable {
    /// How long a byte may wait here. What the kernel holds comes on top of it.
    static let delay = Duration.milliseconds(200)
    /// The time over which the rate is measured: the kernel takes bytes in portions.
    private static let window = Duration.milliseconds(100)
    /// The limit before anything is known, and the least one: a path too slow for it is too slow for any picture.
    static let first = 64 << 10
    static let least = 8 << 10

    private let most: Int
    /// From how many waiting bytes on media is kept back.
    private(set) var limit: Int
    private var windowStart: Instant?
    private var takenInWindow = 0
    /// Bytes per second.
    private var rate: Double?

    /// Nothing is known of the connection.
    /// - Parameter most: the largest limit.
    init(most: Int) {
        self.most = most
        limit = min(Self.first, most)
    }

    /// Takes what came of writing to the connection.
    /// - Parameters:
    ///   - taken: how many bytes it has taken.
    ///   - waiting: how many bytes still wait.
    mutating func record(taken: Int, waiting: Int, at now: Instant) {
        guard waiting > 0 else {
            windowStart = nil
            // Only a burst shows that the path is faster than the limit says. Sound alone always finds room.
            if taken >= limit / 2 { limit = min(limit * 2, most) }
            return
        }
        guard let start = windowStart else {
            // What it took just now went into the kernel's memory, which was empty.
            windowStart = now
            takenInWindow = 0
            return
        }
        takenInWindow += taken
        let elapsed = now - start
        guard elapsed >= Self.window else { return }
        let sample = Double(takenInWindow) / elapsed.inSeconds
        let smoothed = rate.map { ($0 + sample) / 2 } ?? sample
        rate = smoothed
        limit = min(max(Int(smoothed * Self.delay.inSeconds), Self.least), most)
        windowStart = now
        takenInWindow = 0
    }
}
