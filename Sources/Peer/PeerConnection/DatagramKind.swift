/// What a datagram on the shared port is, by its first bytes (RFC 7983, section 7; RFC 5761, section 4).
public enum DatagramKind: Sendable, Equatable {
    /// A STUN message.
    case stun
    /// One or more DTLS records.
    case dtls
    /// An SRTP packet.
    case rtp
    /// An SRTCP packet.
    case rtcp
    /// None of the protocols of this port.
    case unknown

    /// Looks at the first two bytes.
    @inlinable
    public init(_ datagram: UnsafeRawBufferPointer) {
        guard datagram.count >= 2 else {
            self = .unknown
            return
        }
        switch datagram[0] {
        case 0...3: self = .stun
        case 20...63: self = .dtls
        case 128...191: self = (192...223).contains(datagram[1]) ? .rtcp : .rtp
        default: self = .unknown
        }
    }
}
