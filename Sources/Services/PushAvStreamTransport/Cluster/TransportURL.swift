/// The rules for the address of uploads (Matter 1.5, Push AV Stream Transport; RFC 3986).
enum TransportURL {
    /// What is wrong with an address; nil if it can be used.
    static func problem(with url: String) -> String? {
        guard let colon = url.firstIndex(of: ":"), url[..<colon].lowercased() == "https" else {
            return "it must begin with https://"
        }
        let rest = url[url.index(after: colon)...]
        guard rest.hasPrefix("//") else { return "it must begin with https://" }
        let afterSlashes = rest.dropFirst(2)
        if let odd = url.unicodeScalars.first(where: { !allowed.contains($0) }) {
            return "it contains \(String(odd).debugDescription), which must be percent-encoded"
        }
        if url.contains("?") { return "it must not have a query" }
        if url.contains("#") { return "it must not have a fragment" }
        guard let slash = afterSlashes.firstIndex(of: "/") else { return "its path must end in /" }
        let authority = afterSlashes[..<slash]
        if authority.contains("@") { return "it must not contain a user name" }
        if let problem = problem(withAuthority: authority) { return problem }
        guard url.hasSuffix("/") else { return "its path must end in /" }
        let path = afterSlashes[slash...]
        if path.split(separator: "/").contains(where: { $0 == "." || $0 == ".." }) {
            return "its path must not contain . or .."
        }
        return encodingProblem(in: path)
    }

    private static func problem(withAuthority authority: Substring) -> String? {
        var host = authority
        var port: Substring?
        if authority.hasPrefix("[") {
            guard let end = authority.firstIndex(of: "]") else { return "its host lacks a closing bracket" }
            host = authority[authority.index(after: authority.startIndex)..<end]
            let tail = authority[authority.index(after: end)...]
            guard tail.isEmpty || tail.hasPrefix(":") else { return "its host cannot be read" }
            port = tail.isEmpty ? nil : tail.dropFirst()
        } else {
            if let colon = authority.firstIndex(of: ":") {
                host = authority[..<colon]
                port = authority[authority.index(after: colon)...]
            }
            if host.contains("[") || host.contains("]") || host.contains(":") { return "its host cannot be read" }
        }
        if host.isEmpty { return "it has no host" }
        if let port, !(port.allSatisfy { $0.isASCII && $0.isNumber } && UInt16(port) ?? 0 > 0) {
            return "its port must be from 1 to 65535"
        }
        return nil
    }

    private static func encodingProblem(in path: Substring) -> String? {
        let bytes = Array(path.utf8)
        for (index, byte) in bytes.enumerated() where byte == UInt8(ascii: "%") {
            let digits = bytes.dropFirst(index + 1).prefix(2)
            guard digits.count == 2, digits.allSatisfy({ Character(Unicode.Scalar($0)).isHexDigit }) else {
                return "its path has a % without two hexadecimal digits after it"
            }
        }
        return nil
    }

    /// The characters of a URI, with those that later checks name themselves.
    private static let allowed = Set(
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~:/?#[]@!$&'()*+,;=%".unicodeScalars)
}
