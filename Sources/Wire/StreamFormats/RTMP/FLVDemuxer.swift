/// Takes an FLV stream apart, as cameras send it over HTTP (Adobe Flash Video File Format Specification 10.1, annex E.2).
public struct FLVDemuxer: StreamDemuxer {
    private var tags = FLVTags()
    private var rest: [UInt8] = []
    private var hasHeader = false
    private static let tagHeaderLength = 11

    /// A stream that begins with its header.
    public init() {}

    public var tracks: [StreamTrack] { tags.list.tracks }
    public var leftOut: [UnsupportedPart] { tags.list.leftOut }
    public var awaitsTracks: Bool { tags.awaitsTracks }

    public mutating func append(
        _ bytes: UnsafeRawBufferPointer, _ body: (StreamUnit) -> Void
    ) throws(StreamFormatError) {
        rest.append(contentsOf: bytes)
        var offset = 0
        var allowance = UnitAllowance()
        if !hasHeader {
            guard rest.count >= 9 else { return }
            let length = Int(rest[5]) << 24 | Int(rest[6]) << 16 | Int(rest[7]) << 8 | Int(rest[8])
            guard rest.starts(with: [0x46, 0x4C, 0x56]), (9...1024).contains(length) else {
                throw .notOfFormat(.flv)
            }
            // The length of the tag before the first, which is none, follows the header.
            guard rest.count >= length + 4 else { return }
            hasHeader = true
            offset = length + 4
        }
        while rest.count - offset >= Self.tagHeaderLength {
            let length = Int(rest[offset + 1]) << 16 | Int(rest[offset + 2]) << 8 | Int(rest[offset + 3])
            guard length <= StreamUnit.maximumLength else { throw .tooLong(.tag) }
            guard rest.count - offset >= Self.tagHeaderLength + length + 4 else { break }
            // The highest byte of the time comes last.
            var timestamp = UInt32(rest[offset + 7]) << 24
            timestamp |= UInt32(rest[offset + 4]) << 16 | UInt32(rest[offset + 5]) << 8 | UInt32(rest[offset + 6])
            let start = offset + Self.tagHeaderLength
            guard let kind = FLVTags.Kind(rawValue: rest[offset] & 0x1F), rest[offset] & 0xC0 == 0 else {
                throw .damaged(.tagType(rest[offset]))
            }
            if rest[offset] & 0x20 == 0 {
                allowance.add(input: length)
                rest[start..<(start + length)].withUnsafeBytes {
                    tags.take(kind, $0, timestamp: timestamp, within: &allowance, body)
                }
                guard !allowance.isExceeded else { throw .tooLong(.tagContent) }
            } else {
                throw .encryptedTags
            }
            offset = start + length + 4
        }
        rest.removeFirst(offset)
    }

    public mutating func finish(_ body: (StreamUnit) -> Void) {}
}
