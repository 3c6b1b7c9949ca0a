import Codecs
import FragmentedMP4
import Glibc

/// Why a file of a recording cannot be read.
public enum RecordedFileFault: Equatable, Sendable {
    /// It no longer exists.
    case gone
    /// The file system refuses. The number is the reason (`errno`).
    case system(Int32)
    /// It is not MP4 that can be read.
    case format(MP4ReadError)
    /// It has become shorter since it was found.
    case shortened
    /// One of its samples is larger than any recording needs.
    case largeSample
    /// Its key frame is larger than any recording needs.
    case largeKeyFrame
    /// Its key frame cannot be decoded.
    case undecodableKeyFrame(CodecError)

    /// The fault of a call that has set `errno`.
    init(errno code: Int32) { self = code == ENOENT ? .gone : .system(code) }
}
