/// What `avcC` and `hvcC` say (ISO/IEC 14496-15, sections 5.3.3 and 8.3.3): parameter sets, and how many bytes the length
/// in front of each unit has.
struct UnitConfiguration: Sendable, Equatable {
    /// H.265, and not H.264.
    let isH265: Bool
    /// Bytes of the length in front of each unit: 1, 2 or 4.
    let lengthSize: Int
    /// Without start codes.
    let parameterSets: [[UInt8]]

    private static let maximumSets = 16
    private static let maximumSetLength = 1024
    /// All sets together. They come in front of each key frame, and a key frame may have five bytes.
    private static let maximumSetsLength = 4096

    /// Reads an `AVCDecoderConfigurationRecord`.
    init?(avc bytes: UnsafeRawBufferPointer) {
        guard bytes.count >= 7, bytes[0] == 1 else { return nil }
        isH265 = false
        lengthSize = Int(bytes[4] & 3) + 1
        var offset = 5
        var sets: [[UInt8]] = []
        for mask in [UInt8(0x1F), 0xFF] {
            guard offset < bytes.count else { return nil }
            let count = Int(bytes[offset] & mask)
            offset += 1
            guard Self.read(count, bytes, &offset, &sets) else { return nil }
        }
        guard lengthSize != 3, !sets.isEmpty else { return nil }
        parameterSets = sets
    }

    /// Reads an `HEVCDecoderConfigurationRecord`.
    init?(hevc bytes: UnsafeRawBufferPointer) {
        guard bytes.count >= 23, bytes[0] == 1 else { return nil }
        isH265 = true
        lengthSize = Int(bytes[21] & 3) + 1
        var offset = 23
        var sets: [[UInt8]] = []
        for _ in 0..<bytes[22] {
            guard offset + 3 <= bytes.count else { return nil }
            let count = Int(bytes[offset + 1]) << 8 | Int(bytes[offset + 2])
            // The lower six bits are the type of the units: 32 to 34 are parameter sets, the others are messages.
            let isKept = (32...34).contains(bytes[offset] & 0x3F)
            offset += 3
            guard Self.read(count, bytes, &offset, &sets, isKept: isKept) else { return nil }
        }
        guard lengthSize != 3, !sets.isEmpty else { return nil }
        parameterSets = sets
    }

    private static func read(
        _ count: Int, _ bytes: UnsafeRawBufferPointer, _ offset: inout Int, _ sets: inout [[UInt8]],
        isKept: Bool = true
    ) -> Bool {
        var total = sets.reduce(0) { $0 + $1.count }
        for _ in 0..<count {
            guard offset + 2 <= bytes.count else { return false }
            let length = Int(bytes[offset]) << 8 | Int(bytes[offset + 1])
            offset += 2
            guard offset + length <= bytes.count else { return false }
            if isKept, length > 0, length <= maximumSetLength, sets.count < maximumSets,
                total + length <= maximumSetsLength
            {
                sets.append(Array(bytes[offset..<offset + length]))
                total += length
            }
            offset += length
        }
        return true
    }

    /// The access unit with start codes in place of the lengths, and with the parameter sets in front where it is a key
    /// frame that has none. Nil where the lengths do not fit, and where the start codes make it too long.
    func annexB(_ bytes: UnsafeRawBufferPointer) -> [UInt8]? {
        var unit: [UInt8] = []
        unit.reserveCapacity(bytes.count + 16)
        var offset = 0
        var hasSets = false
        var isKeyFrame = false
        while offset < bytes.count {
            guard offset + lengthSize <= bytes.count else { return nil }
            var length = 0
            for index in 0..<lengthSize { length = length << 8 | Int(bytes[offset + index]) }
            offset += lengthSize
            guard length <= bytes.count - offset, unit.count + 4 + length <= StreamUnit.maximumLength else {
                return nil
            }
            if length > 0 {
                let type = isH265 ? bytes[offset] >> 1 & 0x3F : bytes[offset] & 0x1F
                if isH265 ? type == 33 : type == 7 { hasSets = true }
                if isH265 ? (16...23).contains(type) : type == 5 { isKeyFrame = true }
                unit += [0, 0, 0, 1]
                unit.append(contentsOf: bytes[offset..<offset + length])
            }
            offset += length
        }
        guard !unit.isEmpty else { return nil }
        guard isKeyFrame, !hasSets else { return unit }
        return parameterSets.flatMap { [0, 0, 0, 1] + $0 } + unit
    }
}
