/// The header before the JPEG data in each payload (RFC 2435, section 3.1).
public struct JPEGPayloadHeader: Equatable, Sendable {
    /// The offset of the payload's data in the picture's entropy-coded data, in bytes.
    public var fragmentOffset: Int
    /// The coding: 0 is 4:2:2, 1 is 4:2:0; 64 more with restart markers.
    public var type: UInt8
    /// The quality: 1 to 99 mean computed tables, 128 to 255 tables in the stream.
    public var quality: UInt8
    /// The picture's width in pixels; 0 where it does not fit the header (more than 2,040).
    public var width: Int
    /// The picture's height in pixels.
    public var height: Int
    /// The number of blocks between restart markers; nil where the stream has none.
    public var restartInterval: UInt16?
    /// The position of the quantization tables in the payload, in bytes; nil where it has none.
    public var tables: Range<Int>?
    /// Whether the tables have 16 bits per entry: one bit for each table, the first in the lowest bit.
    public var tablePrecision: UInt8 = 0
    /// The length of all headers in bytes.
    public var length: Int

    /// The length of the main header in bytes.
    public static let mainLength = 8

    /// Reads the headers at the start of a payload; nil when they are cut short or no data follows.
    public init?(parsing payload: UnsafeRawBufferPointer) {
        guard payload.count > Self.mainLength else { return nil }
        fragmentOffset = Int(payload.bigEndian24(at: 1))
        type = payload[4]
        quality = payload[5]
        width = Int(payload[6]) * 8
        height = Int(payload[7]) * 8
        var end = Self.mainLength
        if type & 0xC0 == 0x40 {
            guard payload.count > end + 4 else { return nil }
            restartInterval = payload.bigEndian16(at: end)
            end += 4
        }
        if quality >= 128, fragmentOffset == 0 {
            guard payload.count > end + 4 else { return nil }
            tablePrecision = payload[end + 1]
            let count = Int(payload.bigEndian16(at: end + 2))
            end += 4
            guard payload.count > end + count else { return nil }
            if count > 0 { tables = end..<end + count }
            end += count
        }
        length = end
    }
}

/// Rebuilds the JFIF headers that RFC 2435 leaves out of the stream (appendices A and B).
enum JPEGHeaders {
    /// Everything from the start of the image up to its entropy-coded data.
    ///
    /// - Parameter tables: two quantization tables as the stream carries them.
    static func make(_ header: JPEGPayloadHeader, tables: [UInt8], precision: UInt8) -> [UInt8]? {
        guard header.width > 0, header.height > 0, header.type & 0x3F < 2, header.type < 128 else { return nil }
        // JFIF's own segment states the density, which is unspecified.
        var bytes: [UInt8] = [0xFF, 0xD8, 0xFF, 0xE0, 0, 16, 0x4A, 0x46, 0x49, 0x46, 0, 1, 1, 0, 0, 1, 0, 1, 0, 0]
        var offset = 0
        var tableCount: UInt8 = 0
        while tableCount < 2 {
            let isWide = precision >> tableCount & 1 == 1
            let length = isWide ? 128 : 64
            guard offset + length <= tables.count else { break }
            bytes += [0xFF, 0xDB, 0, UInt8(length + 3), (isWide ? 0x10 : 0) | tableCount]
            bytes += tables[offset..<offset + length]
            offset += length
            tableCount += 1
        }
        guard tableCount > 0 else { return nil }
        if let interval = header.restartInterval {
            bytes += [0xFF, 0xDD, 0, 4, UInt8(interval >> 8), UInt8(truncatingIfNeeded: interval)]
        }
        let chromaTable: UInt8 = tableCount == 2 ? 1 : 0
        let size = [header.height, header.width].flatMap { [UInt8($0 >> 8), UInt8(truncatingIfNeeded: $0)] }
        // Type 0 samples chroma at half the width; type 1 samples it at half the height, too.
        bytes += [0xFF, 0xC0, 0, 17, 8] + size
        bytes += [3, 1, header.type & 0x3F == 0 ? 0x21 : 0x22, 0, 2, 0x11, chromaTable, 3, 0x11, chromaTable]
        for table in JPEGTables.huffman {
            bytes += [0xFF, 0xC4, UInt8((table.counts.count + table.values.count + 3) >> 8)]
            bytes += [UInt8(truncatingIfNeeded: table.counts.count + table.values.count + 3), table.identifier]
            bytes += table.counts + table.values
        }
        bytes += [0xFF, 0xDA, 0, 12, 3, 1, 0, 2, 0x11, 3, 0x11, 0, 63, 0]
        return bytes
    }
}
