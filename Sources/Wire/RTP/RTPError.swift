/// Why bytes are not an RTP packet (RFC 3550, section 5.1).
///
/// It is a trivial enum: throwing it for a hostile packet allocates nothing.
public enum RTPError: Error, Equatable, Sendable, BitwiseCopyable, CustomStringConvertible {
    /// Fewer bytes than the fixed header and its contributing sources need.
    case truncatedHeader(length: Int)
    /// The version field is not 2.
    case unsupportedVersion(UInt8)
    /// The header extension reaches past the end of the packet.
    case truncatedExtension(length: Int)
    /// The padding count is zero, or larger than what follows the header.
    case invalidPadding(count: UInt8, available: Int)

    public var description: String {
        switch self {
        case .truncatedHeader(let length):
            "RTP packet of \(length) bytes ends inside its header"
        case .unsupportedVersion(let version):
            "RTP version \(version) at offset 0: only version 2 exists on the wire"
        case .truncatedExtension(let length):
            "RTP packet of \(length) bytes ends inside its header extension"
        case .invalidPadding(let count, let available):
            "RTP padding count \(count) does not fit the \(available) bytes after the header"
        }
    }
}
