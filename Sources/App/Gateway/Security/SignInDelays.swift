import Transport

/// Makes guessing passwords slow. After some wrong ones from a host, the next attempt has to wait.
///
/// Waiting is short, and only at the host from which somebody guesses. Tokens work all the time, so nobody is locked out.
struct SignInDelays {
    private struct Key: Hashable {
        let host: SignInHost
        /// The name; nil for all names together.
        let name: String?
    }

    private struct Record {
        var attempts = 0
        var last: Instant
        /// When the next attempt is accepted.
        var open: Instant
    }

    /// How many wrong passwords of one name a host may send before it has to wait.
    static let attempts = 5
    /// How many of any names.
    static let attemptsOfAnyName = 20
    /// The first wait; it doubles with each further attempt.
    static let firstDelay = Duration.seconds(1)
    static let maximumDelay = Duration.seconds(30)
    /// A host without an attempt for this long starts again.
    static let memory = Duration.seconds(600)
    static let maximumRecords = 2048

    private var records: [Key: Record] = [:]

    /// Counts an attempt.
    /// - Parameters:
    ///   - host: the address of the client, without a scope.
    ///   - name: the name that it gives.
    /// - Returns: how long the client has to wait before the password is looked at; nil if it is looked at now.
    mutating func begin(_ host: String, _ name: String, at now: Instant) -> Duration? {
        let keys = Self.keys(host, name)
        let waits = keys.compactMap { key in records[key.key].flatMap { $0.open > now ? $0.open - now : nil } }
        if let wait = waits.max() { return wait }
        for (key, free) in keys {
            var record = records[key] ?? Record(last: now, open: now)
            if now - record.last > Self.memory { record.attempts = 0 }
            record.attempts += 1
            record.last = now
            let beyond = record.attempts - free
            if beyond >= 0 { record.open = now + min(Self.firstDelay * (1 << min(beyond, 8)), Self.maximumDelay) }
            if records.count >= Self.maximumRecords, records[key] == nil { forgetOldest() }
            records[key] = record
        }
        return nil
    }

    /// The password of the last attempt was right, so the attempts before it were slips.
    mutating func succeed(_ host: String, _ name: String) {
        for (key, _) in Self.keys(host, name) { records[key] = nil }
    }

    private static func keys(_ host: String, _ name: String) -> [(key: Key, free: Int)] {
        let host = SignInHost(host)
        // A stranger may send a name of a hundred kilobytes, and thousands of records are kept. Nobody has a longer name than
        // this beginning, so it stands for all names that begin so.
        let name = String(name.unicodeScalars.prefix(TokenRegistry.longestName + 1))
        return [(Key(host: host, name: name), attempts), (Key(host: host, name: nil), attemptsOfAnyName)]
    }

    private mutating func forgetOldest() {
        if let oldest = records.min(by: { $0.value.last < $1.value.last }) { records[oldest.key] = nil }
    }
}
