import Transport

/// A request that the rings of one camera reach back for some time. It lasts until ``end()``, or until nobody keeps
/// it. The rings keep the longest of all requests.
public final class RingRetention: Sendable {
    /// The camera whose tracks are kept.
    public let camera: String
    /// How far back they have to reach. Pictures begin with the key frame at or before that.
    public let duration: Duration
    let status: RetentionStatus
    private let ending: Locked<(@Sendable () -> Void)?>

    init(camera: String, duration: Duration, status: RetentionStatus, atEnd: @escaping @Sendable () -> Void) {
        self.camera = camera
        self.duration = duration
        self.status = status
        ending = Locked(atEnd)
    }

    deinit { end() }

    /// What the request gets, by track, as it was at most a second ago while the track flows. Empty before the camera
    /// has announced its tracks.
    public var grants: [TrackID: RetentionGrant] { status.grants }

    /// Withdraws the request. Further calls do nothing.
    public func end() {
        let end = ending.withLock { $0.take() }
        end?()
    }
}

/// What a request for retention gets of one track.
public struct RetentionGrant: Sendable, Equatable {
    /// How far back the track reaches, from its oldest key frame, or for sound from its oldest packet. While a limit
    /// applies, the least that there was since.
    public var reach: Duration
    /// What prevents it; nil if nothing does. The track may still be filling up then.
    public var limit: RetentionLimit?

    /// Describes what a request gets.
    public init(reach: Duration, limit: RetentionLimit? = nil) {
        self.reach = reach
        self.limit = limit
    }
}

/// Why a track cannot reach back as far as somebody asks.
public enum RetentionLimit: Sendable, Hashable, CustomStringConvertible {
    /// The memory that one track may hold, in bytes.
    case trackBytes(Int)
    /// The memory that all tracks together may hold beyond what viewers need, in bytes.
    case totalBytes(Int)
    /// The camera sends no key frame for longer than this.
    case keyFrameInterval(Duration)
    /// Nobody can ask for more than this.
    case duration(Duration)

    public var description: String {
        switch self {
        case .trackBytes(let bytes): "a track may hold \(bytes >> 20) MiB"
        case .totalBytes(let bytes): "all tracks together may hold \(bytes >> 20) MiB beyond what viewers need"
        case .keyFrameInterval(let interval):
            "the camera's key frames are more than \(interval.components.seconds) s apart"
        case .duration(let longest): "at most \(longest.components.seconds) s can be kept"
        }
    }
}

/// What one request gets: written on the shard's thread, read by anybody.
final class RetentionStatus: Sendable {
    private let state = Locked<[TrackID: RetentionGrant]>([:])
    private let notify: @Sendable (TrackID, RetentionGrant) -> Void

    init(notify: @escaping @Sendable (TrackID, RetentionGrant) -> Void) {
        self.notify = notify
    }

    var grants: [TrackID: RetentionGrant] { state.withLock { $0 } }

    /// Sets what the request gets of a track. Answers whether it has just become less than it asks for.
    func set(_ grant: RetentionGrant, of track: TrackID) -> Bool {
        let before = state.withLock { state in
            defer { state[track] = grant }
            return state[track]
        }
        guard before?.limit != grant.limit else { return false }
        notify(track, grant)
        return before?.limit == nil
    }

    func forget(_ track: TrackID) {
        state.withLock { $0[track] = nil }
    }
}
