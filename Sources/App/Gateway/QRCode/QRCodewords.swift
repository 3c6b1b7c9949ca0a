/// The codewords of a QR code: the text in byte mode, padded, with the error correction of level M.
struct QRCodewords {
    /// The version of the code, 1 to 20, which decides its size.
    let version: Int
    /// Data and error correction in the order in which they are placed (ISO/IEC 18004, section 7.6).
    let interleaved: [UInt8]

    /// The codewords of error correction in each block, by version (ISO/IEC 18004, table 9).
    private static let correctionLengths = [
        10, 16, 26, 18, 24, 16, 18, 22, 22, 26, 30, 22, 22, 24, 24, 28, 28, 26, 26, 26,
    ]
    /// The number of blocks, by version.
    private static let blockCounts = [1, 1, 1, 2, 2, 4, 4, 4, 5, 5, 5, 8, 9, 9, 10, 10, 11, 13, 14, 16]

    /// Nil for bytes that fit in no version.
    init?(_ bytes: [UInt8]) {
        func capacity(_ version: Int) -> Int {
            QRGrid.codewordCount(version) - Self.correctionLengths[version - 1] * Self.blockCounts[version - 1]
        }
        // Four bits name the mode, and 8 or 16 bits the length.
        func needed(_ version: Int) -> Int { (4 + (version < 10 ? 8 : 16) + bytes.count * 8 + 7) / 8 }
        guard let version = (1...Self.blockCounts.count).first(where: { needed($0) <= capacity($0) }) else {
            return nil
        }
        self.version = version
        let data = Self.data(bytes, countBits: version < 10 ? 8 : 16, capacity: capacity(version))
        self.interleaved = Self.interleave(
            data, blocks: Self.blockCounts[version - 1], correction: Self.correctionLengths[version - 1])
    }

    private static func data(_ bytes: [UInt8], countBits: Int, capacity: Int) -> [UInt8] {
        var bits: [Bool] = []
        func append(_ value: Int, _ count: Int) {
            for shift in stride(from: count - 1, through: 0, by: -1) { bits.append(value >> shift & 1 == 1) }
        }
        append(0b0100, 4)
        append(bytes.count, countBits)
        for byte in bytes { append(Int(byte), 8) }
        append(0, min(4, capacity * 8 - bits.count))
        append(0, (8 - bits.count % 8) % 8)
        var data = stride(from: 0, to: bits.count, by: 8).map { start in
            bits[start..<start + 8].reduce(UInt8(0)) { $0 << 1 | ($1 ? 1 : 0) }
        }
        for index in 0..<capacity - data.count { data.append(index.isMultiple(of: 2) ? 0xEC : 0x11) }
        return data
    }

    /// Cuts the data into blocks, of which the last ones may be a codeword longer, and takes a codeword of each in turn.
    private static func interleave(_ data: [UInt8], blocks count: Int, correction length: Int) -> [UInt8] {
        let short = data.count / count
        let longer = data.count % count
        let generator = ReedSolomon(correctionLength: length)
        var blocks: [[UInt8]] = []
        var start = 0
        for index in 0..<count {
            let end = start + short + (index >= count - longer ? 1 : 0)
            blocks.append(Array(data[start..<end]))
            start = end
        }
        let corrections = blocks.map { generator.correction(of: $0) }
        var result: [UInt8] = []
        for index in 0...short {
            for block in blocks where index < block.count { result.append(block[index]) }
        }
        for index in 0..<length {
            for correction in corrections { result.append(correction[index]) }
        }
        return result
    }
}

/// Reed-Solomon codes over the field of 256 elements with the polynomial of QR codes (ISO/IEC 18004, section 7.5.2).
struct ReedSolomon {
    /// The coefficients of the generator polynomial, the highest power first and without the leading 1.
    private let divisor: [UInt8]

    init(correctionLength: Int) {
        var divisor = [UInt8](repeating: 0, count: correctionLength)
        divisor[correctionLength - 1] = 1
        var root: UInt8 = 1
        for _ in 0..<correctionLength {
            for index in divisor.indices {
                divisor[index] = Self.product(divisor[index], root)
                if index + 1 < divisor.count { divisor[index] ^= divisor[index + 1] }
            }
            root = Self.product(root, 2)
        }
        self.divisor = divisor
    }

    /// The remainder of the data, which is its error correction.
    func correction(of data: [UInt8]) -> [UInt8] {
        var remainder = [UInt8](repeating: 0, count: divisor.count)
        for byte in data {
            let factor = byte ^ remainder.removeFirst()
            remainder.append(0)
            for index in divisor.indices { remainder[index] ^= Self.product(divisor[index], factor) }
        }
        return remainder
    }

    /// The product of two elements of the field.
    private static func product(_ left: UInt8, _ right: UInt8) -> UInt8 {
        var product: UInt8 = 0
        for shift in stride(from: 7, through: 0, by: -1) {
            product = product << 1 ^ (product >> 7) * 0x1D
            product ^= (right >> UInt8(shift) & 1) * left
        }
        return product
    }
}
