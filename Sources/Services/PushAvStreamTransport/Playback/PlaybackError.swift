import Codecs
import FragmentedMP4
import Transport

/// Why recordings cannot be shown or exported.
public enum PlaybackError: Error, Equatable, Sendable, CustomStringConvertible {
    /// Nothing was recorded in the range.
    case nothingRecorded
    /// The recording has no pictures.
    case noPictures
    /// The recording has no track that RTSP can carry.
    case noPlayableTrack
    /// The recording has no key frame near the moment.
    case noKeyFrame
    /// The picture cannot be encoded as JPEG.
    case pictureNotEncoded(CodecError)
    /// The camera changed its format at a time, in microseconds since 1970, UTC.
    case formatChanges(at: Int64, from: String, to: String)
    /// The range has more segments than this, which is more than one export reads.
    case tooManySegments(limit: Int)
    /// The range has more samples than this, which is more than one file holds.
    case tooManySamples(limit: Int)
    /// Nothing was recorded for a time that is longer than a file can express.
    case gapTooLong(seconds: Int64)
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
        case .noPictures: "the recording has no pictures"
        case .noPlayableTrack: "the recording has no track that RTSP can carry"
        case .noKeyFrame: "the recording has no key frame there"
        case .pictureNotEncoded(let error): "the picture cannot be encoded as JPEG: \(error.reason)"
        case .formatChanges(let at, let from, let to):
            "the camera changed its format at \(WallTime(millisecondsSince1970: at / 1_000).iso8601), from \(from) to "
                + "\(to), and one file holds one format; export up to that time, and then from that time on"
        case .tooManySegments(let limit): "the range has more than \(limit) segments; export a shorter time"
        case .tooManySamples(let limit): "\(MP4ExportError.tooManySamples(limit: limit)); export a shorter time"
        case .gapTooLong(let seconds): "\(MP4ExportError.gapTooLong(seconds: seconds)); export a shorter time"
        case .unreadable(let path, let reason): "\(path) cannot be read: \(reason)"
        case .unwritable(let reason): "the export cannot be written: \(reason)"
        case .store(let fault): fault.description
        }
    }
}
