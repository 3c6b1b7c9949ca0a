/// A table for a terminal: a header and rows, with aligned columns in any script.
public struct TextTable: Sendable {
    private var lines: [Line]

    private enum Line: Sendable {
        case cells([String])
        case remark(String)
    }

    /// A table with a header.
    public init(header: [String]) {
        lines = [.cells(header)]
    }

    /// Adds a row. It has as many cells as the header, without line breaks.
    public mutating func add(_ cells: [String]) {
        lines.append(.cells(cells))
    }

    /// Adds a line that belongs to the row before it and has no columns.
    public mutating func addRemark(_ text: String) {
        lines.append(.remark(text))
    }

    /// The table, without a line break at its end.
    public var text: String {
        var widths: [Int] = []
        for case .cells(let cells) in lines {
            for (column, cell) in cells.enumerated() {
                if column == widths.count { widths.append(0) }
                widths[column] = max(widths[column], Self.width(of: cell))
            }
        }
        let rows = lines.map { line in
            switch line {
            case .remark(let text): return "  " + text
            case .cells(let cells):
                var row = ""
                var missing = 0
                for (column, cell) in cells.enumerated() {
                    row += String(repeating: " ", count: missing) + cell
                    missing = widths[column] - Self.width(of: cell) + 2
                }
                while row.last == " " { row.removeLast() }
                return row
            }
        }
        return rows.joined(separator: "\n")
    }

    /// How many columns of a terminal a text takes: two for East Asian wide characters and emoji, none for combining
    /// marks (Unicode Standard Annex 11).
    public static func width(of text: String) -> Int {
        text.reduce(0) { $0 + width(of: $1) }
    }

    private static func width(of character: Character) -> Int {
        let scalars = character.unicodeScalars
        // An emoji with a variation selector, a flag of two letters and joined emoji each take the width of one emoji.
        if scalars.contains("\u{FE0F}") { return 2 }
        return scalars.map(width(of:)).max() ?? 0
    }

    private static func width(of scalar: Unicode.Scalar) -> Int {
        switch scalar.properties.generalCategory {
        case .nonspacingMark, .enclosingMark, .format, .control: return 0
        default: break
        }
        if scalar.properties.isEmojiPresentation { return 2 }
        return wide.contains { $0.contains(scalar.value) } ? 2 : 1
    }

    /// The blocks whose characters are wide in East Asian fonts.
    private static let wide: [ClosedRange<UInt32>] = [
        0x1100...0x115F, 0x2E80...0x303E, 0x3041...0x33FF, 0x3400...0x4DBF, 0x4E00...0x9FFF, 0xA000...0xA4CF,
        0xA960...0xA97F, 0xAC00...0xD7A3, 0xF900...0xFAFF, 0xFE10...0xFE19, 0xFE30...0xFE6F, 0xFF01...0xFF60,
        0xFFE0...0xFFE6, 0x1F300...0x1F64F, 0x1F680...0x1F6FF, 0x1F900...0x1F9FF, 0x20000...0x3FFFD,
    ]
}
