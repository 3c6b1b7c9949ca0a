/// The tables of an MPEG transport stream that say what is in it (ISO/IEC 13818-1, section 2.4.4).
package enum TransportTables {
    /// One elementary stream of a program map.
    struct Stream: Equatable {
        var identifier: UInt16
        /// Its type (ISO/IEC 13818-1, table 2-34).
        var type: UInt8
        /// The four letters by which private data say what they are (`registration_descriptor`); empty without.
        var registration: String
    }

    /// The packet identifier of the first program's map; nil where the table names none or is damaged.
    static func programMap(_ section: [UInt8]) -> UInt16? {
        guard let body = body(of: section, table: 0x00) else { return nil }
        var offset = body.startIndex
        while offset + 4 <= body.endIndex {
            let program = Int(body[offset]) << 8 | Int(body[offset + 1])
            // Program 0 is the network's table.
            if program != 0 { return UInt16(body[offset + 2] & 0x1F) << 8 | UInt16(body[offset + 3]) }
            offset += 4
        }
        return nil
    }

    /// The streams of a program map; nil where it is damaged.
    static func streams(_ section: [UInt8]) -> [Stream]? {
        guard let body = body(of: section, table: 0x02), body.count >= 4 else { return nil }
        let start = body.startIndex
        var offset = start + 4 + (Int(body[start + 2] & 0x0F) << 8 | Int(body[start + 3]))
        var streams: [Stream] = []
        while offset + 5 <= body.endIndex {
            let length = Int(body[offset + 3] & 0x0F) << 8 | Int(body[offset + 4])
            guard offset + 5 + length <= body.endIndex else { return nil }
            streams.append(
                Stream(
                    identifier: UInt16(body[offset + 1] & 0x1F) << 8 | UInt16(body[offset + 2]), type: body[offset],
                    registration: registration(body[(offset + 5)..<(offset + 5 + length)])))
            offset += 5 + length
        }
        return streams
    }

    private static func registration(_ descriptors: ArraySlice<UInt8>) -> String {
        var offset = descriptors.startIndex
        while offset + 2 <= descriptors.endIndex {
            let end = offset + 2 + Int(descriptors[offset + 1])
            guard end <= descriptors.endIndex else { break }
            if descriptors[offset] == 0x05, end >= offset + 6 {
                return String(decoding: descriptors[(offset + 2)..<(offset + 6)], as: UTF8.self)
            }
            offset = end
        }
        return ""
    }

    /// What a section holds between its header and its checksum; nil for another table, one that is not in force yet, and
    /// one whose checksum is wrong.
    private static func body(of section: [UInt8], table: UInt8) -> ArraySlice<UInt8>? {
        guard section.count >= 12, section[0] == table, section[1] & 0x80 != 0, section[5] & 1 == 1,
            checksum(section) == 0
        else { return nil }
        return section[8..<(section.count - 4)]
    }

    /// The CRC-32 of annex A; zero over a section with its checksum.
    package static func checksum(_ bytes: some Sequence<UInt8>) -> UInt32 {
        var value: UInt32 = 0xFFFF_FFFF
        for byte in bytes {
            value ^= UInt32(byte) << 24
            for _ in 0..<8 { value = value & 0x8000_0000 != 0 ? value << 1 ^ 0x04C1_1DB7 : value << 1 }
        }
        return value
    }
}

/// Puts a table's section together from the packets that carry it.
struct SectionAssembler: Sendable {
    private var bytes: [UInt8] = []
    private var isActive = false
    /// The longest section of these tables (ISO/IEC 13818-1, section 2.4.4.4).
    private static let maximumLength = 1024

    /// Takes the payload of a packet. Returns the section that it completes.
    mutating func append(_ payload: UnsafeRawBufferPointer, startsSection: Bool) -> [UInt8]? {
        var rest = payload
        if startsSection {
            // The first byte says where the section begins.
            guard let pointer = payload.first, Int(pointer) + 1 < payload.count else { return nil }
            rest = UnsafeRawBufferPointer(rebasing: payload[(Int(pointer) + 1)...])
            bytes.removeAll(keepingCapacity: true)
            isActive = true
        }
        guard isActive else { return nil }
        bytes.append(contentsOf: rest)
        guard bytes.count >= 3 else { return nil }
        let length = 3 + (Int(bytes[1] & 0x0F) << 8 | Int(bytes[2]))
        guard length <= Self.maximumLength else {
            isActive = false
            return nil
        }
        guard bytes.count >= length else { return nil }
        isActive = false
        return Array(bytes[..<length])
    }
}
