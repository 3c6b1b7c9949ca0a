/// The AV1 payload format (RTP Payload Format For AV1, Alliance for Open Media).
public enum AV1 {
    /// The types of open bitstream units (AV1 bitstream specification, section 6.2.2).
    public enum UnitType {
        static let sequenceHeader: UInt8 = 1
        static let temporalDelimiter: UInt8 = 2
        static let frameHeader: UInt8 = 3
        static let frame: UInt8 = 6
        static let tileList: UInt8 = 8
        static let padding: UInt8 = 15
    }

    /// The type that a unit's first byte names.
    @inlinable static func type(_ header: UInt8) -> UInt8 { header >> 3 & 0x0F }

    /// Whether this payload is the first of a frame from which decoding can start: it begins a coded video sequence and
    /// holds the sequence header. For a sender that leaves the N bit out, the frame's own header counts.
    public static func isKeyFrameStart(payload: UnsafeRawBufferPointer) -> Bool {
        guard let header = AV1AggregationHeader(parsing: payload), !header.continuesUnit else { return false }
        var hasSequenceHeader = false
        var isKeyFrame: Bool?
        let isWhole = forEachElement(of: payload) { element, _, _ in
            let type = type(element[0])
            if type == UnitType.sequenceHeader {
                hasSequenceHeader = true
            } else if type == UnitType.frame || type == UnitType.frameHeader, isKeyFrame == nil {
                isKeyFrame = Self.isKeyFrame(unit: element)
            }
        }
        return isWhole && hasSequenceHeader && (isKeyFrame ?? header.startsSequence)
    }

    /// Whether a temporal unit, made of units with their sizes, begins a coded video sequence.
    public static func isKeyFrame(_ temporalUnit: UnsafeRawBufferPointer) -> Bool {
        var offset = 0
        while offset < temporalUnit.count {
            let header = temporalUnit[offset]
            let type = type(header)
            if type == UnitType.sequenceHeader { return true }
            // A delimiter and padding may come before it.
            guard type == UnitType.temporalDelimiter || type == UnitType.padding, header & 0x02 != 0 else {
                return false
            }
            offset += header & 0x04 == 0 ? 1 : 2
            guard let (length, size) = lengthField(temporalUnit.from(offset)) else { return false }
            offset += size + length
        }
        return false
    }

    /// Whether a frame, or its header, is a shown key frame (AV1 bitstream specification, section 5.9.2); nil where the
    /// unit is cut short. `show_existing_frame` and two bits of `frame_type` come first; the short header of still
    /// pictures has neither, but live streams do not use it.
    private static func isKeyFrame(unit: UnsafeRawBufferPointer) -> Bool? {
        var offset = unit[0] & 0x04 == 0 ? 1 : 2
        if unit[0] & 0x02 != 0 {
            guard unit.count > offset, let (_, size) = lengthField(unit.from(offset)) else { return nil }
            offset += size
        }
        guard unit.count > offset else { return nil }
        return unit[offset] & 0xE0 == 0
    }

    /// Hands each element of a payload to `body`, and says whether it is the first and whether it is the last. An
    /// element is a unit, or a fragment of one where the aggregation header says so. Empty elements are left out.
    /// - Returns: whether the payload could be read to its end.
    @discardableResult
    public static func forEachElement(
        of payload: UnsafeRawBufferPointer,
        _ body: (_ element: UnsafeRawBufferPointer, _ isFirst: Bool, _ isLast: Bool) -> Void
    ) -> Bool {
        guard let header = AV1AggregationHeader(parsing: payload) else { return false }
        var offset = 1
        var count = 0
        while offset < payload.count {
            count += 1
            var end = payload.count
            if header.elementCount != count {
                guard let (length, size) = lengthField(payload.from(offset)),
                    length <= payload.count - offset - size
                else { return false }
                offset += size
                end = offset + length
            }
            if end > offset {
                body(
                    UnsafeRawBufferPointer(rebasing: payload[offset..<end]), count == 1, end == payload.count)
            }
            offset = end
        }
        return count > 0 && (header.elementCount == 0 || header.elementCount == count)
    }

