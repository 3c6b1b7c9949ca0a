/// FINGERPRINT: the CRC-32 of the message, XORed with a constant that spells "STUN" (RFC 8489, section 14.7).
enum Fingerprint {
    /// One step of the CRC for each value of a byte (ITU-T V.42, reflected polynomial 0xEDB88320).
    private static let table: [UInt32] = (0..<256).map { index in
        (0..<8).reduce(UInt32(index)) { value, _ in
            value & 1 == 1 ? value >> 1 ^ 0xEDB8_8320 : value >> 1
        }
    }

    /// The value of the attribute for a message whose bytes before the attribute are `bytes`.
    static func value(of bytes: UnsafeRawBufferPointer) -> UInt32 {
        table.withUnsafeBufferPointer { table in
            var crc: UInt32 = 0xFFFF_FFFF
            for byte in bytes {
                crc = table[Int(UInt8(truncatingIfNeeded: crc) ^ byte)] ^ crc >> 8
            }
            return ~crc ^ 0x5354_554E
        }
    }
}
