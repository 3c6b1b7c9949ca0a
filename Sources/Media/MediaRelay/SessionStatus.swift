public import ICE
import Transport

/// What any thread may read of a session while its shard works: the steps of its start, its path, and whether it is
/// connected.
///
/// The shard writes here once per step, never per packet.
public final class SessionStatus: Sendable {
    /// A step of a start.
    public enum Step: String, Sendable, CaseIterable {
        /// The offer was received.
        case offer
        /// The answer was ready.
        case answer
        /// The first connectivity check of the peer was authenticated.
        case firstCheck
        /// ICE found a path.
        case pair
        /// DTLS was complete.
        case dtls
        /// The first RTP packet was sent.
        case firstPacket
        /// A complete key frame was sent.
        case firstKeyFrame
    }

    private struct State {
        var steps: [(step: Step, instant: Instant)] = []
        var isConnected = false
        var path: ICEPathKind?
        var wantsRestart = false
        var end: RelayEnd?
    }

    private let state = Locked(State())
    private let changed: (@Sendable () -> Void)?

    /// A session in which nothing has happened yet.
    /// - Parameter changed: called after each step, on the shard's thread. It must not wait.
    public init(changed: (@Sendable () -> Void)? = nil) {
        self.changed = changed
    }

    /// Records that a step has ended; only the first time counts.
    public func record(_ step: Step, at instant: Instant) {
        let isNew = state.withLock { state in
            guard !state.steps.contains(where: { $0.step == step }) else { return false }
            state.steps.append((step, instant))
            if step == .dtls { state.isConnected = true }
            return true
        }
        if isNew { changed?() }
    }

    /// Records the kind of path in use.
    public func record(_ path: ICEPathKind?) {
        let isNew = state.withLock { state in
            guard state.path != path else { return false }
            state.path = path
            return true
        }
        if isNew { changed?() }
    }

    /// Records whether an ICE restart by the peer would help; see ``ICEAgent/wantsRestart``.
    public func record(wantsRestart: Bool) {
        let isNew = state.withLock { state in
            guard state.wantsRestart != wantsRestart else { return false }
            state.wantsRestart = wantsRestart
            return true
        }
        if isNew { changed?() }
    }

    /// Records that the session has ended.
    public func record(_ end: RelayEnd) {
        state.withLock { state in
            state.isConnected = false
            if state.end == nil { state.end = end }
        }
    }

    /// The steps so far in the order of happening, each with the time since the offer.
    public var steps: [(step: Step, elapsed: Duration)] {
        state.withLock { state in
            guard let start = state.steps.first?.instant else { return [] }
            return state.steps.map { ($0.step, $0.instant - start) }
        }
    }

    /// Whether media can flow.
    public var isConnected: Bool { state.withLock { $0.isConnected } }

    /// The kind of path in use; nil before the first one is found.
    public var path: ICEPathKind? { state.withLock { $0.path } }

    /// Whether an ICE restart by the peer would help; see ``ICEAgent/wantsRestart``.
    public var wantsRestart: Bool { state.withLock { $0.wantsRestart } }

    /// Why the session has ended; nil while it lasts.
    public var end: RelayEnd? { state.withLock { $0.end } }
}
