import Transport

/// The header of a DTLS 1.2 record (RFC 6347, section 4.1).
struct DTLSRecordHeader {
    enum ContentType: UInt8 {
        case changeCipherSpec = 20
        case alert = 21
        case handshake = 22
        case applicationData = 23
    }

    static let byteCount = 13

    var type: ContentType
    var epoch: UInt16
    var sequenceNumber: UInt64
    /// The length of what follows the header.
    var length: Int

    /// Reads the header of the first record in `bytes`; nil if they do not begin with a whole record.
    init?(_ bytes: UnsafeRawBufferPointer) {
        var reader = ByteReader(bytes)
        guard let type = reader.readUInt8().flatMap(ContentType.init(rawValue:)),
            // DTLS 1.0 is written as FE FF, which a ClientHello may carry for the sake of old servers; DTLS 1.2 is FE
            // FD.
            let version = reader.read(UInt16.self), version >> 8 == 0xFE,
            let epochAndSequence = reader.read(UInt64.self), let length = reader.read(UInt16.self),
            Int(length) <= reader.remaining
        else { return nil }
        self.type = type
        self.epoch = UInt16(truncatingIfNeeded: epochAndSequence >> 48)
        self.sequenceNumber = epochAndSequence & 0xFFFF_FFFF_FFFF
        self.length = Int(length)
    }

    /// The length of the record with its header.
    var totalLength: Int { Self.byteCount &+ length }
}
