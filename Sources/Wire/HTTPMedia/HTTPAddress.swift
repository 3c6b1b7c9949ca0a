import RTSP

/// Where something is over HTTP: the address of a camera in a config, or one that a camera or a router reports.
public struct HTTPAddress: Hashable, Sendable {
    /// The host name, or the address without brackets.
    public var host: String
    /// The port.
    public var port: UInt16
    /// The path and the query, from the first slash on.
    public var path: String
    /// Whether it is HTTPS.
    public var isSecure: Bool

    /// Names an address.
    public init(host: String, port: UInt16 = 80, path: String, isSecure: Bool = false) {
        self.host = host
        self.port = port
        self.path = path
        self.isSecure = isSecure
    }

    /// Reads `http://user:password@host:port/path` or `https://`, and returns the credentials separately.
    ///
    /// It reads the parts like those of a camera's RTSP address: a password that works in one works in the other.
    /// - Parameter defaultPath: the path of an address that names none.
    /// - Throws: ``HTTPAddressError``, without a password in it.
    public static func parse(
        _ text: String, defaultPath: String
    ) throws(HTTPAddressError) -> (address: HTTPAddress, credentials: RTSPCredentials?) {
        let schemes = ["http://", "https://"]
        guard let scheme = schemes.first(where: { text.lowercased().hasPrefix($0) }) else {
            throw .invalidAddress("it does not begin with http:// or https://")
        }
        let url: RTSPURL
        do {
            url = try RTSPURL(parsing: "rtsp://" + text.dropFirst(scheme.count))
        } catch {
            switch error {
            case .invalidURL(let reason): throw .invalidAddress(reason)
            default: throw .invalidAddress("it cannot be read")
            }
        }
        let isSecure = scheme == "https://"
        var path = url.path
        if path.isEmpty { path = defaultPath }
        if !path.hasPrefix("/") { path = "/" + path }
        let address = HTTPAddress(
            host: url.host, port: url.namesPort ? url.port : (isSecure ? 443 : 80), path: path, isSecure: isSecure)
        return (address, url.credentials)
    }

    /// The address as a URL.
    public var url: String { "\(isSecure ? "https" : "http")://\(authority)\(path)" }

    /// The host and, unless it is the scheme's default, the port: the content of the `Host` header.
    public var authority: String {
        let name = host.contains(":") ? "[\(host)]" : host
        return port == (isSecure ? 443 : 80) ? name : "\(name):\(port)"
    }
}

extension HTTPAddress: CustomStringConvertible {
    /// The address without what could be a password that was read as a part of the path
    /// (`RTSPURL.possiblePassword(of:)`). ``url`` has it.
    public var description: String {
        let text = fullText
        guard let range = RTSPURL.possiblePassword(of: text) else { return url }
        return "\(isSecure ? "https" : "http")://\(text[..<range.lowerBound])***\(text[range.upperBound...])"
    }

    /// Whether a part of the path could be a piece of a password, so that the host could be a user's name.
    public var mayHoldPassword: Bool { RTSPURL.possiblePassword(of: fullText) != nil }

    /// What follows the scheme. It names the port even if that is the usual one: somebody may have written it as the
    /// beginning of a password.
    private var fullText: String { "\(host.contains(":") ? "[\(host)]" : host):\(port)\(path)" }
}
