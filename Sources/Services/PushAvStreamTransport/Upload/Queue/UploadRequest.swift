/// An object to be uploaded now.
public struct UploadRequest: Equatable, Sendable {
    /// What the body is.
    public enum Body: Equatable, Sendable {
        /// This text.
        case text(String)
        /// A whole file, by its path below the folder of recordings.
        case file(String, byteCount: Int)
        /// A file that is still growing. It ends where ``UploadQueue/segmentEnded(_:in:)`` says.
        case growing(String)
    }

    /// The attempt's number, for ``UploadQueue/finished(_:_:at:)``.
    public var attempt: UInt64
    /// The recording.
    public var session: RecordingSession.ID
    /// What it is of the recording.
    public var item: UploadItem
    /// Where it goes.
    public var destination: UploadDestination
    /// Its path below the destination's address. It consists of characters that need no escapes.
    public var path: String
    /// Its media type.
    public var contentType: String
    /// The value of `X-EXTINF-duration`, in seconds; nil where it does not belong.
    public var segmentSeconds: String?
    /// The body.
    public var body: Body
    /// Whether everything that was accepted before has to be on disk before this begins. Otherwise a power cut could
    /// bring back an object that must not follow this one.
    public var needsDurableHistory: Bool
}

/// What became of footage in the queue, for the log, the metrics and the event stream.
public enum UploadEvent: Equatable, Sendable {
    /// Why footage left the queue without having been accepted.
    public enum DropReason: String, Codable, Sendable {
        /// The queue was full, and this was the oldest.
        case queueFull
        /// A privacy switch was set before it was recorded.
        case privacy
        /// The principal of the connection may no longer have the footage.
        case revoked
        /// The recording was deleted.
        case deleted
        /// Its file is missing.
        case missing
    }

    /// All of a recording was uploaded, or what was left of it. `dropped` is the number of segments that were not.
    case completed(RecordingSession.ID, folder: String, dropped: Int)
    /// Segments left the queue.
    case dropped(RecordingSession.ID, segments: Int, byteCount: Int, reason: DropReason)
    /// A recording cannot be uploaded at the moment: an alarm. It is reported when it begins.
    case failing(RecordingSession.ID, UploadDestination, reason: String)
    /// It can be uploaded again.
    case recovered(RecordingSession.ID, UploadDestination)
    /// This attempt must end now: its footage was discarded.
    case cancel(attempt: UInt64)
}

/// How the queue is doing.
public struct UploadStatus: Equatable, Sendable {
    /// Segments and bytes that wait or are on their way.
    public var segments: Int
    public var byteCount: Int
    /// Recordings that are not yet complete at their receivers.
    public var sessions: Int
    /// When the oldest segment that waits was captured, in microseconds since 1970, UTC; nil when none waits.
    public var oldestCapturedAt: Int64?
    /// Attempts that run.
    public var attempts: Int
    /// Recordings whose last attempt failed.
    public var failing: Int
}
