/// The checksum of SCTP packets, CRC32c (RFC 9260, appendix A). The library computes its own; tests that damage packets need
/// it, because a packet with a wrong one is not even read.
package enum SCTPChecksum {
    private static let offset = 8

    /// Writes the right checksum into a packet. One that is too short for it stays as it is.
    package static func write(into packet: inout [UInt8]) {
        guard packet.count >= offset + 4 else { return }
        for index in 0..<4 { packet[offset + index] = 0 }
        var register: UInt32 = ~0
        for byte in packet {
            register ^= UInt32(byte)
            for _ in 0..<8 { register = register >> 1 ^ (register & 1 == 1 ? 0x82F6_3B78 : 0) }
        }
        let sum = ~register
        for index in 0..<4 { packet[offset + index] = UInt8(truncatingIfNeeded: sum >> (8 * UInt32(index))) }
    }
}
