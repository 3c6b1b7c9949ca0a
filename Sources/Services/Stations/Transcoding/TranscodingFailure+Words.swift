import Codecs
import MediaRelay

extension TranscodingFailure {
    /// The failure as a person reads it beside the camera's name.
    public var words: String {
        switch self {
        case .refused(let refusal): refusal.words
        case .noThread: "no thread could be started"
        case .undecodableSound(let error): "its sound cannot be decoded: \(error?.reason ?? "")"
        case .undecodablePictures(let error): "its pictures cannot be decoded: \(error?.reason ?? "")"
        case .unencodableSound(let error): "its sound cannot be encoded as Opus: \(error.description)"
        case .unencodablePictures(let error): "its video cannot be encoded as VP8: \(error.description)"
        }
    }
}
