import Transport

/// What a decoder of sound needs to know.
extension MP4Header.Track {
    /// The fields of an audio sample entry take 36 bytes with the header of the box (ISO/IEC 14496-12, section 12.2.3).
    private static let soundFields = 36

    /// The number of channels that the sample entry names; 0 for pictures.
    public var channels: Int {
        guard !isVideo, sampleEntry.count >= Self.soundFields else { return 0 }
        return Int(sampleEntry[24]) << 8 | Int(sampleEntry[25])
    }

    /// AAC's AudioSpecificConfig, from the elementary stream descriptor (ISO/IEC 14496-1, section 7.2.6); nil for other
    /// codecs, and when it cannot be read.
    public var audioSpecificConfig: [UInt8]? {
        guard format == "mp4a" else { return nil }
        return sampleEntry.withUnsafeBytes { raw -> [UInt8]? in
            guard raw.count >= Self.soundFields else { return nil }
            let inside = MP4Boxes(UnsafeRawBufferPointer(rebasing: raw[Self.soundFields...]))
            guard let box = try? inside.first("esds") else { return nil }
            var reader = ByteReader(box.content)
            // Version and flags; then ES_Descriptor, DecoderConfigDescriptor and DecoderSpecificInfo, one in the other.
            guard reader.skip(4), Self.enter(3, &reader) != nil, reader.skip(2), let flags = reader.readUInt8() else {
                return nil
            }
            if flags & 0x80 != 0, !reader.skip(2) { return nil }
            if flags & 0x40 != 0 {
                guard let length = reader.readUInt8(), reader.skip(Int(length)) else { return nil }
            }
            if flags & 0x20 != 0, !reader.skip(2) { return nil }
            guard Self.enter(4, &reader) != nil, reader.skip(13), let length = Self.enter(5, &reader) else {
                return nil
            }
            return reader.readBytes(length).map { Array($0) }
        }
    }

    /// Reads the head of a descriptor with this tag, and returns its length.
    private static func enter(_ tag: UInt8, _ reader: inout ByteReader) -> Int? {
        guard reader.readUInt8() == tag else { return nil }
        var length = 0
        for _ in 0..<4 {
            guard let byte = reader.readUInt8() else { return nil }
            length = length << 7 | Int(byte & 0x7F)
            if byte & 0x80 == 0 { return length }
        }
        return nil
    }
}
