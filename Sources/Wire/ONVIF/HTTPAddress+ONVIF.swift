import HTTPMedia
import RTSP

extension HTTPAddress {
    /// The path of a device's service unless an address says otherwise (ONVIF Core, section 5.1.1).
    public static let devicePath = "/onvif/device_service"

    /// The device service of a host, at its usual path.
    public init(onvif host: String, port: UInt16 = 80, isSecure: Bool = false) {
        self.init(host: host, port: port, path: Self.devicePath, isSecure: isSecure)
    }

    /// Reads the address of a device in a config, or an XAddr that a device reported: `http://`, `https://` or
    /// `onvif://user:password@host:port/path`. An address without a path means ``devicePath``.
    /// - Throws: ``ONVIFError/invalidAddress(_:)``, without a password in it.
    public static func parse(
        onvif text: String
    ) throws(ONVIFError) -> (address: HTTPAddress, credentials: RTSPCredentials?) {
        let schemes = ["onvif://", "http://", "https://"]
        guard let scheme = schemes.first(where: { text.lowercased().hasPrefix($0) }) else {
            throw .invalidAddress("it does not begin with onvif:// or http://")
        }
        let isONVIF = scheme == "onvif://"
        do throws(HTTPAddressError) {
            var found = try parse(
                isONVIF ? "http://" + text.dropFirst(scheme.count) : text, defaultPath: devicePath)
            if isONVIF, found.address.path == "/" { found.address.path = devicePath }
            return found
        } catch {
            throw ONVIFError(error)
        }
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
