import Foundation
import HomeTypes
import Transport

/// The results of commands that carried an idempotency key. A repetition gets the first result and has no effect of its
/// own.
///
/// Bounded in time and in number. If there are too many, the principal with the most results loses its oldest, so a
/// principal pushes out only its own. Pure: the time is passed in.
struct CommandResults {
    /// Names a command and its repetitions.
    struct Key: Hashable {
        let principal: String
        let deviceID: String
        var endpoint: UInt16?
        let trait: String
        let command: String
        let idempotencyKey: String
    }

    /// What becomes of a command.
    typealias Outcome = Task<Result<Data, HomeError>, Never>

    private struct Entry {
        /// The fingerprint of the command's parameters.
        let parameters: Int
        let outcome: Outcome
        /// When the command was applied; nil while it runs.
        var end: Instant?
    }

    /// How long a result is kept.
    static let lifetime: Duration = .seconds(600)
    /// How many results are kept, including commands that are running.
    static let capacity = 512
    /// The longest key, in bytes.
    static let longestKey = 255

    private var entries: [Key: Entry] = [:]
    /// Each principal's keys, oldest first.
    private var order: [String: [Key]] = [:]

    /// How many results there are.
    var count: Int { entries.count }

    /// The command that a key has named before.
    /// - Throws: `invalidArgument` if that command had other parameters.
    func outcome(of key: Key, parameters: Data, at now: Instant) throws(HomeError) -> Outcome? {
        guard let entry = entries[key], entry.end.map({ now - $0 < Self.lifetime }) ?? true else { return nil }
        guard entry.parameters == Self.fingerprint(parameters) else {
            throw HomeError.invalidArgument(
                "this Idempotency-Key was sent with other parameters before; use a new key for another command")
        }
        return entry.outcome
    }

    /// Makes room for one more command.
    /// - Throws: `resourceExhausted` if all places are taken by commands that are running.
    mutating func makeRoom(at now: Instant) throws(HomeError) {
        for principal in Array(order.keys) {
            while let oldest = order[principal]?.first, let end = entries[oldest]?.end,
                now - end >= Self.lifetime
            {
                remove(oldest)
            }
        }
        guard entries.count >= Self.capacity else { return }
        for keys in order.values.sorted(by: { $0.count > $1.count }) {
            guard let oldest = keys.first(where: { entries[$0]?.end != nil }) else { continue }
            remove(oldest)
            return
        }
        throw HomeError.resourceExhausted(
            "\(entries.count) commands with an Idempotency-Key are running; try again later")
    }

    /// Adds a command that is running.
    mutating func add(_ key: Key, parameters: Data, _ outcome: Outcome) {
        remove(key)
        entries[key] = Entry(parameters: Self.fingerprint(parameters), outcome: outcome)
        order[key.principal, default: []].append(key)
    }

    /// Records the end of a command. A command that failed had no effect, so its repetition is applied.
    mutating func end(_ key: Key, hasSucceeded: Bool, at now: Instant) {
        if hasSucceeded { entries[key]?.end = now } else { remove(key) }
    }

    private mutating func remove(_ key: Key) {
        guard entries.removeValue(forKey: key) != nil else { return }
        order[key.principal]?.removeAll { $0 == key }
        if order[key.principal]?.isEmpty == true { order[key.principal] = nil }
    }

    /// The hash is seeded at random, so nobody can construct two parameters with one fingerprint.
    private static func fingerprint(_ parameters: Data) -> Int {
        var hasher = Hasher()
        hasher.combine(parameters)
        return hasher.finalize()
    }
}
