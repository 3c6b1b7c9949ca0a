import Codecs
import FragmentedMP4
import Glibc

extension RecordedFileFault: CustomStringConvertible {
    /// The fault as people read it after the path of the file.
    public var description: String {
        switch self {
        case .gone: "it no longer exists"
        case .system(let code): String(cString: strerror(code))
        case .format(let error): error.description
        case .shortened: "it has become shorter"
        case .largeSample: "one of its samples is too large"
        case .largeKeyFrame: "its key frame is too large"
        case .undecodableKeyFrame(let error): "its key frame cannot be decoded: \(error.reason)"
        }
    }
}
