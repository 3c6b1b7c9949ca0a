/// A QR code (ISO/IEC 18004): a text as a square of dark and light modules. It corrects up to 15 % of wrong codewords (level M),
/// and its size is the smallest that the text fits in.
public struct QRCode: Sendable, Equatable {
    /// The most bytes that a code holds: those of version 20, whose 97 modules a phone still reads from a screen.
    public static let longest = 666

    /// The number of modules on each side.
    public let size: Int
    /// Whether each module is dark, row by row.
    private(set) var dark: [Bool]

    /// Makes the code of a text; nil for one that is longer than ``longest`` bytes.
    public init?(_ text: String) {
        guard let codewords = QRCodewords(Array(text.utf8)) else { return nil }
        var best: (code: QRCode, penalty: Int)?
        for mask in 0..<8 {
            var grid = QRGrid(version: codewords.version)
            grid.place(codewords.interleaved)
            grid.apply(mask: mask)
            let code = QRCode(size: grid.size, dark: grid.dark)
            let penalty = code.penalty
            if best.map({ penalty < $0.penalty }) ?? true { best = (code, penalty) }
        }
        guard let best else { return nil }
        self = best.code
    }

    private init(size: Int, dark: [Bool]) {
        self.size = size
        self.dark = dark
    }

    /// Whether a module is dark. Those outside of the code are light.
    func isDark(_ column: Int, _ row: Int) -> Bool {
        (0..<size).contains(column) && (0..<size).contains(row) && dark[row * size + column]
    }
}
