/// Why bytes cannot be read as MP4.
public enum MP4ReadError: Error, Hashable, Sendable, CustomStringConvertible {
    /// A box does not fit where it is, or its size makes no sense.
    case invalidBox(String, offset: Int64, reason: String)
    /// A box that has to be there is missing.
    case missingBox(String)
    /// Something is larger than any recording needs.
    case tooLarge(String, limit: Int)
    /// The bytes are MP4, but use what is not supported.
    case unsupported(String)

    public var description: String {
        switch self {
        case .invalidBox(let type, let offset, let reason): "the box \(type) at byte \(offset) \(reason)"
        case .missingBox(let type): "the box \(type) is missing"
        case .tooLarge(let what, let limit): "\(what) is larger than \(limit)"
        case .unsupported(let what): "\(what) is not supported"
        }
    }
}
