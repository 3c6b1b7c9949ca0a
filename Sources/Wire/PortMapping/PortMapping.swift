public import Transport

/// Why a router forwards nothing.
public enum PortMappingFailure: Hashable, Sendable, CustomStringConvertible {
    /// It answers none of the protocols.
    case noAnswer
    /// It refused with this code.
    case refused(PortMappingProtocol, code: UInt16)
    /// It named an address or a port at which nobody can be reached.
    case unusableAddress
    /// What it says by UPnP cannot be used.
    case unusableService

    /// What the router does, for people: it follows the router's address in a sentence.
    public var description: String {
        switch self {
        case .noAnswer: "answers neither PCP nor NAT-PMP nor UPnP"
        case .unusableService: "speaks UPnP, but offers no service that forwards ports"
        case .unusableAddress: "names an outside address at which nobody can be reached"
        case .refused(let name, let code):
            "refuses (\(name.rawValue) code \(code)\(Self.words(name, code).map { ": \($0)" } ?? ""))"
        }
    }

    /// The router says by UPnP that its IPv6 firewall is off, so that it needs no pinhole.
    public static let firewallOff = PortMappingFailure.refused(.upnp, code: UPnPCode.firewallDisabled)

    /// RFC 6886, section 3.5; RFC 6887, section 7.4; WANIPConnection:1, section 2.4.16; WANIPv6FirewallControl:1, section
    /// 2.6.3.7.
    private static func words(_ name: PortMappingProtocol, _ code: UInt16) -> String? {
        switch (name, code) {
        case (.pcp, 2), (.natPMP, 2), (.upnp, 606): "it is not allowed"
        case (.pcp, 7), (.natPMP, 3): "it has no outside address"
        case (.pcp, 8), (.natPMP, 4), (.upnp, 728), (.upnp, 701): "it has no room for another mapping"
        case (.pcp, 10): "this host has too many mappings"
        case (.pcp, 11): "it cannot give the port"
        case (.upnp, 718), (.upnp, 729): "another host has the port"
        case (.upnp, UPnPCode.firewallDisabled): "its IPv6 firewall is off"
        case (.upnp, UPnPCode.pinholesNotAllowed): "its IPv6 firewall opens nothing on request"
        case (.upnp, 705): "it does not open ports for this protocol"
        case (.upnp, 708): "it opens its IPv6 firewall only for single outside addresses"
        case (.pcp, 12): "another router is between this host and it"
        default: nil
        }
    }
}

/// What is known of the mapping of a port.
public struct PortMapping: Hashable, Sendable {
    /// The router; nil while this host has none.
    public var router: TransportAddress?
    /// How it was asked last.
    public var method: PortMappingProtocol = .pcp
    /// Where the router forwards to the port from; nil while it does not.
    public var external: TransportAddress?
    /// For how many seconds the mapping was made.
    public var lifetime: UInt32 = 0
    /// Why there is none; nil before the first request has an outcome.
    public var failure: PortMappingFailure?

    /// Nothing is known yet.
    public init() {}
}

/// What is known of the mappings of the media port, and of the TCP port behind it.
public struct PortMappings: Hashable, Sendable {
    /// The UDP port of media.
    public var media = PortMapping()
    /// The TCP port of media; nil where the gateway has none.
    public var tcp: PortMapping?
    /// The pinhole for the UDP port of media in the IPv6 router's firewall. Without such a router it names none.
    public var pinhole = PortMapping()
    /// The pinhole for the TCP port of media; nil where the gateway has none.
    public var tcpPinhole: PortMapping?

    /// Nothing is known yet.
    public init() {}
}
