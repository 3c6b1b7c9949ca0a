/// What could be a password although it is read as something else.
///
/// In `admin:12/34@cam` the slash should be `%2F` if `12/34` is a password. Without that, RFC 3986 (section 3.2) says host
/// `admin`, port 12 and path `/34@cam`. Real cameras have such paths, so the address is read like that. Code that prints
/// it assumes the other meaning.
extension RTSPURL {
    /// The part of an address that could be a password, from the text after its `//`: everything between the first colon
    /// and the last `@`, where this `@` comes after the authority. Nil where there is none, and where the host is an IP
    /// address, which is not part of anybody's name or password.
    public static func possiblePassword<Text: StringProtocol>(of text: Text) -> Range<String.Index>? {
        let authority = Self.authority(of: text)
        guard let at = text[authority.endIndex...].lastIndex(of: "@"), let colon = authority.firstIndex(of: ":") else {
            return nil
        }
        let host = authority.lastIndex(of: "@").map { authority[authority.index(after: $0)...] } ?? authority
        return isIPAddress(host) ? nil : authority.index(after: colon)..<at
    }

    /// Whether a part of the path could be a piece of a password, so that the host is a piece of it, too, or the user.
    public var mayHoldPassword: Bool {
        let hasColon = namesPort || credentials?.password.isEmpty == false
        return hasColon && path.contains("@") && !host.contains(":") && !Self.isIPAddress(host)
    }

    /// An IPv4 address, or an IPv6 address in brackets; a port may follow.
    private static func isIPAddress(_ host: some StringProtocol) -> Bool {
        if host.hasPrefix("[") { return true }
        let name = host.prefix { $0 != ":" }
        let numbers = name.split(omittingEmptySubsequences: false, whereSeparator: { $0 == "." })
        return numbers.count == 4 && numbers.allSatisfy { UInt8(String($0)) != nil }
    }
}

extension RTSPURL: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    public var description: String {
        guard mayHoldPassword, let at = path.lastIndex(of: "@") else { return requestURI }
        // Of user:pass@word/more@host, the host of the reading belongs to the password.
        let user = credentials == nil ? "\(host):" : ""
        return "\(isSecure ? "rtsps" : "rtsp")://\(user)***\(path[at...])"
    }
    public var debugDescription: String { description }
    public var customMirror: Mirror { Mirror(self, children: ["uri": description]) }
}
