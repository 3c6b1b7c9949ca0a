public import DatagramPort
import Logging
import Transport

/// What all listeners share against clients that would take everything: who is connected, and who was refused.
public struct ConnectionGuard: Sendable {
    /// The connections of all listeners.
    public let connections: ConnectionLedger
    /// The sign-ins that were refused.
    public let refusals: SignInRefusals
    /// Whose request over HTTP and HTTPS is next among clients without a sign-in.
    let turns = RequestTurns()
    /// The connections over HTTP and HTTPS that are starting.
    let starts = ConnectionStarts()

    public init(connections: ConnectionLedger = ConnectionLedger(), refusals: SignInRefusals = SignInRefusals()) {
        self.connections = connections
        self.refusals = refusals
    }

    /// The metrics for Prometheus.
    func families() -> [MetricFamily] {
        let counts = connections.counts
        func family(_ name: String, _ help: String, _ kind: MetricFamily.Kind, _ value: Double) -> MetricFamily {
            MetricFamily(name: name, help: help, kind: kind, samples: [.init(value)])
        }
        return [
            family(
                "gatehouse_connections", "Connections to all listeners.", .gauge, Double(counts.connections)),
            family(
                "gatehouse_connections_signed_in", "Connections over which somebody has signed in.", .gauge,
                Double(counts.signedIn)),
            family(
                "gatehouse_connections_gave_way_total",
                "Unauthenticated connections that were closed to make room.", .counter, Double(counts.gaveWay)),
            family(
                "gatehouse_connections_refused_total",
                "Connections that were closed immediately, for lack of room.", .counter, Double(counts.refused)),
            MetricFamily(
                name: "gatehouse_refused_sign_ins_total", help: "Wrong tokens and passwords.", kind: .counter,
                samples: SignInRefusals.Door.allCases.map {
                    .init(Double(refusals.total(at: $0)), labels: [("door", $0.rawValue)])
                }),
        ]
    }
}

/// Writes the guard's counts into the log: about connections one line per minute, about sign-ins one line per minute
/// and host.
struct ConnectionReporter {
    let shared: ConnectionGuard
    let logger: Logger
    private var told: ConnectionLedger.Counts?
    private var reportedAt: UInt64 = 0

    init(shared: ConnectionGuard, logger: Logger) {
        self.shared = shared
        self.logger = logger
    }

    static let interval: UInt64 = 60

    /// - Parameter seconds: the time on any clock that only goes forward.
    mutating func report(at seconds: UInt64) {
        for line in shared.refusals.lines(at: seconds) {
            logger.warning(
                "refused sign-ins with a wrong token",
                metadata: ["address": "\(line.host)", "over": "\(line.door.rawValue)", "count": "\(line.count)"])
        }
        let counts = shared.connections.counts
        let earlier = told ?? ConnectionLedger.Counts()
        guard counts.gaveWay != earlier.gaveWay || counts.refused != earlier.refused,
            told == nil || seconds >= reportedAt + Self.interval
        else { return }
        told = counts
        reportedAt = seconds
        logger.warning(
            "too many connections; the oldest unauthenticated ones are being closed",
            metadata: [
                "address": "\(counts.lastHost?.host ?? "unknown")", "closed": "\(counts.gaveWay - earlier.gaveWay)",
                "refused": "\(counts.refused - earlier.refused)", "connections": "\(counts.connections)",
            ])
    }
}
