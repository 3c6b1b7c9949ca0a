import HTTPMedia
import Transport
import XML

/// The actions of the services WANIPConnection (version 1, section 2.4) and WANIPv6FirewallControl (version 1, section 2.6) that
/// the mapper uses.
enum UPnPAction: Hashable, Sendable {
    /// Asks for the outside address.
    case getExternalIPAddress
    /// Makes or renews a mapping; a lease of 0 seconds does not end.
    case addPortMapping(
        MappedTransport, external: UInt16, client: TransportAddress, internal: UInt16, lease: UInt32)
    /// Ends a mapping.
    case deletePortMapping(MappedTransport, external: UInt16)
    /// Asks whether the IPv6 firewall is on, and whether it opens pinholes.
    case getFirewallStatus
    /// Opens a pinhole for everybody outside, for 1 to 86,400 seconds. A router that already has the same one extends
    /// it.
    case addPinhole(MappedTransport, client: TransportAddress, internal: UInt16, lease: UInt32)
    /// Extends a pinhole.
    case updatePinhole(id: UInt16, lease: UInt32)
    /// Closes a pinhole.
    case deletePinhole(id: UInt16)

    private var name: String {
        switch self {
        case .getExternalIPAddress: "GetExternalIPAddress"
        case .addPortMapping: "AddPortMapping"
        case .deletePortMapping: "DeletePortMapping"
        case .getFirewallStatus: "GetFirewallStatus"
        case .addPinhole: "AddPinhole"
        case .updatePinhole: "UpdatePinhole"
        case .deletePinhole: "DeletePinhole"
        }
    }

    /// The arguments, in the order of the standard: some routers insist on it.
    private var arguments: [(String, String)] {
        switch self {
        case .getExternalIPAddress, .getFirewallStatus: []
        case .addPortMapping(let transport, let external, let client, let port, let lease):
            [
                ("NewRemoteHost", ""), ("NewExternalPort", "\(external)"), ("NewProtocol", transport.rawValue),
                ("NewInternalPort", "\(port)"), ("NewInternalClient", client.host), ("NewEnabled", "1"),
                ("NewPortMappingDescription", "Gatehouse"), ("NewLeaseDuration", "\(lease)"),
            ]
        case .deletePortMapping(let transport, let external):
            [("NewRemoteHost", ""), ("NewExternalPort", "\(external)"), ("NewProtocol", transport.rawValue)]
        case .addPinhole(let transport, let client, let port, let lease):
            // An empty host and port 0 stand for everybody.
            [
                ("RemoteHost", ""), ("RemotePort", "0"), ("InternalClient", client.host), ("InternalPort", "\(port)"),
                ("Protocol", "\(transport.protocolNumber)"), ("LeaseTime", "\(lease)"),
            ]
        case .updatePinhole(let id, let lease): [("UniqueID", "\(id)"), ("NewLeaseTime", "\(lease)")]
        case .deletePinhole(let id): [("UniqueID", "\(id)")]
        }
    }

    /// The HTTP request (UPnP Device Architecture 1.1, section 3.1.1).
    func request(to service: UPnPService) -> RouterMessage {
        let arguments = arguments.map { "<\($0.0)>\($0.1)</\($0.0)>" }.joined()
        let body = """
            <?xml version="1.0"?>\r
            <s:Envelope xmlns:s="http://schemas.xmlsoap.org/soap/envelope/" \
            s:encodingStyle="http://schemas.xmlsoap.org/soap/encoding/"><s:Body>\
            <u:\(name) xmlns:u="\(service.type)">\(arguments)</u:\(name)></s:Body></s:Envelope>\r

            """
        let head =
            "POST \(service.path) HTTP/1.1\r\nHost: \(service.address)\r\nContent-Type: text/xml; charset=\"utf-8\"\r\n"
            + "SOAPAction: \"\(service.type)#\(name)\"\r\nContent-Length: \(body.utf8.count)\r\nConnection: close\r\n\r\n"
        return RouterMessage(destination: service.address, bytes: Array((head + body).utf8))
    }

    /// The HTTP request for a document of the router.
    static func download(_ path: String, from address: TransportAddress) -> RouterMessage {
        let head = "GET \(path) HTTP/1.1\r\nHost: \(address)\r\nConnection: close\r\n\r\n"
        return RouterMessage(destination: address, bytes: Array(head.utf8))
    }

    /// What the router answered to an action.
    enum Answer: Hashable, Sendable {
        /// It is done.
        case done
        /// The outside address, with port 0; nil if it names none that can be read.
        case address(TransportAddress?)
        /// The state of the IPv6 firewall.
        case firewall(isOn: Bool, opensPinholes: Bool)
        /// The pinhole is open, and has this number.
        case pinhole(id: UInt16)
        /// The action is done, but the router's answer cannot be read.
        case unreadable
        /// It refused with this code (UPnP Device Architecture 1.1, section 3.1.4), or with this HTTP status.
        case refused(code: UInt16)
    }

    /// Reads an answer.
    func answer(_ response: HTTPResponse) -> Answer {
        let body = (try? XMLReader.read(response.body))?["Body"]
        guard response.status == 200, let body, body["Fault"] == nil else {
            let code = body?["Fault"]?.firstDescendant("errorCode").flatMap { UInt16($0.text) }
            return .refused(code: code ?? UInt16(clamping: response.status))
        }
        switch self {
        case .addPortMapping, .deletePortMapping, .updatePinhole, .deletePinhole: return .done
        case .getExternalIPAddress:
            return .address(body.firstDescendant("NewExternalIPAddress").flatMap { TransportAddress($0.text, port: 0) })
        case .getFirewallStatus:
            guard let isOn = Self.flag(body.firstDescendant("FirewallEnabled")),
                let opensPinholes = Self.flag(body.firstDescendant("InboundPinholeAllowed"))
            else { return .unreadable }
            return .firewall(isOn: isOn, opensPinholes: opensPinholes)
        case .addPinhole:
            // `UInt16` would also accept a sign.
            guard let text = body.firstDescendant("UniqueID")?.text, let id = UInt16(text),
                text.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) })
            else { return .unreadable }
            return .pinhole(id: id)
        }
    }

    /// A Boolean (UPnP Device Architecture 1.1, section 2.5); nil for anything else.
    private static func flag(_ element: XMLElement?) -> Bool? {
        switch element?.text {
        case "1", "true", "yes": true
        case "0", "false", "no": false
        default: nil
        }
    }
}

/// The codes of WANIPv6FirewallControl (version 1, section 2.6.3.7) that mean the same as an answer about the
/// firewall's state.
enum UPnPCode {
    /// The IPv6 firewall is off.
    static let firewallDisabled: UInt16 = 702
    /// It opens no pinholes.
    static let pinholesNotAllowed: UInt16 = 703
}
