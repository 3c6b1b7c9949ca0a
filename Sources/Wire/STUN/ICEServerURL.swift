import Transport

/// The URL of a STUN or TURN server (RFC 7064, RFC 7065): `stun:stun.example:3478`, `turn:turn.example?transport=tcp`.
public struct ICEServerURL: Hashable, Sendable {
    /// What the server does, and whether over TLS.
    public enum Scheme: String, Sendable, CaseIterable {
        /// Says at which address it sees a socket.
        case stun
        /// The same over TLS.
        case stuns
        /// Relays datagrams.
        case turn
        /// The same over TLS.
        case turns
    }

    /// How the server is reached.
    public enum Transport: String, Sendable, CaseIterable {
        case udp, tcp
    }

    /// What the server does.
    public var scheme: Scheme
    /// A name, or an address without brackets.
    public var host: String
    /// The port, the scheme's own where the URL has none.
    public var port: UInt16
    /// How the server is reached, the scheme's own where the URL does not say it.
    public var transport: Transport

    /// Reads a URL; nil for anything else.
    public init?(_ text: String) {
        guard let colon = text.firstIndex(of: ":"), let scheme = Scheme(rawValue: text[..<colon].lowercased()) else {
            return nil
        }
        self.scheme = scheme
        let isSecure = scheme == .stuns || scheme == .turns
        transport = isSecure ? .tcp : .udp
        let rest = text[text.index(after: colon)...]
        let parts = rest.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        if parts.count == 2 {
            let words = parts[1].split(separator: "=", omittingEmptySubsequences: false)
            guard scheme == .turn || scheme == .turns, words.count == 2, words[0] == "transport",
                let named = Transport(rawValue: words[1].lowercased())
            else { return nil }
            transport = named
        }
        guard let (host, port) = Self.hostAndPort(parts[0]) else { return nil }
        self.host = host
        self.port = port ?? (isSecure ? 5349 : 3478)
    }

    private static func hostAndPort(_ text: Substring) -> (String, UInt16?)? {
        var host = text
        var port: UInt16?
        if text.first == "[" {
            guard let end = text.firstIndex(of: "]") else { return nil }
            host = text[text.index(after: text.startIndex)..<end]
            guard TransportAddress(String(host), port: 1)?.family == .ipv6 else { return nil }
            let rest = text[text.index(after: end)...]
            if !rest.isEmpty {
                guard rest.first == ":", let number = UInt16(rest.dropFirst()), number > 0 else { return nil }
                port = number
            }
            return (String(host), port)
        }
        if let colon = text.lastIndex(of: ":") {
            guard let number = UInt16(text[text.index(after: colon)...]), number > 0 else { return nil }
            host = text[..<colon]
            port = number
        }
        let isName = host.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "-"), UInt8(ascii: "_"):
                true
            default: false
            }
        }
        guard isName, (1...253).contains(host.utf8.count) else { return nil }
        return (String(host), port)
    }
}

extension ICEServerURL: CustomStringConvertible {
    /// The URL with its port, and its transport where it is not the scheme's own.
    public var description: String {
        let literal = host.contains(":") ? "[\(host)]" : host
        let isUsual = transport == (scheme == .stuns || scheme == .turns ? .tcp : .udp)
        return "\(scheme.rawValue):\(literal):\(port)" + (isUsual ? "" : "?transport=\(transport.rawValue)")
    }
}
