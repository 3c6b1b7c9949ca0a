/// Reads the bits of a raw byte sequence payload of H.264, without the emulation prevention bytes that a NAL unit
/// carries (ITU-T H.264, sections 7.3.1 and 7.4.1). It returns nil past the end.
struct BitReader {
    private let bytes: UnsafeRawBufferPointer
    private var offset = 0
    private var bit = 0
    private var zeros = 0

    init(_ bytes: UnsafeRawBufferPointer) {
        self.bytes = bytes
    }

    mutating func readBit() -> UInt32? {
        if bit == 0, zeros >= 2, offset < bytes.count, bytes[offset] == 3 {
            offset += 1
            zeros = 0
        }
        guard offset < bytes.count else { return nil }
        let value = bytes[offset] >> UInt8(7 - bit) & 1
        bit += 1
        if bit == 8 {
            zeros = bytes[offset] == 0 ? zeros + 1 : 0
            bit = 0
            offset += 1
        }
        return UInt32(value)
    }

    /// Up to 32 bits, the highest first.
    mutating func read(_ count: Int) -> UInt32? {
        var value: UInt32 = 0
        for _ in 0..<count {
            guard let bit = readBit() else { return nil }
            value = value << 1 | bit
        }
        return value
    }

    /// Whole bytes from the current position, which need not be at a byte boundary.
    mutating func readBytes(_ count: Int) -> [UInt8]? {
        var result: [UInt8] = []
        for _ in 0..<count {
            guard let byte = read(8) else { return nil }
            result.append(UInt8(byte))
        }
        return result
    }

    /// An unsigned Exp-Golomb number of at most 32 bits (section 9.1).
    mutating func readExpGolomb() -> UInt32? {
        var zeros = 0
        while true {
            guard let bit = readBit(), zeros < 32 else { return nil }
            if bit == 1 { break }
            zeros += 1
        }
        guard zeros < 32, let rest = read(zeros) else { return nil }
        return UInt32(truncatingIfNeeded: UInt64(1) << UInt64(zeros) - 1 + UInt64(rest))
    }

    /// A signed Exp-Golomb number (section 9.1.1).
    mutating func readSignedExpGolomb() -> Int32? {
        guard let code = readExpGolomb() else { return nil }
        let magnitude = Int32(truncatingIfNeeded: (UInt64(code) + 1) / 2)
        return code & 1 == 1 ? magnitude : 0 &- magnitude
    }
}
