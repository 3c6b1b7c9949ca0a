import Transport

/// Decides when a camera that failed is tried again: soon and then less often while its circuit is closed, and rarely
/// once it has failed in the same way so often that another attempt is harmful or useless.
///
/// Failures are counted from the last ``succeed()``. An open circuit lets one attempt through when its time is over
/// (the half-open state of the pattern). Its success closes the circuit, the same failure opens it for twice as long,
/// and another kind of failure is counted separately. It reads no clock.
struct CircuitBreaker: Sendable {
    /// How an attempt failed, as far as that affects the next one.
    enum Failure: Int, Sendable, CaseIterable {
        /// Nothing answered, or the camera went silent: it may be back at any moment.
        case unreachable
        /// The credentials are missing or refused. Cameras lock an account after a few wrong attempts.
        case credentialsRefused
        /// The camera answers but has no media for the gateway: another URL path, another codec, or it asks for the
        /// password where that is not sent.
        case mediaRefused
    }

    /// What follows a failure.
    enum Verdict: Sendable, Equatable {
        /// The next attempt begins after a pause.
        case retry(after: Duration)
        /// The circuit is open until then, after this many failures of this kind.
        case giveUp(until: Instant, failures: Int)
    }

    /// How patient the circuit is with one kind of failure.
    struct Patience: Sendable {
        /// The first pause, in seconds. It doubles with each failure.
        var firstPause: Double
        /// The longest pause of a closed circuit, in seconds.
        var longestPause: Double
        /// The number of failures of the kind after which the circuit opens.
        var failures: Int
        /// How long it opens at first, in seconds. It doubles with each failed trial.
        var firstOpening: Double
        /// The longest opening, in seconds.
        var longestOpening: Double

        /// The patience with a kind of failure.
        static func with(_ failure: Failure) -> Patience {
            switch failure {
            case .unreachable:
                // A camera needs half a minute or more to restart, and viewers wait for it. So the pauses stay short:
                // an attempt that finds no camera costs almost nothing. This lasts for half an hour. After that a
                // camera that comes back is found within five minutes.
                Patience(firstPause: 0.5, longestPause: 4, failures: 450, firstOpening: 120, longestOpening: 270)
            case .credentialsRefused:
                // After the third wrong password the gateway waits for a quarter of an hour: cameras allow from 5 to
                // 10.
                Patience(firstPause: 30, longestPause: 300, failures: 3, firstOpening: 900, longestOpening: 3600)
            case .mediaRefused:
                // A camera that has just started may refuse its description for a minute or two.
                Patience(firstPause: 0.5, longestPause: 30, failures: 10, firstOpening: 300, longestOpening: 1800)
            }
        }
    }

    /// Failures of any kind since the last success.
    private(set) var failures = 0
    /// Until when the circuit is open; nil while it is closed. When the time is over, a trial is due.
    private(set) var openUntil: Instant?
    private var counts = [Int](repeating: 0, count: Failure.allCases.count)

    /// Records a failed attempt.
    mutating func fail(_ failure: Failure, at now: Instant, random: inout RandomSource) -> Verdict {
        let patience = Patience.with(failure)
        failures += 1
        counts[failure.rawValue] += 1
        let count = counts[failure.rawValue]
        guard count >= patience.failures else {
            openUntil = nil
            let base = Self.doubled(patience.firstPause, failures - 1, limit: patience.longestPause)
            // Between half and one and a half times the pause: after a power cut all cameras and gateways come back at
            // once.
            return .retry(after: Self.seconds(base * Double.random(in: 0.5..<1.5, using: &random)))
        }
        let base = Self.doubled(patience.firstOpening, count - patience.failures, limit: patience.longestOpening)
        let end = now + Self.seconds(base * Double.random(in: 0.9..<1.1, using: &random))
        openUntil = end
        return .giveUp(until: end, failures: count)
    }

    /// The camera worked: closes the circuit, and the next failure is treated as the first.
    mutating func succeed() { self = CircuitBreaker() }

    private static func doubled(_ first: Double, _ times: Int, limit: Double) -> Double {
        min(limit, first * Double(1 << max(0, min(times, 20))))
    }

    private static func seconds(_ seconds: Double) -> Duration { .milliseconds(Int64(seconds * 1000)) }
}
