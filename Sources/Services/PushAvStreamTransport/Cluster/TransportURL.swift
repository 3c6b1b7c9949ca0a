/// What is wrong with an address of uploads.
public enum TransportURLProblem: Hashable, Sendable {
    /// It does not begin with `https://`.
    case notHTTPS
    /// A character is not one of those that URIs have.
    case character(Unicode.Scalar)
    /// It has a query.
    case query
    /// It has a fragment.
    case fragment
    /// Its path does not end in a slash.
    case noFolder
    /// It contains a user name.
    case userName
    /// A part of its path is `.` or `..`.
    case dots
    /// Its path has a percent sign without two hexadecimal digits after it.
    case percent
    /// Its host lacks the closing bracket.
    case openBracket
    /// Its host cannot be read.
    case host
    /// It has no host.
    case noHost
    /// Its port is not from 1 to 65535.
    case port
}

/// The rules for the address of uploads (Matter 1.5, Push AV Stream Transport; RFC 3986).
enum TransportURL {
    /// What is wrong with an address; nil if it can be used.
    static func problem(with url: String) -> TransportURLProblem? {
        guard let colon = url.firstIndex(of: ":"), url[..<colon].lowercased() == "https" else {
            return .notHTTPS
        }
        let rest = url[url.index(after: colon)...]
        guard rest.hasPrefix("//") else { return .notHTTPS }
        let afterSlashes = rest.dropFirst(2)
        if let odd = url.unicodeScalars.first(where: { !allowed.contains($0) }) {
            return .character(odd)
        }
        if url.contains("?") { return .query }
        if url.contains("#") { return .fragment }
        guard let slash = afterSlashes.firstIndex(of: "/") else { return .noFolder }
        let authority = afterSlashes[..<slash]
        if authority.contains("@") { return .userName }
        if let problem = problem(withAuthority: authority) { return problem }
        guard url.hasSuffix("/") else { return .noFolder }
        let path = afterSlashes[slash...]
        if path.split(separator: "/").contains(where: { $0 == "." || $0 == ".." }) {
            return .dots
        }
        return encodingProblem(in: path)
    }

    private static func problem(withAuthority authority: Substring) -> TransportURLProblem? {
        var host = authority
        var port: Substring?
        if authority.hasPrefix("[") {
            guard let end = authority.firstIndex(of: "]") else { return .openBracket }
            host = authority[authority.index(after: authority.startIndex)..<end]
            let tail = authority[authority.index(after: end)...]
            guard tail.isEmpty || tail.hasPrefix(":") else { return .host }
            port = tail.isEmpty ? nil : tail.dropFirst()
        } else {
            if let colon = authority.firstIndex(of: ":") {
                host = authority[..<colon]
                port = authority[authority.index(after: colon)...]
            }
            if host.contains("[") || host.contains("]") || host.contains(":") { return .host }
        }
        if host.isEmpty { return .noHost }
        if let port, !(port.allSatisfy { $0.isASCII && $0.isNumber } && UInt16(port) ?? 0 > 0) {
            return .port
        }
        return nil
    }

    private static func encodingProblem(in path: Substring) -> TransportURLProblem? {
        let bytes = Array(path.utf8)
        for (index, byte) in bytes.enumerated() where byte == UInt8(ascii: "%") {
            let digits = bytes.dropFirst(index + 1).prefix(2)
            guard digits.count == 2, digits.allSatisfy({ Character(Unicode.Scalar($0)).isHexDigit }) else {
                return .percent
            }
        }
        return nil
    }

    /// The characters of a URI, with those that later checks name themselves.
    private static let allowed = Set(
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~:/?#[]@!$&'()*+,;=%".unicodeScalars)
}
