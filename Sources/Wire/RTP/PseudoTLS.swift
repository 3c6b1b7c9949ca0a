/// The first bytes of a viewer's TCP connection: frames, or a hello that looks like TLS and is answered first.
///
/// Chromium sends that hello to a candidate with the transport `ssltcp`, so that a firewall that looks at what goes to port 443
/// takes the connection for TLS. Microsoft describes the exchange as pseudo-TLS ([MS-TURN], section 2.1). Both hellos are always
/// the same, and nothing is encrypted by them: the connection is then as any other (RFC 6544), with checks that are authenticated
/// and media that are encrypted.
public struct PseudoTLSOpening: Sendable {
    /// The bytes begin as the hello does, and go on otherwise. A frame cannot begin so: it would be longer than any packet.
    public struct NotAHello: Error, Hashable, Sendable {}

    /// What has been read.
    public enum Step: Equatable, Sendable {
        /// The hello is not complete.
        case incomplete
        /// The hello has come; ``serverHello`` answers it. So many of the bytes belonged to it.
        case hello(byteCount: Int)
        /// Frames begin at once.
        case frames
    }

    /// Whether frames follow.
    public private(set) var isOver = false
    private var matched = 0

    /// The beginning of a connection.
    public init() {}

    /// Takes bytes that have been read, as long as ``isOver`` is false.
    public mutating func read(_ bytes: UnsafeRawBufferPointer) throws(NotAHello) -> Step {
        guard let first = bytes.first, !isOver else { return isOver ? .frames : .incomplete }
        if matched == 0, first != Self.clientHello[0] {
            isOver = true
            return .frames
        }
        for (index, byte) in bytes.enumerated() {
            guard byte == Self.clientHello[matched] else { throw NotAHello() }
            matched += 1
            guard matched < Self.clientHello.count else {
                isOver = true
                return .hello(byteCount: index + 1)
            }
        }
        return .incomplete
    }

    /// A client hello of SSL 2 with a length of 70 bytes. As the length of a frame, its first two bytes would be 32,838.
    static let clientHello: [UInt8] = [
        0x80, 0x46, 0x01, 0x03, 0x01, 0x00, 0x2D, 0x00, 0x00, 0x00, 0x10, 0x01, 0x00, 0x80, 0x03, 0x00, 0x80, 0x07,
        0x00, 0xC0,
        0x06, 0x00, 0x40, 0x02, 0x00, 0x80, 0x04, 0x00, 0x80, 0x00, 0x00, 0x04, 0x00, 0xFE, 0xFF, 0x00, 0x00, 0x0A,
        0x00, 0xFE,
        0xFE, 0x00, 0x00, 0x09, 0x00, 0x00, 0x64, 0x00, 0x00, 0x62, 0x00, 0x00, 0x03, 0x00, 0x00, 0x06, 0x1F, 0x17,
        0x0C, 0xA6,
        0x2F, 0x00, 0x78, 0xFC, 0x46, 0x55, 0x2E, 0xB1, 0x83, 0x39, 0xF1, 0xEA,
    ]

    /// A server hello of TLS 1.0, in one record.
    public static let serverHello: [UInt8] = [
        0x16, 0x03, 0x01, 0x00, 0x4A, 0x02, 0x00, 0x00, 0x46, 0x03, 0x01, 0x42, 0x85, 0x45, 0xA7, 0x27, 0xA9, 0x5D,
        0xA0, 0xB3,
        0xC5, 0xE7, 0x53, 0xDA, 0x48, 0x2B, 0x3F, 0xC6, 0x5A, 0xCA, 0x89, 0xC1, 0x58, 0x52, 0xA1, 0x78, 0x3C, 0x5B,
        0x17, 0x46,
        0x00, 0x85, 0x3F, 0x20, 0x0E, 0xD3, 0x06, 0x72, 0x5B, 0x5B, 0x1B, 0x5F, 0x15, 0xAC, 0x13, 0xF9, 0x88, 0x53,
        0x9D, 0x9B,
        0xE8, 0x3D, 0x7B, 0x0C, 0x30, 0x32, 0x6E, 0x38, 0x4D, 0xA2, 0x75, 0x57, 0x41, 0x6C, 0x34, 0x5C, 0x00, 0x04,
        0x00,
    ]
}
