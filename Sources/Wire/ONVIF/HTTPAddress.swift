import RTSP

/// Where a device's service is: the address in a config, or an XAddr that the device reported.
public struct HTTPAddress: Hashable, Sendable {
    /// The host name, or the address without brackets.
    public var host: String
    /// The port.
    public var port: UInt16
    /// The path and the query, from the first slash on.
    public var path: String
    /// Whether it is HTTPS.
    public var isSecure: Bool

    /// The path of a device's service unless an address says otherwise (ONVIF Core, section 5.1.1).
    public static let devicePath = "/onvif/device_service"

    /// Names an address.
    public init(host: String, port: UInt16 = 80, path: String = HTTPAddress.devicePath, isSecure: Bool = false) {
        self.host = host
        self.port = port
        self.path = path
        self.isSecure = isSecure
    }

    /// Reads `http://`, `https://` or `onvif://user:password@host:port/path`, and returns the credentials separately.
    ///
    /// It reads the parts like those of a camera's RTSP address: a password that works in one works in the other.
    /// - Parameter defaultPath: the path of an address that names none.
    public static func parse(
        _ text: String, defaultPath: String = devicePath
    ) throws(ONVIFError) -> (address: HTTPAddress, credentials: RTSPCredentials?) {
        guard let separator = text.range(ofScheme: "://") else {
            throw .invalidAddress("it does not begin with onvif:// or http://")
        }
        let scheme = text[..<separator.lowerBound].lowercased()
        guard ["http", "https", "onvif"].contains(scheme) else {
            throw .invalidAddress("it does not begin with onvif:// or http://")
        }
        let url: RTSPURL
        do {
            url = try RTSPURL(parsing: "rtsp://" + text[separator.upperBound...])
        } catch {
            switch error {
            case .invalidURL(let reason): throw .invalidAddress(reason)
            default: throw .invalidAddress("it cannot be read")
            }
        }
        let isSecure = scheme == "https"
        var path = url.path
        if path.isEmpty || (path == "/" && scheme == "onvif") { path = defaultPath }
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

    /// An address that the device reported, as it is reached from here.
    ///
    /// Cameras behind a forwarded port, with two interfaces, or with a former address report a host that leads nowhere.
    /// The host that the user gave has just worked. So it replaces the reported one, with its port and scheme, and only
    /// the path is the device's. Credentials therefore go only to the server of the config, whatever the device
    /// reports. If a device is reached over HTTPS, all its services are.
    public func reached(by given: HTTPAddress) -> HTTPAddress {
        var result = self
        result.host = given.host
        result.port = given.port
        result.isSecure = given.isSecure
        return result
    }
}

extension HTTPAddress: CustomStringConvertible {
    public var description: String { url }
}

extension String {
    /// The position of the scheme's end.
    fileprivate func range(ofScheme separator: String) -> Range<String.Index>? {
        guard let colon = firstIndex(of: ":"), self[colon...].hasPrefix(separator) else { return nil }
        return colon..<index(colon, offsetBy: separator.count)
    }
}
