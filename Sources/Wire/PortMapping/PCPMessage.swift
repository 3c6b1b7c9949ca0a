import Transport

/// The messages of PCP that map a port (RFC 6887, sections 7 and 11).
enum PCPMessage {
    private static let version: UInt8 = 2
    private static let mapOperation: UInt8 = 1
    static let success: UInt8 = 0
    /// The router speaks another version.
    static let unsupportedVersion: UInt8 = 1
    /// The router maps no ports by PCP.
    static let unsupportedOperation: UInt8 = 4

    /// 96 random bits, by which an answer belongs to the mapping.
    struct Nonce: Hashable, Sendable {
        var high: UInt64
        var low: UInt32
    }

    /// An answer of the router.
    struct Answer: Hashable, Sendable {
        /// 0 for success.
        var code: UInt8
        /// How long the mapping lasts, or the refusal, in seconds.
        var lifetime: UInt32
        /// The mapping that is answered for; nil in an answer that is cut short.
        var mapping: Mapping?
    }

    /// A mapping.
    struct Mapping: Hashable, Sendable {
        var nonce: Nonce
        /// The protocol number of IP.
        var protocolNumber: UInt8
        var internalPort: UInt16
        /// The outside address and port.
        var external: TransportAddress
    }

    /// Asks for a mapping of a port. With lifetime 0 it ends the mapping.
    /// - Parameters:
    ///   - transport: what the port carries.
    ///   - client: the host's address towards the router. A router refuses a request that comes from another one.
    ///   - external: the outside address that is wanted; the router may choose another one.
    static func mapRequest(
        _ nonce: Nonce, of transport: MappedTransport, client: TransportAddress, internalPort: UInt16,
        external: TransportAddress, lifetime: UInt32
    ) -> [UInt8] {
        PortMappingWire.request(version: version, operation: mapOperation, byteCount: 60) { writer in
            writer.write(lifetime)
            write(client, to: &writer)
            writer.write(nonce.high)
            writer.write(nonce.low)
            writer.write(transport.protocolNumber)
            writer.write([0, 0, 0])
            writer.write(internalPort)
            writer.write(external.port)
            write(external, to: &writer)
        }
    }

    /// An IPv4 address travels as an IPv4-mapped IPv6 address (section 5).
    private static func write(_ address: TransportAddress, to writer: inout ByteWriter) {
        writer.write(address.high)
        writer.write(address.family == .ipv4 ? 0xFFFF_0000_0000 | address.low : address.low)
    }

    /// Reads an answer to a request for a mapping; nil for anything else.
    static func answer(_ bytes: UnsafeRawBufferPointer) -> Answer? {
        var reader = ByteReader(bytes)
        guard PortMappingWire.answeredOperation(&reader, version: version) == mapOperation, reader.skip(1),
            let code = reader.readUInt8(), let lifetime = reader.read(UInt32.self), reader.skip(16)
        else { return nil }
        var answer = Answer(code: code, lifetime: lifetime)
        guard let high = reader.read(UInt64.self), let low = reader.read(UInt32.self),
            let protocolNumber = reader.readUInt8(), reader.skip(3),
            let internalPort = reader.read(UInt16.self), let port = reader.read(UInt16.self),
            let addressHigh = reader.read(UInt64.self), let addressLow = reader.read(UInt64.self)
        else { return code == success ? nil : answer }
        answer.mapping = Mapping(
            nonce: Nonce(high: high, low: low), protocolNumber: protocolNumber, internalPort: internalPort,
            external: TransportAddress(ipv6High: addressHigh, low: addressLow, port: port))
        return answer
    }
}
