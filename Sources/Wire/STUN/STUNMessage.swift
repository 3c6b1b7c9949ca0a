import Transport

/// A STUN message read in place: where its attributes lie in bytes that it does not own.
///
/// Reading allocates nothing and copies nothing, so the bytes must outlive the value. A message that was read is well
/// formed, nothing more. Code that acts on it verifies ``hasValidFingerprint`` and the integrity first.
public struct STUNMessage {
    /// The whole message.
    public let bytes: UnsafeRawBufferPointer
    /// Whether it is a request, an indication or a response.
    public let messageClass: STUNMessageClass
    /// The method's number; 1 is Binding.
    public let method: UInt16
    /// What ties a response to its request.
    public let transactionID: STUNTransactionID

    // Where the values lie. Zero, which is inside the header, means that the attribute is missing.
    private(set) var usernameOffset = 0
    private(set) var usernameCount = 0
    private(set) var mappedAddressOffset = 0
    private(set) var mappedAddressIsXORed = false
    private(set) var errorCodeOffset = 0
    private(set) var integrityOffset = 0
    private(set) var fingerprintOffset = 0
    /// PRIORITY: the priority of the peer-reflexive candidate that this check may reveal (RFC 8445, section 7.1.1).
    public private(set) var priority: UInt32?
    /// USE-CANDIDATE: whether the check nominates its pair.
    public private(set) var usesCandidate = false
    /// ICE-CONTROLLING: the sender believes that it has the controlling role; the value is its tie-breaker.
    public private(set) var controllingTieBreaker: UInt64?
    /// ICE-CONTROLLED: the sender believes that it has the controlled role; the value is its tie-breaker.
    public private(set) var controlledTieBreaker: UInt64?
    /// The first attribute that must be understood and is not; a request with one is refused with error 420.
    public private(set) var firstUnknownRequiredAttribute: UInt16?

    /// The method Binding, the only one that ICE uses.
    public static let bindingMethod: UInt16 = 1

    /// Reads the message that fills `bytes`.
    public init(parsing bytes: UnsafeRawBufferPointer) throws(STUNError) {
        guard bytes.count >= STUN.headerLength else { throw .truncatedHeader(byteCount: bytes.count) }
        guard STUN.isSTUN(firstByte: bytes[0]) else { throw .notSTUN(firstByte: bytes[0]) }
        let cookie: UInt32 = bytes.loadBigEndian(4)
        guard cookie == STUN.magicCookie else { throw .wrongMagicCookie(cookie) }
        let type: UInt16 = bytes.loadBigEndian(0)
        let length = Int(bytes.loadBigEndian(2) as UInt16)
        guard length & 3 == 0, length == bytes.count - STUN.headerLength else {
            throw .wrongLength(field: length, actual: bytes.count - STUN.headerLength)
        }
        self.bytes = bytes
        // The two bits of the class lie between the bits of the method: M11-M7 C1 M6-M4 C0 M3-M0.
        let classBits = UInt8(truncatingIfNeeded: (type >> 7 & 0b10) | (type >> 4 & 0b01))
        messageClass =
            switch classBits {
            case 0b00: .request
            case 0b01: .indication
            case 0b10: .successResponse
            default: .errorResponse
            }
        method = (type & 0x000F) | (type >> 1 & 0x0070) | (type >> 2 & 0x0F80)
        transactionID = STUNTransactionID(high: bytes.loadBigEndian(8), low: bytes.loadBigEndian(12))
        try readAttributes()
    }

    private mutating func readAttributes() throws(STUNError) {
        var offset = STUN.headerLength
        while offset < bytes.count {
            // The length is a multiple of four, and so is every step below: at least four bytes are left here.
            let type: UInt16 = bytes.loadBigEndian(offset)
            let count = Int(bytes.loadBigEndian(offset + 2) as UInt16)
            let value = offset + 4
            guard bytes.count - value >= count else { throw .truncatedAttribute(type: type, offset: offset) }
            if fingerprintOffset != 0 { throw .attributeAfterFingerprint(type: type, offset: offset) }
            // MESSAGE-INTEGRITY does not protect what follows it. All of that is ignored, except FINGERPRINT (RFC 8489,
            // section 14.5).
            if integrityOffset == 0 || type == STUNAttributeType.fingerprint {
                guard readAttribute(type, at: value, count: count) else {
                    throw .wrongAttributeLength(type: type, length: count, offset: offset)
                }
            }
            // A sender must not cut off the padding of the last attribute: the length field counts it.
            let padded = (count + 3) & ~3
            guard bytes.count - value >= padded else { throw .truncatedAttribute(type: type, offset: offset) }
            offset = value + padded
        }
    }

    /// Records one attribute; false when its length is wrong. Of several attributes with the same type, the first
    /// counts (RFC 8489, section 14).
    private mutating func readAttribute(_ type: UInt16, at offset: Int, count: Int) -> Bool {
        switch type {
        case STUNAttributeType.username:
            // RFC 8489, section 14.3: less than 509 bytes; ICE's own limits allow 513.
            guard count <= 513 else { return false }
            if usernameOffset == 0 { (usernameOffset, usernameCount) = (offset, count) }
        case STUNAttributeType.xorMappedAddress, STUNAttributeType.mappedAddress:
            guard count == 8 && bytes[offset + 1] == 1 || count == 20 && bytes[offset + 1] == 2 else { return false }
            let isXORed = type == STUNAttributeType.xorMappedAddress
            if mappedAddressOffset == 0 || isXORed && !mappedAddressIsXORed {
                (mappedAddressOffset, mappedAddressIsXORed) = (offset, isXORed)
            }
        case STUNAttributeType.errorCode:
            guard count >= 4 else { return false }
            if errorCodeOffset == 0 { errorCodeOffset = offset }
        case STUNAttributeType.messageIntegrity:
            guard count == MessageIntegrityKey.digestLength else { return false }
            integrityOffset = offset
        case STUNAttributeType.fingerprint:
            guard count == 4 else { return false }
            fingerprintOffset = offset
        case STUNAttributeType.priority:
            guard count == 4 else { return false }
            if priority == nil { priority = bytes.loadBigEndian(offset) }
        case STUNAttributeType.useCandidate:
            guard count == 0 else { return false }
            usesCandidate = true
        case STUNAttributeType.iceControlling:
            guard count == 8 else { return false }
            if controllingTieBreaker == nil { controllingTieBreaker = bytes.loadBigEndian(offset) }
        case STUNAttributeType.iceControlled:
            guard count == 8 else { return false }
            if controlledTieBreaker == nil { controlledTieBreaker = bytes.loadBigEndian(offset) }
        default:
            if !STUNAttributeType.isUnderstood(type), firstUnknownRequiredAttribute == nil {
                firstUnknownRequiredAttribute = type
            }
        }
        return true
    }
}

extension UnsafeRawBufferPointer {
    /// The big-endian integer at `offset`. The caller has checked that its bytes exist.
    func loadBigEndian<Value: FixedWidthInteger & BitwiseCopyable>(_ offset: Int) -> Value {
        Value(bigEndian: loadUnaligned(fromByteOffset: offset, as: Value.self))
    }
}
