import Codecs

/// Why one of a camera's tracks does not reach every viewer.
public enum TrackFault: Hashable, Sendable {
    /// A track of this codec cannot be transcoded to one that browsers play.
    case untranscodable(codec: String, CodecError)
    /// The track that the gateway makes from one of the camera's brings nothing.
    case failed(TranscodingFailure)
}

extension TrackFault {
    /// The fault as a person reads it beside the camera's name.
    public var words: String {
        switch self {
        case .untranscodable(let codec, let error): "\(codec) cannot be transcoded: \(error.reason)"
        case .failed(let failure): failure.words
        }
    }
}
