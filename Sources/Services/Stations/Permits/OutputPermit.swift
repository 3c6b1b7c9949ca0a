import MediaRelay
import Transport

/// The end of a permit before its output has ended.
public struct OutputRevocation: Sendable, Hashable {
    /// Why.
    public var refusal: OutputRefusal
    /// When the switch was set. Of footage that waits, a privacy switch discards what was captured after it.
    public var moment: Instant

    /// Describes a revocation.
    public init(refusal: OutputRefusal, moment: Instant) {
        self.refusal = refusal
        self.moment = moment
    }
}

/// The right of one output to send a camera's pictures and sound somewhere. An output takes it before it begins, and ends
/// it when nothing more leaves.
///
/// It ends when nobody keeps it, so an output keeps it for as long as it sends.
public final class OutputPermit: Sendable {
    /// What the output is for.
    public let usage: OutputUsage
    /// The output, for the log.
    public let owner: String
    private let number: Int
    private let permits: OutputPermits

    init(usage: OutputUsage, owner: String, number: Int, permits: OutputPermits) {
        self.usage = usage
        self.owner = owner
        self.number = number
        self.permits = permits
    }

    deinit { end() }

    /// Why and when the permit was revoked; nil while it holds.
    public var revocation: OutputRevocation? { permits.revocation(of: number) }

    /// Whether this gateway may still act for the device. A writer asks before each effect.
    public var mayAct: Bool { permits.tenures.mayAct(for: permits.camera) }

    /// Fails if the permit was revoked, or is about to be, or another gateway runs the device. An output that has waited for
    /// something asks this before it begins.
    public func check() throws(StationError) {
        try permits.tenures.check(permits.camera)
        if let refusal = revocation?.refusal ?? permits.refusal(of: usage) {
            throw .refused(camera: permits.camera, refusal)
        }
    }

    /// Names a tap that the output reads from. If the output does not confirm in time that it has ended, the tap is taken
    /// from it. The permit does not keep the tap: one that the relay has removed, and that its output has released, is
    /// forgotten.
    public func cover(_ tap: any TrackTap, of track: TrackID) { permits.cover(tap, of: track, by: number) }

    /// Nothing more leaves by this output. Doing so twice is doing so once.
    public func end() { permits.end(number) }
}
