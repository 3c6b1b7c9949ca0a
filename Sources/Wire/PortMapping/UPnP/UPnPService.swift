import HTTPMedia
import Transport
import XML

/// The service of a router that forwards ports (WANIPConnection, WANPPPConnection) or opens its IPv6 firewall
/// (WANIPv6FirewallControl), and where it is controlled.
///
/// Its addresses come from the router. Only those at the router itself count: otherwise whoever answers the search could let
/// the gateway send requests to any machine.
struct UPnPService: Hashable, Sendable {
    /// Where requests go.
    var address: TransportAddress
    /// The path and the query, from the first slash on.
    var path: String
    /// The type with its version, which each request names.
    var type: String

    /// The longest path that is read, in characters.
    private static let longestPath = 1024
    /// Where a router has two connections, the first that is listed is used.
    private static let types = [
        "urn:schemas-upnp-org:service:WANIPConnection:1", "urn:schemas-upnp-org:service:WANIPConnection:2",
        "urn:schemas-upnp-org:service:WANPPPConnection:1",
    ]
    private static let firewallTypes = ["urn:schemas-upnp-org:service:WANIPv6FirewallControl:1"]

    /// Reads the address of a description, or of a service.
    /// - Parameters:
    ///   - text: the absolute address, or a path at `base`.
    ///   - base: the address of the document that names it.
    ///   - router: the only host that requests go to.
    static func address(
        _ text: String, at base: TransportAddress? = nil, router: TransportAddress
    ) -> (address: TransportAddress, path: String)? {
        guard text.utf8.count <= longestPath, text.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else { return nil }
        guard text.lowercased().hasPrefix("http:") else {
            guard let base, text.hasPrefix("/") || !text.contains("://") else { return nil }
            return (base, text.hasPrefix("/") ? text : "/" + text)
        }
        guard let found = try? HTTPAddress.parse(text, defaultPath: "/"), found.credentials == nil,
            names(found.address.host, router), found.address.port != 0
        else { return nil }
        return (router.withPort(found.address.port), found.address.path)
    }

    /// Whether the host of a URL may be the router.
    ///
    /// The IPv6 router is known by one address, which is usually link-local, and names itself by another one. Nothing
    /// proves that the other one is its own. So any address is accepted in its place, but requests go to the known one,
    /// where the router has the same services (UPnP Device Architecture 1.1, annex A).
    private static func names(_ host: String, _ router: TransportAddress) -> Bool {
        guard router.family == .ipv6 else { return host == router.host }
        guard let named = TransportAddress(host, port: 1), named.family == .ipv6 else { return false }
        return named.hasSameHost(as: router)
            || named.isUsableDestination && !named.isLinkLocal && !named.isLoopback
    }

    /// Finds the service in a device's description (UPnP Device Architecture 1.1, section 2.3); nil if the device has
    /// none. The IPv6 router is asked only about its firewall.
    init?(description: [UInt8], at base: TransportAddress, router: TransportAddress) {
        guard let root = try? XMLReader.read(description) else { return nil }
        // Versions 1.0 may name another base.
        let named = root["URLBase"].flatMap { Self.address($0.text, router: router) }?.address
        let types = router.family == .ipv6 ? Self.firewallTypes : Self.types
        for service in root["device"].map(Self.services) ?? [] {
            guard let type = service["serviceType"]?.text, types.contains(type),
                let control = service["controlURL"]?.text,
                let found = Self.address(control, at: named ?? base, router: router)
            else { continue }
            (address, path, self.type) = (found.address, found.path, type)
            return
        }
        return nil
    }

    /// The services of a device and of the devices inside it.
    private static func services(of device: XMLElement) -> [XMLElement] {
        (device["serviceList"]?.all("service") ?? [])
            + (device["deviceList"]?.all("device") ?? []).flatMap(services)
    }
}
