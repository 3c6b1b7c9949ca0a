import Transport

/// Decides whether to ask a camera for its back channel, by its earlier reactions.
///
/// A camera that is slow, busy or shutting down looks like one that cannot handle the question. So one failure is not a
/// verdict, a speaker that was once described is never given up, and no verdict is permanent, since firmware changes.
struct BackChannelInquiry: Sendable {
    /// How long until a camera that failed on the question is asked again.
    static let verdictLifetime: Duration = .seconds(6 * 3600)
    /// How long a camera that has described a speaker, but now fails on the question, is not asked.
    static let rest: Duration = .seconds(600)
    /// A single time may be chance.
    private static let repetitions = 2

    private var suspicions = 0
    private var refusals = 0
    /// When the camera was asked last, or when its earlier profile was read.
    private var askedAt: Instant

    init(at now: Instant) { askedAt = now }

    /// Whether to ask a camera about which this is known.
    func mayAsk(_ known: CameraProfile.BackChannelSupport?, at now: Instant) -> Bool {
        switch known {
        case .refused, .breaksConnection: now - askedAt >= Self.verdictLifetime
        case .described, .absent, nil: suspicions < Self.repetitions || now - askedAt >= Self.rest
        }
    }

    /// Records that the question is sent.
    mutating func ask(at now: Instant) { askedAt = now }

    /// The camera did not answer the question, or ended the connection, and described itself without it directly
    /// afterwards. Returns what to record.
    mutating func suspect(
        _ known: CameraProfile.BackChannelSupport?
    ) -> CameraProfile.BackChannelSupport? {
        suspicions += 1
        return suspicions >= Self.repetitions && known != .described ? .breaksConnection : nil
    }

    /// The camera refused the question with this status, and described itself without it directly afterwards. Returns
    /// what to record.
    mutating func refuse(
        _ status: Int, _ known: CameraProfile.BackChannelSupport?
    ) -> CameraProfile.BackChannelSupport? {
        suspicions = 0
        // "Request timeout", "not enough bandwidth" and "service unavailable": a busy camera's answer says nothing
        // about its speaker.
        if [408, 453, 503].contains(status) { return nil }
        refusals += 1
        guard known != .described else { return nil }
        // 551 is "option not supported"; cameras say the same with many other codes, and use those codes for other
        // things, too.
        return status == 551 || refusals >= Self.repetitions ? .refused : nil
    }

    /// The camera answered the question.
    mutating func answer() { (suspicions, refusals) = (0, 0) }
}
