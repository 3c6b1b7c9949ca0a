import COpenSSL
import Transport

extension STUNMessage {
    /// The bytes of USERNAME; nil without one.
    public var username: UnsafeRawBufferPointer? {
        guard usernameOffset != 0 else { return nil }
        return UnsafeRawBufferPointer(rebasing: bytes[usernameOffset..<usernameOffset + usernameCount])
    }

    /// The address that the server saw: XOR-MAPPED-ADDRESS, or MAPPED-ADDRESS where the message has only that one.
    public var mappedAddress: TransportAddress? {
        guard mappedAddressOffset != 0 else { return nil }
        return address(at: mappedAddressOffset, isXORed: mappedAddressIsXORed)
    }

    /// The address of the first attribute of a type that has the form of XOR-MAPPED-ADDRESS; nil without a well-formed one.
    public func address(_ type: UInt16) -> TransportAddress? {
        range(of: type).flatMap(address(in:))
    }

    /// The addresses of the first attributes of a type that has this form: RFC 8656 lets a response have two. Malformed ones
    /// are left out.
    public func addresses(_ type: UInt16, atMost count: Int = 2) -> [TransportAddress] {
        var found: [TransportAddress] = []
        var next = range(of: type)
        while found.count < count, let range = next {
            if let address = address(in: range) { found.append(address) }
            next = self.range(of: type, after: range)
        }
        return found
    }

    private func address(in range: Range<Int>) -> TransportAddress? {
        guard range.count >= 8 else { return nil }
        let family = bytes[range.lowerBound + 1]
        guard family == 1 && range.count == 8 || family == 2 && range.count == 20 else { return nil }
        return address(at: range.lowerBound, isXORed: true)
    }

    /// The value of the first attribute of a type; nil without one.
    public func value(of type: UInt16) -> UnsafeRawBufferPointer? {
        range(of: type).map { UnsafeRawBufferPointer(rebasing: bytes[$0]) }
    }

    /// The integer that is the value of the first attribute of a type; nil without one of its length.
    public func integer<Value: FixedWidthInteger & BitwiseCopyable>(of type: UInt16) -> Value? {
        guard let range = range(of: type), range.count == MemoryLayout<Value>.size else { return nil }
        return bytes.loadBigEndian(range.lowerBound)
    }

    /// Where the value of the first attribute of a type lies; nil without one. What follows MESSAGE-INTEGRITY is not
    /// protected, and not found.
    public func range(of type: UInt16) -> Range<Int>? { range(of: type, after: nil) }

    private func range(of type: UInt16, after earlier: Range<Int>?) -> Range<Int>? {
        // An attribute begins at a multiple of four.
        var offset = earlier.map { ($0.upperBound + 3) & ~3 } ?? STUN.headerLength
        while offset < bytes.count {
            // The message was well formed when it was read.
            let found: UInt16 = bytes.loadBigEndian(offset)
            let count = Int(bytes.loadBigEndian(offset + 2) as UInt16)
            if found == type { return offset + 4..<offset + 4 + count }
            if found == STUNAttributeType.messageIntegrity { return nil }
            offset += 4 + (count + 3) & ~3
        }
        return nil
    }

    private func address(at offset: Int, isXORed: Bool) -> TransportAddress {
        let cookie = UInt64(STUN.magicCookie)
        let port: UInt16 =
            bytes.loadBigEndian(offset + 2) ^ (isXORed ? UInt16(truncatingIfNeeded: cookie >> 16) : 0)
        if bytes[offset + 1] == 1 {
            let address: UInt32 = bytes.loadBigEndian(offset + 4)
            return TransportAddress(ipv4: address ^ (isXORed ? STUN.magicCookie : 0), port: port)
        }
        var high: UInt64 = bytes.loadBigEndian(offset + 4)
        var low: UInt64 = bytes.loadBigEndian(offset + 12)
        if isXORed {
            high ^= cookie << 32 | UInt64(transactionID.high)
            low ^= transactionID.low
        }
        return TransportAddress(ipv6High: high, low: low, port: port)
    }

    /// The number of ERROR-CODE, 300 to 699; nil without one, or with one outside of this range.
    public var errorCode: UInt16? {
        guard errorCodeOffset != 0 else { return nil }
        let hundreds = UInt16(bytes[errorCodeOffset + 2] & 0x07)
        let rest = UInt16(bytes[errorCodeOffset + 3])
        guard (3...6).contains(hundreds), rest < 100 else { return nil }
        return hundreds * 100 + rest
    }

    /// Whether the message carries FINGERPRINT.
    public var hasFingerprint: Bool { fingerprintOffset != 0 }

    /// Whether the message carries a correct FINGERPRINT (RFC 8489, section 14.7).
    public var hasValidFingerprint: Bool {
        guard fingerprintOffset != 0 else { return false }
        let covered = UnsafeRawBufferPointer(rebasing: bytes[..<(fingerprintOffset - 4)])
        return (bytes.loadBigEndian(fingerprintOffset) as UInt32) == Fingerprint.value(of: covered)
    }

    /// Whether the message carries MESSAGE-INTEGRITY.
    public var hasMessageIntegrity: Bool { integrityOffset != 0 }

    /// Whether the message carries a MESSAGE-INTEGRITY made with `key` (RFC 8489, section 14.5). Takes the same time
    /// for every wrong value.
    public func hasValidIntegrity(_ key: inout MessageIntegrityKey) -> Bool {
        guard integrityOffset != 0 else { return false }
        // The digest covers the header as it would be if the message ended with MESSAGE-INTEGRITY.
        let length = UInt16(integrityOffset + MessageIntegrityKey.digestLength - STUN.headerLength)
        return withUnsafeTemporaryAllocation(byteCount: MessageIntegrityKey.digestLength, alignment: 8) { digest in
            let covered = UnsafeRawBufferPointer(rebasing: bytes[..<(integrityOffset - 4)])
            guard key.digest(covered, lengthField: length, into: digest) else { return false }
            guard let expected = digest.baseAddress, let start = bytes.baseAddress else { return false }
            return CRYPTO_memcmp(expected, start + integrityOffset, MessageIntegrityKey.digestLength) == 0
        }
    }
}
