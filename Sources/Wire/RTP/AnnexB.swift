/// Walks the NAL units of a byte stream with start codes (ITU-T H.264, annex B).
///
/// Bytes before the first start code are skipped, as are empty units and the zero bytes that may trail a unit.
public struct AnnexBUnits: Sequence, IteratorProtocol {
    private let bytes: UnsafeRawBufferPointer
    private var offset: Int

    /// Starts at the beginning of a stream or of a frame. The bytes must outlive the iterator.
    public init(_ bytes: UnsafeRawBufferPointer) {
        self.bytes = bytes
        offset = Self.startCode(in: bytes, from: 0) ?? bytes.count
    }

    public mutating func next() -> UnsafeRawBufferPointer? {
        while offset < bytes.count {
            let start = offset + 3
            let following = Self.startCode(in: bytes, from: start) ?? bytes.count
            offset = following
            var end = following
            while end > start, bytes[end - 1] == 0 { end -= 1 }
            if end > start { return UnsafeRawBufferPointer(rebasing: bytes[start..<end]) }
        }
        return nil
    }

    /// Where the next `00 00 01` starts.
    private static func startCode(in bytes: UnsafeRawBufferPointer, from start: Int) -> Int? {
        var index = start
        while index + 2 < bytes.count {
            // The third byte decides how far to skip: it rules out a start code at the positions before.
            switch bytes[index + 2] {
            case 0: index += 1
            case 1 where bytes[index] == 0 && bytes[index + 1] == 0: return index
            default: index += 3
            }
        }
        return nil
    }
}
