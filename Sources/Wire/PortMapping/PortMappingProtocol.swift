public import Transport

/// The protocols by which a host asks its router to forward a port.
public enum PortMappingProtocol: String, Sendable, Hashable {
    /// Port Control Protocol (RFC 6887).
    case pcp = "PCP"
    /// NAT Port Mapping Protocol (RFC 6886).
    case natPMP = "NAT-PMP"
    /// The services of UPnP's Internet Gateway Device: WANIPConnection (ISO/IEC 29341-8-17), and WANIPv6FirewallControl (ISO/IEC
    /// 29341-24-11) for pinholes.
    case upnp = "UPnP"
}

/// What a forwarded port carries.
public enum MappedTransport: String, Sendable, Hashable {
    /// Datagrams.
    case udp = "UDP"
    /// Connections.
    case tcp = "TCP"

    /// The protocol number of IP, as PCP names it.
    var protocolNumber: UInt8 {
        switch self {
        case .udp: 17
        case .tcp: 6
        }
    }
}

/// Bytes for the router: a datagram, or an HTTP request.
public struct RouterMessage: Hashable, Sendable {
    /// Where they go.
    public var destination: TransportAddress
    /// The datagram, or the request with its content.
    public var bytes: [UInt8]
    /// The own address that they have to leave from, with port 0; nil leaves the choice to the kernel.
    public var source: TransportAddress?

    /// Describes a message.
    public init(destination: TransportAddress, bytes: [UInt8], source: TransportAddress? = nil) {
        self.destination = destination
        self.bytes = bytes
        self.source = source
    }
}

/// What PCP and NAT-PMP share.
public enum PortMappingWire {
    /// The router's port.
    public static let port: UInt16 = 5351
    /// The longest message, in bytes (RFC 6887, section 7).
    public static let maximumMessageSize = 1100
    /// The top bit of the operation says that a message answers.
    private static let responseBit: UInt8 = 0x80

    /// Writes a request. Both protocols begin with the version, the operation and two bytes that are zero (RFC 6886, section
    /// 3.3; RFC 6887, section 7.1).
    /// - Parameters:
    ///   - byteCount: its length.
    ///   - fill: writes what follows.
    static func request(
        version: UInt8, operation: UInt8, byteCount: Int, _ fill: (inout ByteWriter) -> Void
    ) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: byteCount)
        bytes.withUnsafeMutableBytes { raw in
            var writer = ByteWriter(raw)
            writer.write(version)
            writer.write(operation)
            writer.write(UInt16(0))
            fill(&writer)
        }
        return bytes
    }

    /// Reads what an answer begins with: the operation that it answers; nil for another version, and for a request.
    static func answeredOperation(_ reader: inout ByteReader, version: UInt8) -> UInt8? {
        guard reader.readUInt8() == version, let operation = reader.readUInt8(), operation & responseBit != 0 else {
            return nil
        }
        return operation ^ responseBit
    }
}
