import Transport

/// How long a source waits before it tries again: longer after each failure, and never the same for two cameras.
struct ReconnectDelay {
    private var failures = 0

    /// The next wait. After refused credentials it begins at half a minute, since cameras lock an account after a few
    /// wrong attempts.
    mutating func next(afterRefusedCredentials isRefused: Bool, random: inout RandomSource) -> Duration {
        let first: Double = isRefused ? 30 : 0.5
        let longest: Double = isRefused ? 300 : 30
        let base = min(longest, first * Double(1 << min(failures, 10)))
        failures += 1
        // Between half and one and a half of it: after a power cut all cameras and gateways come back at once.
        return .milliseconds(Int64(base * 1000 * Double.random(in: 0.5..<1.5, using: &random)))
    }

    /// The source worked: the next failure is the first again.
    mutating func reset() { failures = 0 }
}
