/// Where an address in a playlist leads (RFC 3986, section 5.2).
public enum PlaylistReference {
    /// The address, resolved against the path of the playlist that holds it.
    /// - Parameters:
    ///   - reference: as it is written.
    ///   - path: the path and the query of the playlist, from the first slash on.
    /// - Returns: a path from the first slash on where it stays on the server, a whole URL where the reference is one; nil
    ///   where it cannot be requested.
    public static func resolve(_ reference: String, in path: String) -> String? {
        guard !reference.isEmpty, reference.utf8.count <= 4096,
            reference.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F })
        else { return nil }
        // A fragment is not part of a request.
        let reference = String(reference.prefix { $0 != "#" })
        if reference.hasPrefix("//") { return nil }
        if reference.hasPrefix("/") { return withoutDots(reference) }
        let scheme = reference.prefix { $0 != ":" && $0 != "/" && $0 != "?" }
        if scheme.count < reference.count, reference.dropFirst(scheme.count).hasPrefix(":") { return reference }
        let base = path.prefix { $0 != "?" }
        if reference.hasPrefix("?") { return base + reference }
        let folder = base.lastIndex(of: "/").map { base[...$0] } ?? "/"
        return withoutDots(folder + reference)
    }

    /// A path without `.` and `..` (RFC 3986, section 5.2.4).
    private static func withoutDots(_ path: String) -> String {
        let mark = path.firstIndex(of: "?") ?? path.endIndex
        let parts = path[..<mark].split(separator: "/", omittingEmptySubsequences: false).dropFirst()
        var kept: [Substring] = []
        for (index, part) in parts.enumerated() {
            let isLast = index == parts.count - 1
            switch part {
            case ".": if isLast { kept.append("") }
            case "..":
                if !kept.isEmpty { kept.removeLast() }
                if isLast { kept.append("") }
            default: kept.append(part)
            }
        }
        return "/" + kept.joined(separator: "/") + path[mark...]
    }
}
