/// Reads bits one after the other, the highest of each byte first. It returns nil past the end.
struct PlainBitReader {
    private let bytes: UnsafeRawBufferPointer
    /// How many bits have been read.
    private(set) var position = 0

    init(_ bytes: UnsafeRawBufferPointer) {
        self.bytes = bytes
    }

    /// How many bits are left.
    var remaining: Int { bytes.count * 8 - position }

    /// Up to 32 bits.
    mutating func read(_ count: Int) -> UInt32? {
        guard count >= 0, count <= 32, count <= remaining else { return nil }
        var value: UInt32 = 0
        var left = count
        while left > 0 {
            let inByte = position & 7
            let take = min(8 - inByte, left)
            let bits = UInt32(bytes[position >> 3]) >> UInt32(8 - inByte - take) & (1 << UInt32(take) - 1)
            value = value << UInt32(take) | bits
            position += take
            left -= take
        }
        return value
    }

    /// Skips bits; false past the end.
    mutating func skip(_ count: Int) -> Bool {
        guard count >= 0, count <= remaining else { return false }
        position += count
        return true
    }

    /// Appends `count` bytes that need not start at a byte boundary; false when fewer are left.
    mutating func copyBytes(_ count: Int, appendingTo output: inout [UInt8]) -> Bool {
        guard count >= 0, count <= remaining / 8 else { return false }
        let shift = UInt8(position & 7)
        let start = position >> 3
        if shift == 0 {
            output.append(contentsOf: bytes[start..<start + count])
        } else {
            for index in start..<start + count {
                output.append(bytes[index] << shift | bytes[index + 1] >> (8 - shift))
            }
        }
        position += count * 8
        return true
    }
}

/// Writes bits one after the other, the highest of each byte first; the last byte is filled up with zeros.
struct PlainBitWriter {
    private(set) var bytes: [UInt8] = []
    private var bitCount = 0

    mutating func write(_ value: UInt32, bits: Int) {
        for bit in stride(from: bits - 1, through: 0, by: -1) {
            if bitCount & 7 == 0 { bytes.append(0) }
            let isSet = value >> UInt32(bit) & 1 == 1
            if isSet { bytes[bytes.count - 1] |= 0x80 >> UInt8(bitCount & 7) }
            bitCount += 1
        }
    }
}
