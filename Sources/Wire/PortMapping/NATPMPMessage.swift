import Transport

/// The messages of NAT-PMP (RFC 6886, section 3).
enum NATPMPMessage {
    private static let version: UInt8 = 0
    private static let addressOperation: UInt8 = 0
    static let success: UInt16 = 0
    /// The router does not know the version of the request (section 3.5).
    static let unsupportedVersion: UInt16 = 1

    /// An answer of the router.
    enum Answer: Hashable, Sendable {
        /// Its outside address, with port 0.
        case address(TransportAddress)
        /// The mapping that it has made.
        case mapping(internalPort: UInt16, externalPort: UInt16, lifetime: UInt32)
        /// It refused with this code.
        case refusal(code: UInt16)
    }

    /// Asks for the outside address (section 3.2).
    static var addressRequest: [UInt8] { [version, addressOperation] }

    private static func mapOperation(_ transport: MappedTransport) -> UInt8 {
        switch transport {
        case .udp: 1
        case .tcp: 2
        }
    }

    /// Asks for a mapping of a port (section 3.3). With lifetime 0 it ends the mapping.
    static func mapRequest(
        _ transport: MappedTransport, internalPort: UInt16, externalPort: UInt16, lifetime: UInt32
    ) -> [UInt8] {
        PortMappingWire.request(version: version, operation: mapOperation(transport), byteCount: 12) { writer in
            writer.write(internalPort)
            writer.write(externalPort)
            writer.write(lifetime)
        }
    }

    /// Whether a router that knows only NAT-PMP answers a request by PCP so, whatever was requested.
    static func refusesVersion(_ bytes: UnsafeRawBufferPointer) -> Bool {
        var reader = ByteReader(bytes)
        return PortMappingWire.answeredOperation(&reader, version: version) != nil
            && reader.read(UInt16.self) == unsupportedVersion
    }

    /// Reads an answer about the outside address, or a port that carries `transport`; nil for anything else.
    static func answer(_ bytes: UnsafeRawBufferPointer, about transport: MappedTransport) -> Answer? {
        var reader = ByteReader(bytes)
        let mapping = mapOperation(transport)
        guard let operation = PortMappingWire.answeredOperation(&reader, version: version),
            operation == addressOperation || operation == mapping, let code = reader.read(UInt16.self)
        else { return nil }
        guard code == success else { return .refusal(code: code) }
        guard reader.read(UInt32.self) != nil else { return nil }
        guard operation == mapping else {
            return reader.read(UInt32.self).map { Answer.address(TransportAddress(ipv4: $0, port: 0)) }
        }
        guard let internalPort = reader.read(UInt16.self), let externalPort = reader.read(UInt16.self),
            let lifetime = reader.read(UInt32.self)
        else { return nil }
        return .mapping(internalPort: internalPort, externalPort: externalPort, lifetime: lifetime)
    }
}
