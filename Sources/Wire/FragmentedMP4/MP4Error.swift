/// Why something cannot be written into a file.
public enum MP4Error: Error, Equatable, Sendable, CustomStringConvertible {
    /// No track has this index.
    case unknownTrack(Int)
    /// A sample's time is not after the time of the sample before it on the same track.
    case timeNotRising(track: Int, decodeTime: Int64, previous: Int64)
    /// A track's description cannot be written.
    case invalidTrack(Int, reason: String)
    /// A stream cannot be described: files of this kind do not support its codec, or the stream lacks what they need.
    case unsupportedCodec(String, reason: String)
    /// The sample holds nothing, or more than a file can hold.
    case invalidSample(track: Int, length: Int)
    /// A track of pictures begins, or a segment of it, with a sample that cannot be decoded alone.
    case noKeyFrame(decodeTime: Int64)

    public var description: String {
        switch self {
        case .unknownTrack(let track): "track \(track) does not exist"
        case .timeNotRising(let track, let decodeTime, let previous):
            "track \(track): the sample at \(decodeTime) does not come after the one at \(previous)"
        case .invalidTrack(let track, let reason): "track \(track): \(reason)"
        case .unsupportedCodec(let name, let reason): "\(name) cannot be written: \(reason)"
        case .invalidSample(let track, let length): "track \(track): a sample of \(length) bytes cannot be written"
        case .noKeyFrame(let decodeTime): "the sample at \(decodeTime) would begin a segment and is not a key frame"
        }
    }
}
