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

    /// The fewest bytes that a packet of this kind has, which is its fixed header; nil for ``unknown``.
    @inlinable
    public var shortest: Int? {
        switch self {
        // RFC 8489, section 5.
        case .stun: 20
        // RFC 6347, section 4.1.
        case .dtls: 13
        // RFC 3550, section 5.1.
        case .rtp: 12
        // RFC 3550, section 6.4.2: a receiver report without blocks.
        case .rtcp: 8
        case .unknown: nil
        }
    }

    /// Whether a datagram may be a packet of one of the protocols of this port: by its first bytes and its length.
    @inlinable
    public static func mayBePacket(_ datagram: UnsafeRawBufferPointer) -> Bool {
        guard let shortest = DatagramKind(datagram).shortest else { return false }
        return datagram.count >= shortest
    }
}
