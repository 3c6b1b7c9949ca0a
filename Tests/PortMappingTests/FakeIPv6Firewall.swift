import HTTPMedia
import Transport

@testable import PortMapping

/// What an IPv6 router answers by UPnP (WANIPv6FirewallControl:1). Its documents are those of miniupnpd 2.3.1, shortened.
struct FakeIPv6Firewall {
    static let router = TransportAddress(ipv6High: 0xFE80 << 48, low: 1, port: 5351, scope: 4)
    static let client = TransportAddress(ipv6High: 0x2001_0DB8_0001_0002, low: 0x10, port: 0)
    private static let service = "urn:schemas-upnp-org:service:WANIPv6FirewallControl:1"

    /// miniupnpd names its global address, whichever address it is asked at.
    var location = "http://[2001:db8:1:2::1]:5000/rootDesc.xml"
    var serviceType = FakeIPv6Firewall.service
    var control = "/ctl/IP6FCtl"
    /// The versions of the device that it answers a search for.
    var versions = [1, 2]
    /// The state of the firewall, as it is written.
    var isOn = "1"
    var opensPinholes = "1"
    /// The number of the next pinhole, as it is written.
    var id = "1"
    /// With which code it refuses an action.
    var codes: [String: UInt16] = [:]
    var isSilent = false

    var searchAnswer: [UInt8] {
        Array("HTTP/1.1 200 OK\r\nCACHE-CONTROL: max-age=120\r\nEXT:\r\nLOCATION: \(location)\r\n\r\n".utf8)
    }

    /// Whether it answers a search.
    func answers(_ search: RouterMessage) -> Bool {
        let text = FakeUPnPDevice.text(search)
        let device = "urn:schemas-upnp-org:device:InternetGatewayDevice"
        return !isSilent && versions.contains { text.contains("\r\nST: \(device):\($0)\r\n") }
    }

    private var description: String {
        """
        <?xml version="1.0"?>
        <root xmlns="urn:schemas-upnp-org:device-1-0" configId="1337"><specVersion><major>1</major><minor>1</minor></specVersion>
        <device><deviceType>urn:schemas-upnp-org:device:InternetGatewayDevice:2</deviceType>
        <deviceList><device><deviceType>urn:schemas-upnp-org:device:WANDevice:2</deviceType>
        <deviceList><device><deviceType>urn:schemas-upnp-org:device:WANConnectionDevice:2</deviceType><serviceList>
        <service><serviceType>urn:schemas-upnp-org:service:WANIPConnection:2</serviceType>
        <controlURL>/ctl/IPConn</controlURL></service>
        <service><serviceType>\(serviceType)</serviceType><controlURL>\(control)</controlURL></service>
        </serviceList></device></deviceList></device></deviceList></device></root>
        """
    }

    /// The action of a request.
    static func name(of message: RouterMessage) -> String {
        let text = FakeUPnPDevice.text(message)
        if text.hasPrefix("GET ") { return "description" }
        let names = ["GetFirewallStatus", "AddPinhole", "UpdatePinhole", "DeletePinhole"]
        return names.first { text.contains("#\($0)\"") } ?? ""
    }

    func answer(to message: RouterMessage) -> HTTPResponse? {
        guard !isSilent else { return nil }
        let name = Self.name(of: message)
        if name == "description" { return HTTPResponse(status: 200, body: Array(description.utf8)) }
        if let code = codes[name] { return FakeUPnPDevice.fault(code) }
        let arguments =
            switch name {
            case "GetFirewallStatus":
                "<FirewallEnabled>\(isOn)</FirewallEnabled><InboundPinholeAllowed>\(opensPinholes)</InboundPinholeAllowed>"
            case "AddPinhole": "<UniqueID>\(id)</UniqueID>"
            default: ""
            }
        let body =
            "<?xml version=\"1.0\"?>\r\n<s:Envelope xmlns:s=\"http://schemas.xmlsoap.org/soap/envelope/\" "
            + "s:encodingStyle=\"http://schemas.xmlsoap.org/soap/encoding/\"><s:Body><u:\(name)Response "
            + "xmlns:u=\"\(Self.service)\">\(arguments)</u:\(name)Response></s:Body></s:Envelope>\r\n"
        return HTTPResponse(status: 200, body: Array(body.utf8))
    }
}
