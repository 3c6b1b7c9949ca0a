/// Why bytes are not a STUN message. Offsets are relative to the start of the datagram.
public enum STUNError: Error, Hashable, Sendable {
    /// The datagram is shorter than a message header.
    case truncatedHeader(byteCount: Int)
    /// The first two bits are not zero, so this is some other protocol.
    case notSTUN(firstByte: UInt8)
    /// The magic cookie is missing: another protocol, or STUN from before RFC 5389.
    case wrongMagicCookie(UInt32)
    /// The length field is not a multiple of four, or does not match the datagram.
    case wrongLength(field: Int, actual: Int)
    /// An attribute's value reaches beyond the end of the message.
    case truncatedAttribute(type: UInt16, offset: Int)
    /// An attribute's value has a length that its type does not allow.
    case wrongAttributeLength(type: UInt16, length: Int, offset: Int)
    /// Something follows FINGERPRINT, which must be last.
    case attributeAfterFingerprint(type: UInt16, offset: Int)
}

extension STUNError: CustomStringConvertible {
    public var description: String {
        func hex(_ type: UInt16) -> String { "0x" + String(type, radix: 16) }
        return switch self {
        case .truncatedHeader(let byteCount):
            "STUN message cut off: \(byteCount) bytes where the header alone has \(STUN.headerLength)"
        case .notSTUN(let firstByte):
            "not a STUN message: it starts with the byte \(firstByte), and STUN starts with 0 to 3"
        case .wrongMagicCookie(let cookie):
            "not a STUN message: the magic cookie is 0x\(String(cookie, radix: 16)) instead of 0x2112a442"
        case .wrongLength(let field, let actual):
            "STUN length field says \(field) bytes of attributes, the datagram holds \(actual)"
        case .truncatedAttribute(let type, let offset):
            "STUN attribute \(hex(type)) at byte \(offset) reaches beyond the end of the message"
        case .wrongAttributeLength(let type, let length, let offset):
            "STUN attribute \(hex(type)) at byte \(offset) has a value of \(length) bytes, which its type does not allow"
        case .attributeAfterFingerprint(let type, let offset):
            "STUN attribute \(hex(type)) at byte \(offset) follows FINGERPRINT, which must be last"
        }
    }
}