    /// Cuts a payload that is too long into payloads of at most `limit` bytes, which hold the same elements. Fragments
    /// continue from one to the next, so a frame stays one frame for a receiver. A payload that cannot be read to its
    /// end is cut as far as it can be read.
    public static func split(
        _ payload: UnsafeRawBufferPointer, limit: Int, _ emit: (UnsafeRawBufferPointer, _ isLast: Bool) -> Void
    ) {
        guard let header = AV1AggregationHeader(parsing: payload) else { return }
        // A length of two bytes reaches 16,383.
        let limit = min(max(limit, 8), 16_000)
        withUnsafeTemporaryAllocation(byteCount: limit, alignment: 1) { buffer in
            var fill = 1
            var continues = header.continuesUnit
            var starts = header.startsSequence
            func close(isContinued: Bool, isLast: Bool) {
                buffer[0] = (continues ? 0x80 : 0) | (isContinued ? 0x40 : 0) | (starts ? 0x08 : 0)
                emit(UnsafeRawBufferPointer(rebasing: buffer[..<fill]), isLast)
                fill = 1
                starts = false
                continues = isContinued
            }
            forEachElement(of: payload) { element, _, _ in
                var offset = 0
                while offset < element.count {
                    let room = limit - fill - 2
                    guard room > 0 else {
                        close(isContinued: offset > 0, isLast: false)
                        continue
                    }
                    let count = min(room, element.count - offset)
                    if count < 0x80 {
                        buffer[fill] = UInt8(truncatingIfNeeded: count)
                        fill += 1
                    } else {
                        buffer[fill] = UInt8(truncatingIfNeeded: count) | 0x80
                        buffer[fill + 1] = UInt8(truncatingIfNeeded: count >> 7)
                        fill += 2
                    }
                    UnsafeMutableRawBufferPointer(rebasing: buffer[fill..<fill + count]).copyMemory(
                        from: UnsafeRawBufferPointer(rebasing: element[offset..<offset + count]))
                    fill += count
                    offset += count
                    if offset < element.count { close(isContinued: true, isLast: false) }
                }
            }
            if fill > 1 { close(isContinued: header.isContinued, isLast: true) }
        }
    }

    /// A number in groups of seven bits, the least significant first (AV1 bitstream specification, section 4.10.5), and
    /// how many bytes it occupies; nil where it is cut short or longer than five bytes.
    static func lengthField(_ bytes: UnsafeRawBufferPointer) -> (value: Int, size: Int)? {
        var value = 0
        for (index, byte) in bytes.prefix(5).enumerated() {
            value |= Int(byte & 0x7F) << (7 * index)
            if byte & 0x80 == 0 { return (value, index + 1) }
        }
        return nil
    }
}

/// The first byte of an AV1 payload.
public struct AV1AggregationHeader: Equatable, Sendable, BitwiseCopyable {
    /// The first element continues a unit of the packet before (the Z bit).
    public var continuesUnit: Bool
    /// The last element continues in the next packet (the Y bit).
    public var isContinued: Bool
    /// The number of elements, the last without a length; 0 where each has one (W).
    public var elementCount: Int
    /// The packet is the first of a coded video sequence (the N bit).
    public var startsSequence: Bool

    /// Reads the header; nil for a payload with nothing after it, or one that both begins a sequence and continues a
    /// unit.
    public init?(parsing payload: UnsafeRawBufferPointer) {
        guard payload.count > 1 else { return nil }
        let first = payload[0]
        continuesUnit = first & 0x80 != 0
        isContinued = first & 0x40 != 0
        elementCount = Int(first >> 4 & 3)
        startsSequence = first & 0x08 != 0
        if startsSequence, continuesUnit { return nil }
    }
}
