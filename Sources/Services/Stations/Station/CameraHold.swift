import MediaRelay
import Transport

/// A lease on a camera: the camera delivers while anybody has one. Everyone who needs a camera has the same kind.
///
/// It ends with ``end()``, at its expiry, or when nobody keeps it.
public final class CameraHold: Sendable {
    /// What needs the camera.
    public enum Owner: Sendable, Hashable, CustomStringConvertible {
        /// A viewer.
        case liveView
        /// A program that reads by RTSP.
        case reader
        /// Somebody who asked for a picture.
        case snapshot
        /// Nobody yet: the button was pressed, and somebody will want to see who is there.
        case press
        /// A recording.
        case recording
        /// A recording that begins this long before its trigger. The relay keeps as much of the camera's tracks.
        case preRoll(Duration)

        /// Whether the owner shows what comes at once. A recording and its pre-roll take it a little later, too.
        var isLive: Bool {
            switch self {
            case .liveView, .reader, .snapshot, .press: true
            case .recording, .preRoll: false
            }
        }

        public var description: String {
            switch self {
            case .liveView: "live view"
            case .reader: "RTSP reader"
            case .snapshot: "snapshot"
            case .press: "press of the button"
            case .recording: "recording"
            case .preRoll: "pre-roll"
            }
        }
    }

    /// What needs the camera.
    public let owner: Owner
    /// When the hold ends by itself; nil for one that does not.
    public let expiry: Instant?
    /// What a pre-roll gets of each track; nil for other owners.
    public let retention: RingRetention?
    private let ending: Locked<(@Sendable () -> Void)?>

    /// Makes a hold.
    /// - Parameters:
    ///   - retention: ended with the hold.
    ///   - atEnd: called once, when it is ended or nobody keeps it. It must not wait.
    public init(
        for owner: Owner, until expiry: Instant? = nil, retention: RingRetention? = nil,
        atEnd: @escaping @Sendable () -> Void = {}
    ) {
        self.owner = owner
        self.expiry = expiry
        self.retention = retention
        ending = Locked(atEnd)
    }

    deinit { end() }

    /// Ends the hold. Further calls do nothing.
    public func end() {
        let end = ending.withLock { $0.take() }
        retention?.end()
        end?()
    }

    /// In words, why a pre-roll is shorter than it should be; nil if nothing prevents it.
    public var shortfall: String? {
        guard let retention else { return nil }
        let limited = retention.grants.values.filter { $0.limit != nil }
        guard let worst = limited.min(by: { $0.reach < $1.reach }), let limit = worst.limit else { return nil }
        let (reach, wanted) = (worst.reach.components.seconds, retention.duration.components.seconds)
        return "the pre-roll of \(retention.camera) reaches back \(reach) s instead of \(wanted) s: \(limit)"
    }
}
