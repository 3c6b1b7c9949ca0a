/// The address of a stream on an RTMP server: `rtmp://host:port/application/stream?query`, or `rtmps://` over TLS.
///
/// Most cameras expect the user and the password in the query. Its description leaves the query out.
public struct RTMPAddress: Hashable, Sendable {
    /// The host name, or the address without brackets.
    public let host: String
    /// The port; 1935 where the address names none, and 443 over TLS.
    public let port: UInt16
    /// Whether the connection goes through TLS.
    public let isSecure: Bool
    /// The server's application: everything of the path before the last slash.
    public let application: String
    /// The stream: what follows the last slash of the path, with the query.
    public let stream: String

    /// Names an address by its parts. `path` holds the query too, and begins with a slash or is empty.
    public init(host: String, port: UInt16?, path: String, isSecure: Bool) {
        self.host = host
        self.port = port ?? (isSecure ? 443 : 1935)
        self.isSecure = isSecure
        let mark = path.firstIndex(of: "?") ?? path.endIndex
        let names = path[..<mark].drop { $0 == "/" }
        if let slash = names.lastIndex(of: "/") {
            application = String(names[..<slash])
            stream = String(names[names.index(after: slash)...] + path[mark...])
        } else {
            application = String(names)
            stream = String(path[mark...])
        }
    }

    /// The server's part of the address, as the command `connect` states it.
    var serverURL: String {
        let name = host.contains(":") ? "[\(host)]" : host
        let suffix = port == (isSecure ? 443 : 1935) ? "" : ":\(port)"
        return "\(isSecure ? "rtmps" : "rtmp")://\(name)\(suffix)/\(application)"
    }
}

extension RTMPAddress: CustomStringConvertible {
    /// The address without its query, and without what could be a password that was read as a port and a path.
    public var description: String {
        if mayHoldPassword { return "\(isSecure ? "rtmps" : "rtmp")://\(host):***" }
        let name = stream.prefix { $0 != "?" }
        return name.isEmpty ? serverURL : "\(serverURL)/\(name)"
    }

    /// Whether `user:12/34@host` may have been meant, which reads as host, port and path.
    public var mayHoldPassword: Bool {
        // Neither an IPv4 nor an IPv6 address is a user.
        let isName = !host.contains(":") && !host.allSatisfy { $0 == "." || $0.isWholeNumber }
        return isName && (application.contains("@") || stream.contains("@"))
    }
}
