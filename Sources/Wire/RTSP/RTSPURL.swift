/// A camera's address, `rtsp://user:password@host:port/path?query`, or `rtsps://` for RTSP over TLS.
///
/// It never prints the password: its description and its mirror hold the address without credentials, and without what
/// could be a password that was read as a part of the path (``possiblePassword(of:)``).
public struct RTSPURL: Hashable, Sendable {
    /// The host name, or the address without brackets.
    public let host: String
    /// The port; 554 where the address names none (RFC 2326, section 3.2), and 322 over TLS (RFC 7826, section 20.1).
    public let port: UInt16
    /// Whether the connection goes through TLS.
    public let isSecure: Bool
    /// Whether the address names its port.
    public let namesPort: Bool
    /// The path and the query, from the first slash on; may be empty.
    public let path: String
    /// The credentials of the address.
    public let credentials: RTSPCredentials?

    /// Reads an address. A password may hold unescaped `@` and `:`, since people paste what they have.
    public init(parsing text: String) throws(RTSPError) {
        let text = text.trimmedASCII
        isSecure = text.hasPrefixIgnoringCase("rtsps://")
        guard isSecure || text.hasPrefixIgnoringCase("rtsp://") else {
            throw .invalidURL("it begins with neither rtsp:// nor rtsps://")
        }
        guard text.isSafeInRequestLine else {
            throw .invalidURL("it contains a space or a control character; write %20 for a space")
        }
        let rest = String(text.dropFirst(isSecure ? 8 : 7))
        let authority = Self.authority(of: rest)
        path = String(rest[authority.endIndex...])
        let (hostPort, userInfo) = Self.splitAuthority(String(authority))
        credentials = userInfo.map { userInfo in
            let (user, password) = userInfo.cut(at: ":")
            return RTSPCredentials(
                user: user.removingPercentEncoding, password: (password ?? "").removingPercentEncoding)
        }
        // The user's name goes into a header, where an escaped line end would begin another one. A camera can choose the name by
        // redirecting to an address.
        if let user = credentials?.user, user.utf8.contains(where: { $0 < 0x20 || $0 == 0x7F }) {
            throw .invalidURL("the user's name contains a control character")
        }
        let given: UInt16?
        (host, given) = try Self.parseHostPort(hostPort)
        namesPort = given != nil
        port = given ?? (isSecure ? 322 : 554)
    }

    /// The address as a request names it: without credentials, and without the port where it is the scheme's default.
    public var requestURI: String {
        let name = host.contains(":") ? "[\(host)]" : host
        return "\(isSecure ? "rtsps" : "rtsp")://\(name)\(port == (isSecure ? 322 : 554) ? "" : ":\(port)")\(path)"
    }

    /// The same address with other credentials.
    public func withCredentials(_ credentials: RTSPCredentials?) -> RTSPURL {
        RTSPURL(copying: self, path: path, credentials: credentials)
    }

    /// The same address without the query item `enableSrtp`, by which UniFi's addresses ask for encrypted packets; nil
    /// where it does not have it.
    public var withoutSRTP: RTSPURL? {
        guard let mark = path.firstIndex(of: "?") else { return nil }
        let items = path[path.index(after: mark)...].split(separator: "&", omittingEmptySubsequences: false)
        let others = items.filter { $0.cut(at: "=").head.lowercased() != "enablesrtp" }
        guard others.count < items.count else { return nil }
        let query = others.isEmpty ? "" : "?" + others.joined(separator: "&")
        return RTSPURL(copying: self, path: path[..<mark] + query, credentials: credentials)
    }

    /// Another path on the same server.
    func withPath(_ path: String) -> RTSPURL {
        RTSPURL(copying: self, path: path, credentials: nil)
    }

    private init(copying other: RTSPURL, path: String, credentials: RTSPCredentials?) {
        host = other.host
        port = other.port
        isSecure = other.isSecure
        namesPort = other.namesPort
        self.path = path
        self.credentials = credentials
    }

    /// The user part, the host and the port of an address, from the text after its `//`. Code that hides passwords must
    /// cut an address at the same places as code that connects. Otherwise a password that is accepted here would be
    /// shown there.
    ///
    /// The authority ends at the first slash or question mark, unless an `@` after it shows that this is part of the
    /// password. An `@` in a path or query without credentials before it is rarer than such a password. Only an
    /// authority that would make no sense by itself (`user:pass`) is extended. `user:12/34@host` makes sense as host, port
    /// and path, and is read as that (RFC 3986, section 3.2): see ``possiblePassword(of:)``.
    public static func authority<Text: StringProtocol>(of text: Text) -> Text.SubSequence {
        let end = text.firstIndex { $0 == "/" || $0 == "?" } ?? text.endIndex
        let authority = text[..<end]
        guard !authority.contains("@"), let at = text[end...].lastIndex(of: "@") else { return authority }
        let (_, port) = authority.cut(at: ":")
        guard let port, UInt16(port) ?? 0 == 0, !authority.hasPrefix("[") else { return authority }
        return text[..<(text[at...].firstIndex { $0 == "/" || $0 == "?" } ?? text.endIndex)]
    }

    private static func splitAuthority(_ authority: String) -> (hostPort: String, userInfo: String?) {
        guard let at = authority.lastIndex(of: "@") else { return (authority, nil) }
        return (String(authority[authority.index(after: at)...]), String(authority[..<at]))
    }

    private static func parseHostPort(_ text: String) throws(RTSPError) -> (String, UInt16?) {
        var host = text
        var portText: String?
        if text.hasPrefix("[") {
            guard let close = text.firstIndex(of: "]") else {
                throw .invalidURL("the bracket before the address is never closed")
            }
            host = String(text[text.index(after: text.startIndex)..<close])
            let tail = text[text.index(after: close)...]
            guard tail.isEmpty || tail.hasPrefix(":") else { throw .invalidURL("only a port may follow the bracket") }
            portText = tail.isEmpty ? nil : String(tail.dropFirst())
        } else {
            (host, portText) = text.cut(at: ":")
        }
        guard !host.isEmpty else { throw .invalidURL("it has no host") }
        guard let portText, !portText.isEmpty else { return (host, nil) }
        guard let port = UInt16(portText), port != 0 else {
            throw .invalidURL("the port is not a number from 1 to 65535")
        }
        return (host, port)
    }
}

/// A user name and a password, which are never printed.
public struct RTSPCredentials: Hashable, Sendable {
    /// The user name.
    public let user: String
    /// The password.
    public let password: String

    /// Makes credentials.
    public init(user: String, password: String) {
        self.user = user
        self.password = password
    }
}

extension RTSPCredentials: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    public var description: String { "credentials (redacted)" }
    public var debugDescription: String { description }
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}

extension String {
    /// The text with `%41` read as `A`; an invalid escape stays as it is.
    var removingPercentEncoding: String {
        let bytes = Array(utf8)
        var result: [UInt8] = []
        var index = 0
        while index < bytes.count {
            if bytes[index] == UInt8(ascii: "%"), index + 2 < bytes.count,
                let high = bytes[index + 1].hexadecimalValue, let low = bytes[index + 2].hexadecimalValue
            {
                result.append(high << 4 | low)
                index += 3
            } else {
                result.append(bytes[index])
                index += 1
            }
        }
        return String(decoding: result, as: UTF8.self)
    }
}
