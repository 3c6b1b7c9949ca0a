/// The modules of a QR code while it is drawn: the fixed patterns first, then the codewords, then the mask.
struct QRGrid {
    let version: Int
    let size: Int
    private(set) var dark: [Bool]
    /// Whether a module belongs to a fixed pattern, which the mask leaves as it is.
    private var isFixed: [Bool]

    init(version: Int) {
        self.version = version
        size = version * 4 + 17
        dark = Array(repeating: false, count: size * size)
        isFixed = dark
        for index in 0..<size {
            fix(6, index, index.isMultiple(of: 2))
            fix(index, 6, index.isMultiple(of: 2))
        }
        drawFinders()
        drawAlignments()
        drawFormat(mask: 0)
        drawVersion()
    }

    /// How many codewords a version has room for.
    static func codewordCount(_ version: Int) -> Int {
        QRGrid(version: version).isFixed.count { !$0 } / 8
    }

    private mutating func fix(_ column: Int, _ row: Int, _ isDark: Bool) {
        dark[row * size + column] = isDark
        isFixed[row * size + column] = true
    }

    /// The three large squares, with the light border around each.
    private mutating func drawFinders() {
        for (column, row) in [(3, 3), (size - 4, 3), (3, size - 4)] {
            for deltaRow in -4...4 {
                for deltaColumn in -4...4 {
                    let (x, y) = (column + deltaColumn, row + deltaRow)
                    guard (0..<size).contains(x), (0..<size).contains(y) else { continue }
                    let distance = max(abs(deltaColumn), abs(deltaRow))
                    fix(x, y, distance != 2 && distance != 4)
                }
            }
        }
    }

    /// The small squares, at the crossings of some columns and rows except at the finders.
    private mutating func drawAlignments() {
        let positions = alignmentPositions
        guard let last = positions.last else { return }
        for row in positions {
            for column in positions
            where ![[6, 6], [6, last], [last, 6]].contains([column, row]) {
                for deltaRow in -2...2 {
                    for deltaColumn in -2...2 {
                        fix(column + deltaColumn, row + deltaRow, max(abs(deltaColumn), abs(deltaRow)) != 1)
                    }
                }
            }
        }
    }

    /// The columns, and the rows, of the small squares (ISO/IEC 18004, annex E).
    private var alignmentPositions: [Int] {
        guard version > 1 else { return [] }
        let count = version / 7 + 2
        let step = (version * 4 + count * 2 + 1) / (count * 2 - 2) * 2
        return [6] + (0..<count - 1).map { size - 7 - $0 * step }.reversed()
    }

    /// The level of error correction and the mask, twice (ISO/IEC 18004, section 7.9).
    private mutating func drawFormat(mask: Int) {
        // Level M has the number 0.
        var remainder = mask
        for _ in 0..<10 { remainder = remainder << 1 ^ (remainder >> 9) * 0x537 }
        let bits = (mask << 10 | remainder) ^ 0x5412
        func bit(_ index: Int) -> Bool { bits >> index & 1 == 1 }
        for index in 0...5 { fix(8, index, bit(index)) }
        fix(8, 7, bit(6))
        fix(8, 8, bit(7))
        fix(7, 8, bit(8))
        for index in 9..<15 { fix(14 - index, 8, bit(index)) }
        for index in 0..<8 { fix(size - 1 - index, 8, bit(index)) }
        for index in 8..<15 { fix(8, size - 15 + index, bit(index)) }
        fix(8, size - 8, true)
    }

    /// The version, twice, from version 7 on (ISO/IEC 18004, section 7.10).
    private mutating func drawVersion() {
        guard version >= 7 else { return }
        var remainder = version
        for _ in 0..<12 { remainder = remainder << 1 ^ (remainder >> 11) * 0x1F25 }
        let bits = version << 12 | remainder
        for index in 0..<18 {
            let isDark = bits >> index & 1 == 1
            fix(size - 11 + index % 3, index / 3, isDark)
            fix(index / 3, size - 11 + index % 3, isDark)
        }
    }

    /// Places the codewords in pairs of columns from the right, up and down in turn.
    mutating func place(_ codewords: [UInt8]) {
        var index = 0
        var right = size - 1
        while right >= 1 {
            // The column of the timing pattern is left out.
            if right == 6 { right = 5 }
            for step in 0..<size {
                let isUpward = (right + 1) & 2 == 0
                let row = isUpward ? size - 1 - step : step
                for column in [right, right - 1] where !isFixed[row * size + column] && index < codewords.count * 8 {
                    dark[row * size + column] = codewords[index / 8] >> UInt8(7 - index % 8) & 1 == 1
                    index += 1
                }
            }
            right -= 2
        }
    }

    /// Applies a mask, 0 to 7, and records it in the format (ISO/IEC 18004, section 7.8.2).
    mutating func apply(mask: Int) {
        for row in 0..<size {
            for column in 0..<size where !isFixed[row * size + column] && Self.inverts(mask, column, row) {
                dark[row * size + column].toggle()
            }
        }
        drawFormat(mask: mask)
    }

    private static func inverts(_ mask: Int, _ column: Int, _ row: Int) -> Bool {
        let product = column * row
        return switch mask {
        case 0: (column + row) % 2 == 0
        case 1: row % 2 == 0
        case 2: column % 3 == 0
        case 3: (column + row) % 3 == 0
        case 4: (column / 3 + row / 2) % 2 == 0
        case 5: product % 2 + product % 3 == 0
        case 6: (product % 2 + product % 3) % 2 == 0
        default: ((column + row) % 2 + product % 3) % 2 == 0
        }
    }
}
