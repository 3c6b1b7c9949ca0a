import Transport

/// Counts refused sign-ins by host. The log then says who tries and how often in one line per minute, and not in one
/// for each attempt.
public final class SignInRefusals: Sendable {
    /// Where a sign-in was tried.
    enum Door: String, Sendable, CaseIterable {
        case http = "HTTP"
        case rtsp = "RTSP"
        case rtmp = "RTMP"
    }

    /// What to log about one host.
    struct Line: Sendable, Equatable {
        var host: String
        var door: Door
        /// How many were refused since the last line about the host.
        var count: UInt64
    }

    private struct Key: Hashable {
        let host: String
        let door: Door
    }

    private struct Record {
        var count: UInt64 = 0
        var first: UInt64
        var told: UInt64?
    }

    private struct State {
        var records: [Key: Record] = [:]
        var totals: [Door: UInt64] = [:]
        var order: UInt64 = 0
    }

    /// How many hosts are counted separately. The log counts any others together.
    static let maximumHosts = 256
    /// The name of the others together.
    static let otherHosts = "other hosts"
    /// The time between two lines about a host.
    static let interval: UInt64 = 60

    private let state = Locked(State())

    public init() {}

    /// Counts a refusal.
    func record(_ host: String, at door: Door) {
        state.withLock { state in
            state.totals[door, default: 0] &+= 1
            var key = Key(host: host, door: door)
            if state.records[key] == nil, state.records.count >= Self.maximumHosts {
                key = Key(host: Self.otherHosts, door: door)
            }
            state.order &+= 1
            state.records[key, default: Record(first: state.order)].count &+= 1
        }
    }

    /// What to log now: each host at its first refusal, and then at most once a minute.
    /// - Parameter seconds: the time on any clock that only goes forward.
    func lines(at seconds: UInt64) -> [Line] {
        state.withLock { state in
            var lines: [(order: UInt64, line: Line)] = []
            for (key, record) in state.records {
                if let told = record.told, seconds < told + Self.interval { continue }
                if record.count == 0 {
                    // No refusal for a minute, so the host's next one is logged at once.
                    state.records[key] = nil
                    continue
                }
                lines.append((record.first, Line(host: key.host, door: key.door, count: record.count)))
                state.records[key]?.count = 0
                state.records[key]?.told = seconds
            }
            return lines.sorted { $0.order < $1.order }.map(\.line)
        }
    }

    /// How many were refused so far.
    func total(at door: Door) -> UInt64 {
        state.withLock { $0.totals[door, default: 0] }
    }
}
