import HTTPMedia
import Transport
import XML

/// The actions of the service WANIPConnection (version 1, section 2.4) that the mapper uses.
enum UPnPAction: Hashable, Sendable {
    /// Asks for the outside address.
    case getExternalIPAddress
    /// Makes or renews a mapping; a lease of 0 seconds does not end.
    case addPortMapping(
        MappedTransport, external: UInt16, client: TransportAddress, internal: UInt16, lease: UInt32)
    /// Ends a mapping.
    case deletePortMapping(MappedTransport, external: UInt16)

    private var name: String {
        switch self {
        case .getExternalIPAddress: "GetExternalIPAddress"
        case .addPortMapping: "AddPortMapping"
        case .deletePortMapping: "DeletePortMapping"
        }
    }

    /// The arguments, in the order of the standard: some routers insist on it.
    private var arguments: [(String, String)] {
        switch self {
        case .getExternalIPAddress: []
        case .addPortMapping(let transport, let external, let client, let port, let lease):
            [
                ("NewRemoteHost", ""), ("NewExternalPort", "\(external)"), ("NewProtocol", transport.rawValue),
                ("NewInternalPort", "\(port)"), ("NewInternalClient", client.host), ("NewEnabled", "1"),
                ("NewPortMappingDescription", "Gatehouse"), ("NewLeaseDuration", "\(lease)"),
            ]
        case .deletePortMapping(let transport, let external):
            [("NewRemoteHost", ""), ("NewExternalPort", "\(external)"), ("NewProtocol", transport.rawValue)]
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
        guard case .getExternalIPAddress = self else { return .done }
        return .address(body.firstDescendant("NewExternalIPAddress").flatMap { TransportAddress($0.text, port: 0) })
    }
}
