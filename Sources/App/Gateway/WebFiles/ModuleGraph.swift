/// Which modules a document needs, so that browsers ask for all of them at once and do not find them one after the
/// other.
enum ModuleGraph {
    private static let keywords = [Array("import".utf8), Array("export".utf8)]
    private static let from = Array("from".utf8)
    private static let opening = Array("\"./".utf8)

    /// The names of the modules that a module imports statically, as it writes them without `./`: `dom.js`.
    ///
    /// It looks at lines that begin with `import` or `export`, and there for `from "./NAME"` before the next semicolon.
    /// It compares bytes and not characters, because the first visitor waits until all modules have been read.
    static func imports(of bytes: [UInt8]) -> [String] {
        var names: [String] = []
        var line = 0
        while line < bytes.count {
            if let found = reference(in: bytes, at: line) {
                names.append(found.name)
                line = found.end
            }
            line = (bytes[line...].firstIndex(of: UInt8(ascii: "\n")) ?? bytes.count) + 1
        }
        return names
    }

    /// The module that the statement at the beginning of a line names, and where what follows its name begins.
    private static func reference(in bytes: [UInt8], at line: Int) -> (name: String, end: Int)? {
        let space = line + 6
        guard keywords.contains(where: { bytes[line...].starts(with: $0) }), space < bytes.count,
            isSpace(bytes[space])
        else { return nil }
        var place = space + 1
        while place < bytes.count, bytes[place] != UInt8(ascii: ";") {
            if bytes[place...].starts(with: from),
                let quote = bytes[(place + 4)...].firstIndex(where: { !isSpace($0) }), quote > place + 4,
                bytes[quote...].starts(with: opening),
                let end = bytes[(quote + 3)...].firstIndex(of: UInt8(ascii: "\"")), end > quote + 3
            {
                return (String(decoding: bytes[(quote + 3)..<end], as: UTF8.self), end + 1)
            }
            place += 1
        }
        return nil
    }

    private static func isSpace(_ byte: UInt8) -> Bool { byte == UInt8(ascii: " ") || (9...13).contains(byte) }

    /// A document with the addresses of files that never change, and with links to all modules of its script.
    /// - Parameter imports: the names of the modules that the module at a path imports.
    static func document(
        _ text: String, folder: String, lasting: String, imports: (_ path: String) -> [String]
    ) -> String {
        var needed: [String] = []
        var waiting = text.matches(of: /<script type="module" src="([^"]+)">/).map { String($0.1) }
        var known = Set(waiting)
        while !waiting.isEmpty {
            let next = waiting.removeFirst()
            for name in imports(next) where known.insert(folder + name).inserted {
                needed.append(folder + name)
                waiting.append(folder + name)
            }
        }
        let links = needed.map { "<link rel=\"modulepreload\" href=\"\($0)\">\n" }.joined()
        return text.replacing("</head>", with: links + "</head>", maxReplacements: 1)
            .replacing("\"\(folder)", with: "\"\(lasting)")
            // The manifest names the page as it is installed, which outlives a version.
            .replacing("rel=\"manifest\" href=\"\(lasting)", with: "rel=\"manifest\" href=\"\(folder)")
    }
}
