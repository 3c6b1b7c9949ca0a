import Transport

/// What a decoder of H.264 or H.265 needs in front of the first frame, where frames come with start codes.
extension MP4Header.Track {
    /// The parameter sets of the sample entry with start codes (ISO/IEC 14496-15, sections 5.3.3.1 and 8.3.3.1). Empty
    /// when the stream holds them itself; nil when they cannot be read.
    public var parameterSets: [UInt8]? {
        sampleEntry.withUnsafeBytes { raw in
            // The fields of a visual sample entry take 86 bytes with the header of the box.
            guard raw.count >= 86 else { return nil }
            let inside = MP4Boxes(UnsafeRawBufferPointer(rebasing: raw[86...]))
            if let box = try? inside.first("avcC") { return Self.h264(box.content) }
            if let box = try? inside.first("hvcC") { return Self.h265(box.content) }
            return []
        }
    }

    /// Units with lengths of four bytes as units with start codes; nil when a length does not fit.
    public static func annexB(_ sample: [UInt8]) -> [UInt8]? {
        var result: [UInt8] = []
        result.reserveCapacity(sample.count + 16)
        let isWhole = sample.withUnsafeBytes { raw -> Bool in
            var reader = ByteReader(raw)
            while reader.remaining > 0 {
                guard let length: UInt32 = reader.read(), let unit = reader.readBytes(Int(length)) else { return false }
                append(unit, to: &result)
            }
            return true
        }
        return isWhole ? result : nil
    }

    private static func append(_ unit: UnsafeRawBufferPointer, to result: inout [UInt8]) {
        result += [0, 0, 0, 1]
        result.append(contentsOf: unit)
    }

    private static func h264(_ record: UnsafeRawBufferPointer) -> [UInt8]? {
        var reader = ByteReader(record)
        var result: [UInt8] = []
        guard reader.skip(5), let sequence = reader.readUInt8() else { return nil }
        guard add(Int(sequence & 0x1F), from: &reader, to: &result), let pictures = reader.readUInt8(),
            add(Int(pictures), from: &reader, to: &result)
        else { return nil }
        return result
    }

    private static func h265(_ record: UnsafeRawBufferPointer) -> [UInt8]? {
        var reader = ByteReader(record)
        var result: [UInt8] = []
        guard reader.skip(22), let arrays = reader.readUInt8() else { return nil }
        for _ in 0..<arrays {
            guard reader.skip(1), let count: UInt16 = reader.read(),
                add(Int(count), from: &reader, to: &result)
            else { return nil }
        }
        return result
    }

    private static func add(_ count: Int, from reader: inout ByteReader, to result: inout [UInt8]) -> Bool {
        for _ in 0..<count {
            guard let length: UInt16 = reader.read(), let unit = reader.readBytes(Int(length)) else { return false }
            append(unit, to: &result)
        }
        return true
    }
}
