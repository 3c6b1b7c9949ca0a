extension QRCode {
    /// The width of the light border that readers need, in modules.
    private static let border = 4

    /// The code as an SVG image, black on white.
    public var svg: String {
        let side = size + 2 * Self.border
        var path = ""
        for row in 0..<size {
            var column = 0
            while column < size {
                let start = column
                while isDark(column, row) { column += 1 }
                if column > start {
                    let width = column - start
                    path += "M\(start + Self.border) \(row + Self.border)h\(width)v1h-\(width)z"
                } else {
                    column += 1
                }
            }
        }
        return """
            <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 \(side) \(side)" shape-rendering="crispEdges">\
            <rect width="\(side)" height="\(side)" fill="#fff"/><path d="\(path)"/></svg>
            """
    }

    /// The code as lines of text, two rows of modules in each line. Light modules are drawn, because the background of most
    /// terminals is dark.
    /// - Parameter isInverted: draws the dark modules, for a terminal with a light background.
    public func text(isInverted: Bool = false) -> String {
        let modules = -Self.border..<size + Self.border
        return stride(from: modules.lowerBound, to: modules.upperBound, by: 2).map { row in
            modules.map { column in
                let isInside = row + 1 < modules.upperBound
                let upper = isDark(column, row) == isInverted
                let lower = isInside && isDark(column, row + 1) == isInverted
                return switch (upper, lower) {
                case (true, true): "█"
                case (true, false): "▀"
                case (false, true): "▄"
                case (false, false): " "
                }
            }.joined()
        }.joined(separator: "\n")
    }
}
