/// Why a device's HTTP answer cannot be read. The description speaks of a camera.
public enum HTTPStreamError: Error, Hashable, Sendable {
    /// It breaks the rules of HTTP; says which.
    case malformed(String)
    /// Something in it is larger than `limit` bytes.
    case tooLarge(what: String, limit: Int)
}

extension HTTPStreamError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .malformed(let reason): "the camera's HTTP answer is malformed: \(reason)"
        case .tooLarge(let what, let limit): "the camera sent \(what) of more than \(limit) bytes"
        }
    }
}
