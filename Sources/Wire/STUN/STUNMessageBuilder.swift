import Transport

/// Writes a STUN message into a buffer that it does not own, attribute by attribute.
///
/// The builder records that something did not fit, and ``finish()`` reports it. Add MESSAGE-INTEGRITY after everything
/// that it protects, and FINGERPRINT last.
public struct STUNMessageBuilder {
    private let buffer: UnsafeMutableRawBufferPointer
    private var writer: ByteWriter
    private let transactionID: STUNTransactionID
    private var hasFailed = false

    /// Writes the header of a Binding message. `buffer` must outlive the builder.
    public init(
        into buffer: UnsafeMutableRawBufferPointer, messageClass: STUNMessageClass,
        method: UInt16 = STUNMessage.bindingMethod, transactionID: STUNTransactionID
    ) {
        self.buffer = buffer
        self.transactionID = transactionID
        writer = ByteWriter(buffer)
        let classBits = UInt16(messageClass.rawValue)
        let methodBits = (method & 0x000F) | (method & 0x0070) << 1 | (method & 0x0F80) << 2
        writer.write(methodBits | (classBits & 0b01) << 4 | (classBits & 0b10) << 7)
        writer.write(UInt16(0))
        writer.write(STUN.magicCookie)
        writer.write(transactionID.high)
        writer.write(transactionID.low)
    }

    /// Adds an attribute of any type; the value is padded with zeros.
    public mutating func addAttribute(_ type: UInt16, _ value: UnsafeRawBufferPointer) {
        writer.write(type)
        writer.write(UInt16(truncatingIfNeeded: value.count))
        writer.write(value)
        pad(value.count)
    }

    /// Adds USERNAME.
    public mutating func addUsername(_ username: [UInt8]) {
        username.withUnsafeBytes { addAttribute(STUNAttributeType.username, $0) }
    }

    /// Adds PRIORITY.
    public mutating func addPriority(_ priority: UInt32) {
        addInteger(STUNAttributeType.priority, priority)
    }

    /// Adds USE-CANDIDATE.
    public mutating func addUseCandidate() {
        writer.write(STUNAttributeType.useCandidate)
        writer.write(UInt16(0))
    }

    /// Adds ICE-CONTROLLING.
    public mutating func addControlling(tieBreaker: UInt64) {
        addInteger(STUNAttributeType.iceControlling, tieBreaker)
    }

    /// Adds ICE-CONTROLLED.
    public mutating func addControlled(tieBreaker: UInt64) {
        addInteger(STUNAttributeType.iceControlled, tieBreaker)
    }

    /// Adds XOR-MAPPED-ADDRESS (RFC 8489, section 14.2).
    public mutating func addMappedAddress(_ address: TransportAddress) {
        addAddress(STUNAttributeType.xorMappedAddress, address)
    }

    /// Adds an address in the form of XOR-MAPPED-ADDRESS.
    public mutating func addAddress(_ type: UInt16, _ address: TransportAddress) {
        let cookie = UInt64(STUN.magicCookie)
        writer.write(type)
        writer.write(UInt16(address.family == .ipv4 ? 8 : 20))
        writer.write(UInt16(address.family == .ipv4 ? 1 : 2))
        writer.write(address.port ^ UInt16(truncatingIfNeeded: cookie >> 16))
        switch address.family {
        case .ipv4:
            writer.write(UInt32(truncatingIfNeeded: address.low) ^ STUN.magicCookie)
        case .ipv6:
            writer.write(address.high ^ (cookie << 32 | UInt64(transactionID.high)))
            writer.write(address.low ^ transactionID.low)
        }
    }

    /// Adds ERROR-CODE with the recommended reason phrase.
    public mutating func addErrorCode(_ code: UInt16) {
        STUNErrorCode.reasonPhrase(code).withUTF8Buffer { reason in
            writer.write(STUNAttributeType.errorCode)
            writer.write(UInt16(4 + reason.count))
            // 21 reserved bits, three bits for the hundreds, one byte for the tens and ones.
            writer.write(UInt32(code / 100 % 8) << 8 | UInt32(code % 100))
            writer.write(UnsafeRawBufferPointer(reason))
            pad(reason.count)
        }
    }

    /// Adds UNKNOWN-ATTRIBUTES with one type.
    public mutating func addUnknownAttribute(_ type: UInt16) {
        addInteger(STUNAttributeType.unknownAttributes, type)
        pad(2)
    }

    /// Adds MESSAGE-INTEGRITY over everything before it.
    public mutating func addMessageIntegrity(_ key: inout MessageIntegrityKey) {
        let covered = writer.count
        let end = covered + 4 + MessageIntegrityKey.digestLength
        writer.write(STUNAttributeType.messageIntegrity)
        writer.write(UInt16(MessageIntegrityKey.digestLength))
        withUnsafeTemporaryAllocation(byteCount: MessageIntegrityKey.digestLength, alignment: 8) { digest in
            let isMade =
                !writer.overflowed
                && key.digest(
                    UnsafeRawBufferPointer(rebasing: buffer[..<covered]),
                    lengthField: UInt16(truncatingIfNeeded: end - STUN.headerLength), into: digest)
            if !isMade { hasFailed = true }
            writer.write(UnsafeRawBufferPointer(digest))
        }
    }

    /// Adds FINGERPRINT over everything before it.
    public mutating func addFingerprint() {
        let covered = writer.count
        // The checksum covers the header with its final length, so it is set first.
        setLength(covered + 8)
        let value = writer.overflowed ? 0 : Fingerprint.value(of: UnsafeRawBufferPointer(rebasing: buffer[..<covered]))
        addInteger(STUNAttributeType.fingerprint, value)
    }

    /// Completes the header. Returns the length of the message in bytes, or nil when it did not fit or could not be
    /// signed.
    public mutating func finish() -> Int? {
        setLength(writer.count)
        return writer.overflowed || hasFailed ? nil : writer.count
    }

    private mutating func setLength(_ end: Int) {
        writer.overwrite(UInt16(truncatingIfNeeded: end - STUN.headerLength), at: 2)
    }

    /// Adds an attribute whose value is an integer of four or eight bytes.
    public mutating func addInteger<Value: FixedWidthInteger>(_ type: UInt16, _ value: Value) {
        writer.write(type)
        writer.write(UInt16(MemoryLayout<Value>.size))
        writer.write(value)
    }

    private mutating func pad(_ count: Int) {
        for _ in 0..<(-count & 3) { writer.write(UInt8(0)) }
    }
}
