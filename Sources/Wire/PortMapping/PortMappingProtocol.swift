/// The protocols by which a host asks its router to forward a port.
public enum PortMappingProtocol: String, Sendable, Hashable {
    /// Port Control Protocol (RFC 6887).
    case pcp = "PCP"
    /// NAT Port Mapping Protocol (RFC 6886).
    case natPMP = "NAT-PMP"
}

/// What the two protocols share.
public enum PortMappingWire {
    /// The router's port.
    public static let port: UInt16 = 5351
    /// The longest message, in bytes (RFC 6887, section 7).
    public static let maximumMessageSize = 1100
    /// UDP, as an IP protocol.
    static let udp: UInt8 = 17
}
