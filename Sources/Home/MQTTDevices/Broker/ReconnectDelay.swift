import Transport

/// How long to wait before the next attempt to connect: longer with each failure, and never the same for two gateways.
struct ReconnectDelay: Sendable {
    private static let shortest = 0.5
    private static let longest = 60.0

    private var failures = 0

    /// The wait after one more failure: half to all of a time that doubles from 0.5 s to a minute.
    mutating func next(_ random: inout RandomSource) -> Duration {
        let full = min(Self.shortest * Double(1 << min(failures, 16)), Self.longest)
        failures += 1
        return .seconds(full * Double.random(in: 0.5...1, using: &random))
    }

    /// A connection has lasted, so the next failure is the first one.
    mutating func reset() { failures = 0 }
}
