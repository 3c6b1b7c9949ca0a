import HomeTypes
import Transport

/// Limits the notifications that people try: the gateway sends them to another host, when somebody says so. A value without a
/// clock: the caller hands in the time.
struct PushTrials: Sendable {
    /// How many one principal may try in a period.
    static let most = 4
    /// The period.
    static let period = Duration.seconds(60)

    /// Who waits for the answer of a service.
    private var running: Set<String> = []
    /// When each principal has tried.
    private var begun: [String: [Instant]] = [:]

    /// Records that a principal begins to try one. Whoever may do so calls ``end(for:)`` when it is done.
    /// - Throws: `resourceExhausted` while another one of the principal runs, and after too many of them.
    mutating func begin(for principal: String, at now: Instant) throws(HomeError) {
        begun = begun.compactMapValues { times in
            let recent = times.filter { now - $0 < Self.period }
            return recent.isEmpty ? nil : recent
        }
        guard !running.contains(principal) else {
            throw .resourceExhausted("a test notification is already being sent; wait until it is done")
        }
        guard begun[principal, default: []].count < Self.most else {
            throw .resourceExhausted("\(Self.most) notifications were tried within a minute; try again in a minute")
        }
        running.insert(principal)
        begun[principal, default: []].append(now)
    }

    /// Notes the end of a trial.
    mutating func end(for principal: String) { running.remove(principal) }
}
