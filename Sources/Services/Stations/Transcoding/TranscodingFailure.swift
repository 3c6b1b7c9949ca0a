import Codecs
import MediaRelay

/// Why a track that the gateway makes from one of a camera's brings nothing.
public enum TranscodingFailure: Hashable, Sendable {
    /// There is no room for another transcoder.
    case refused(TranscodingRefusal)
    /// The transcoder has no thread.
    case noThread
    /// The camera's sound cannot be decoded.
    case undecodableSound(CodecError?)
    /// The camera's pictures cannot be decoded.
    case undecodablePictures(CodecError?)
    /// The sound cannot be encoded.
    case unencodableSound(CodecError)
    /// The pictures cannot be encoded.
    case unencodablePictures(CodecError)
}
