import Transport

/// Whether a camera is asked for its back channel, by how it took the question before.
///
/// A camera that is slow, busy or on its way down looks like one that cannot bear the question: one failure is no
/// verdict, a speaker that was once described is never given up, and no verdict is for ever, since firmware changes.
struct BackChannelInquiry: Sendable {
    /// After so long a camera that took the question badly is asked again.
    static let verdictLifetime: Duration = .seconds(6 * 3600)
    /// How long a camera that has described a speaker, and now takes the question badly, is left in peace.
    static let rest: Duration = .seconds(600)
    /// Once may be chance.
    private static let repetitions = 2

    private var suspicions = 0
    private var refusals = 0
    /// When the camera was asked last, or when what was known of it came.
    private var askedAt: Instant

    init(at now: Instant) { askedAt = now }

    /// Whether to ask a camera of which this much is known.
    func mayAsk(_ known: CameraProfile.BackChannelSupport?, at now: Instant) -> Bool {
        switch known {
        case .refused, .breaksConnection: now - askedAt >= Self.verdictLifetime
        case .described, .absent, nil: suspicions < Self.repetitions || now - askedAt >= Self.rest
        }
    }

    /// The question goes out.
    mutating func ask(at now: Instant) { askedAt = now }

    /// The camera did not answer it, or ended the connection, and described itself without it directly after. Answers
    /// what is to be learnt.
    mutating func suspect(
        _ known: CameraProfile.BackChannelSupport?
    ) -> CameraProfile.BackChannelSupport? {
        suspicions += 1
        return suspicions >= Self.repetitions && known != .described ? .breaksConnection : nil
    }

    /// The camera refused it with this status, and described itself without it directly after. Answers what is to be
    /// learnt.
    mutating func refuse(
        _ status: Int, _ known: CameraProfile.BackChannelSupport?
    ) -> CameraProfile.BackChannelSupport? {
        suspicions = 0
        // "Request timeout", "not enough bandwidth" and "service unavailable": a camera that is busy says nothing about
        // its speaker.
        if [408, 453, 503].contains(status) { return nil }
        refusals += 1
        guard known != .described else { return nil }
        // 551 is "option not supported"; cameras say the same with many other codes, and other things with them, too.
        return status == 551 || refusals >= Self.repetitions ? .refused : nil
    }

    /// The camera answered it.
    mutating func answer() { (suspicions, refusals) = (0, 0) }
}
