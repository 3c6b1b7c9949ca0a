import Transport

/// A lease on a camera: it delivers while anybody has one. Everyone who needs a camera has the same kind.
///
/// It ends with ``end()``, at its expiry, or when nobody keeps it any more.
public final class CameraHold: Sendable {
    /// Who needs the camera. The raw values are for people.
    public enum Owner: String, Sendable, Hashable, CaseIterable {
        /// A viewer.
        case liveView = "live view"
        /// A program that reads by RTSP.
        case reader = "RTSP reader"
        /// Somebody who asked for a picture.
        case snapshot
        /// Nobody yet: the button was pressed, and somebody will want to see who is there.
        case press = "press of the button"
        /// A recording.
        case recording
        /// A recording that begins before its trigger.
        case preRoll = "pre-roll"
    }

    /// Who needs the camera.
    public let owner: Owner
    /// When the hold ends by itself; nil for one that does not.
    public let expiry: Instant?
    private let ending: Locked<(@Sendable () -> Void)?>

    /// Makes a hold.
    /// - Parameter atEnd: called once, when it is ended or nobody keeps it any more. It must not wait.
    public init(for owner: Owner, until expiry: Instant? = nil, atEnd: @escaping @Sendable () -> Void = {}) {
        self.owner = owner
        self.expiry = expiry
        ending = Locked(atEnd)
    }

    deinit { end() }

    /// Ends the hold; doing so twice is doing so once.
    public func end() {
        let end = ending.withLock { $0.take() }
        end?()
    }
}
