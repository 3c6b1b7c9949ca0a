import Transport

/// Notices that a peer reports nothing of what it is sent: nobody can know then what its path carries.
///
/// RFC 8083, section 4.1, ends such a session after three of the intervals of RFC 3550, of which one is about 5 seconds. Here
/// the peer has asked for its stream and consents to it again and again (RFC 7675), so it gets a little of it instead. The time
/// is longer, because some peers report late and seldom.
struct ReportWatch: Sendable {
    /// What a silent peer gets, in bits a second: a small picture, and sound.
    static let rate = 500_000.0
    /// How long a peer may report nothing: a multiple of the longest time between two of its reports, and the bounds of that.
    private static let patience = (multiple: 3, least: Duration.seconds(30), most: Duration.seconds(180))

    /// When the peer reported something last, or when it began to get something.
    private var since: Instant?
    private var longestPause = Duration.zero
    private var sentBytes: UInt64 = 0
    /// Whether the peer has reported nothing for too long.
    private(set) var isSilent = false

    /// The peer has reported what it gets.
    mutating func recordReport(at now: Instant) {
        if let since { longestPause = max(longestPause, now - since) }
        since = now
        isSilent = false
    }

    /// Some time has passed.
    /// - Parameter sent: the bytes that were sent to the peer so far.
    mutating func recordTime(sent: UInt64, at now: Instant) {
        // There is nothing to report on while nothing is sent.
        if sent == sentBytes { since = nil }
        sentBytes = sent
        guard let since else {
            self.since = now
            return
        }
        let patience = min(max(longestPause * Self.patience.multiple, Self.patience.least), Self.patience.most)
        isSilent = now - since >= patience
    }
}
