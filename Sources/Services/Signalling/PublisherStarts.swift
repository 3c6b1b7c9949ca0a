import Transport

/// When publishers of each camera have begun, and how often they may. Each beginning starts the camera's tracks again and is
/// logged. Two programs that come back whenever they are replaced, or one that fails as soon as it has begun, would otherwise
/// keep the gateway busy with nothing but that.
struct PublisherStarts {
    private struct Start {
        let time: Instant
        let tookOver: Bool
    }

    /// The least time between two publishers that take the same camera over.
    static let takeoverInterval = Duration.seconds(1)
    /// The most beginnings within ``window``.
    static let most = 10
    static let window = Duration.seconds(10)

    private var recent: [String: [Start]] = [:]

    /// Records that a publisher begins now, unless others have just done so.
    /// - Parameter takesOver: whether it replaces another one.
    /// - Returns: how long to wait before asking again; nil if it may begin.
    mutating func begin(_ device: String, takesOver: Bool, at now: Instant) -> Duration? {
        // Only what still counts is kept.
        recent = recent.compactMapValues { starts in
            let kept = starts.filter { now - $0.time < Self.window }
            return kept.isEmpty ? nil : kept
        }
        let starts = recent[device] ?? []
        if takesOver, let last = starts.last(where: \.tookOver), now - last.time < Self.takeoverInterval {
            return Self.takeoverInterval - (now - last.time)
        }
        if starts.count >= Self.most { return Self.window - (now - starts[0].time) }
        recent[device] = starts + [Start(time: now, tookOver: takesOver)]
        return nil
    }
}
