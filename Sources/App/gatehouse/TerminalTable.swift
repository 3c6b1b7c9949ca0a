import Gateway
import GatewayClient

/// A table on standard output. On a terminal it fits the width: the widest cells are cut, and an ellipsis stands for
/// what is missing. A file and a pipe get everything.
struct TerminalTable {
    private enum Line {
        case cells([String])
        case remark(String)
    }

    /// A column that can be cut keeps so many columns of the terminal, and as many as its header has.
    private static let leastWidth = 8
    /// What `TextTable` puts between two cells.
    private static let gap = 2

    private let header: [String]
    private let whole: Set<Int>
    private var lines: [Line] = []

    /// A table with a header.
    /// - Parameter whole: the columns that are never cut: what people type again, and times.
    init(header: [String], whole: [String]) {
        self.header = header
        self.whole = Set(header.indices.filter { whole.contains(header[$0]) })
    }

    /// Adds a row. It has as many cells as the header.
    mutating func add(_ cells: [String]) { lines.append(.cells(cells)) }

    /// Adds a line that belongs to the row before it and has no columns.
    mutating func addRemark(_ text: String) { lines.append(.remark(text)) }

    /// The table as standard output takes it.
    var text: String { fitted(to: Terminal.width) }

    private func fitted(to width: Int?) -> String {
        let widths = width.map { columns(fitting: $0) }
        var table = TextTable(header: header)
        for line in lines {
            switch line {
            case .remark(let text): table.addRemark(text)
            case .cells(let cells):
                guard let widths else {
                    table.add(cells)
                    continue
                }
                table.add(zip(cells, widths).map { Self.cut($0, to: $1) })
            }
        }
        return table.text
    }

    /// The widths of the columns, after the widest ones have given what is too much.
    private func columns(fitting width: Int) -> [Int] {
        var widths = header.map { TextTable.width(of: $0) }
        let least = widths.map { max($0, Self.leastWidth) }
        for case .cells(let cells) in lines {
            for (column, cell) in zip(widths.indices, cells) {
                widths[column] = max(widths[column], TextTable.width(of: cell))
            }
        }
        var excess = widths.reduce(0, +) + Self.gap * (widths.count - 1) - width
        while excess > 0 {
            let cuttable = widths.indices.filter { !whole.contains($0) && widths[$0] > least[$0] }
            guard let widest = cuttable.max(by: { widths[$0] < widths[$1] }) else { break }
            widths[widest] -= 1
            excess -= 1
        }
        return widths
    }

    private static func cut(_ cell: String, to width: Int) -> String {
        guard TextTable.width(of: cell) > width else { return cell }
        var left = width - 1
        let shown = cell.prefix(while: { character in
            left -= TextTable.width(of: String(character))
            return left >= 0
        })
        return String(shown) + "…"
    }
}

/// Identifiers as standard output shows them: in full, and on a terminal their beginnings, which all commands take too.
struct ShownIdentifiers {
    private let short: ShortIdentifiers?

    /// - Parameter ids: all identifiers of one kind, so that what is shown names one of them.
    init(_ ids: some Sequence<String>) {
        short = Terminal.width == nil ? nil : ShortIdentifiers(ids)
    }

    subscript(id: String) -> String { short?[id] ?? id }
}
