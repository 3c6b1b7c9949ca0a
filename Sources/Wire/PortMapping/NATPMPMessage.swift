import Transport

/// The messages of NAT-PMP (RFC 6886, section 3).
enum NATPMPMessage {
    private static let version: UInt8 = 0
    private static let addressOperation: UInt8 = 0
    private static let mapUDPOperation: UInt8 = 1
    static let success: UInt16 = 0
    /// The router does not know the version of the request (section 3.5).
    static let unsupportedVersion: UInt16 = 1

    /// An answer of the router.
    enum Answer: Hashable, Sendable {
        /// Its outside address, with port 0.
        case address(TransportAddress)
        /// The mapping that it has made.
        case mapping(internalPort: UInt16, externalPort: UInt16, lifetime: UInt32)
        /// It refused with this code. A router that knows only NAT-PMP answers PCP so.
        case refusal(code: UInt16)
    }

    /// Asks for the outside address (section 3.2).
    static var addressRequest: [UInt8] { [version, addressOperation] }

    /// Asks for a mapping of a UDP port (section 3.3). With lifetime 0 it ends the mapping.
    static func mapRequest(internalPort: UInt16, externalPort: UInt16, lifetime: UInt32) -> [UInt8] {
        PortMappingWire.request(version: version, operation: mapUDPOperation, byteCount: 12) { writer in
            writer.write(internalPort)
            writer.write(externalPort)
            writer.write(lifetime)
        }
    }

    /// Reads an answer; nil for anything else.
    static func answer(_ bytes: UnsafeRawBufferPointer) -> Answer? {
        var reader = ByteReader(bytes)
        guard let operation = PortMappingWire.answeredOperation(&reader, version: version),
            let code = reader.read(UInt16.self)
        else { return nil }
        guard code == success else { return .refusal(code: code) }
        guard reader.read(UInt32.self) != nil else { return nil }
        switch operation {
        case addressOperation:
            guard let address = reader.read(UInt32.self) else { return nil }
            return .address(TransportAddress(ipv4: address, port: 0))
        case mapUDPOperation:
            guard let internalPort = reader.read(UInt16.self), let externalPort = reader.read(UInt16.self),
                let lifetime = reader.read(UInt32.self)
            else { return nil }
            return .mapping(internalPort: internalPort, externalPort: externalPort, lifetime: lifetime)
        default: return nil
        }
    }
}
