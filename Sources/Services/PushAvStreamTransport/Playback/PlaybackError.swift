import FragmentedMP4
import Transport

/// Why recordings cannot be shown or exported.
public enum PlaybackError: Error, Equatable, Sendable, CustomStringConvertible {
    /// Nothing was recorded in the range.
    case nothingRecorded
    /// The recording, or the part of it, does not exist.
    case notFound(String)
    /// The camera changed its format at a time, in microseconds since 1970, UTC.
    case formatChanges(at: Int64, from: String, to: String)
    /// The range holds more than one file can.
    case tooLong(String)
    /// A file cannot be read, with its path and the reason.
    case unreadable(path: String, reason: RecordedFileFault)
    /// The place to write to refuses, with the reason.
    case unwritable(String)
    /// The store cannot answer.
    case store(RecordingFault)

    /// Whether the footage was deleted after it had been found.
    public var isDeletion: Bool {
        switch self {
        case .unreadable(_, let reason): reason == .gone
        case .store(.unknownSession): true
        default: false
        }
    }

    public var description: String {
        switch self {
        case .nothingRecorded: "nothing was recorded in this time range"
        case .notFound(let what): what
        case .formatChanges(let at, let from, let to):
            "the camera changed its format at \(WallTime(millisecondsSince1970: at / 1_000).iso8601), from \(from) to "
                + "\(to), and one file holds one format; export up to that time, and then from that time on"
        case .tooLong(let reason): "\(reason); export a shorter time"
        case .unreadable(let path, let reason): "\(path) cannot be read: \(reason)"
        case .unwritable(let reason): "the export cannot be written: \(reason)"
        case .store(.storageFull(let reason)): reason
        case .store(.storage(let path, let reason)): "\(path): \(reason)"
        case .store(.refused(let reason)): reason
        case .store(.unknownSession): "the recording does not exist; it may have been deleted"
        case .store(.inProgress): "it is being recorded; it can be deleted when it has ended"
        }
    }
}
