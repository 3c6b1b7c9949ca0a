import HTTPMedia
import Transport

@testable import PortMapping

/// What a router answers by UPnP. Its documents have the form of the standard's examples.
struct FakeUPnPDevice {
    var location = "http://192.168.1.1:5000/rootDesc.xml"
    var serviceType = "urn:schemas-upnp-org:service:WANIPConnection:1"
    var control = "/ctl/IPConn"
    var base = ""
    var outside = "203.0.113.6"
    /// The ports that other hosts have.
    var taken: Set<UInt16> = []
    /// Whether mappings may end by themselves.
    var knowsLeases = true
    /// Refuses every mapping with this code.
    var code: UInt16?
    var isSilent = false

    var searchAnswer: [UInt8] {
        Array(
            ("HTTP/1.1 200 OK\r\nCACHE-CONTROL: max-age=120\r\nST: \(SSDPSearch.target)\r\nEXT:\r\nSERVER: x UPnP/1.1\r\n"
                + "Location: \(location)\r\n\r\n").utf8)
    }

    var description: String {
        """
        <?xml version="1.0"?>
        <root xmlns="urn:schemas-upnp-org:device-1-0"><specVersion><major>1</major><minor>0</minor></specVersion>\(base)
        <device><deviceType>urn:schemas-upnp-org:device:InternetGatewayDevice:1</deviceType>
        <serviceList><service><serviceType>urn:schemas-upnp-org:service:Layer3Forwarding:1</serviceType>
        <controlURL>/ctl/L3F</controlURL></service></serviceList>
        <deviceList><device><deviceType>urn:schemas-upnp-org:device:WANDevice:1</deviceType>
        <deviceList><device><deviceType>urn:schemas-upnp-org:device:WANConnectionDevice:1</deviceType>
        <serviceList><service><serviceType>\(serviceType)</serviceType>
        <controlURL>\(control)</controlURL></service></serviceList></device></deviceList></device></deviceList></device></root>
        """
    }

    /// The lines and the body of a request.
    static func text(_ message: RouterMessage) -> String { String(decoding: message.bytes, as: UTF8.self) }

    /// The text of an argument in a request.
    static func argument(_ name: String, of message: RouterMessage) -> String? {
        let text = text(message)
        guard let begin = text.firstRange(of: "<\(name)>"), let end = text.firstRange(of: "</\(name)>") else {
            return nil
        }
        return String(text[begin.upperBound..<end.lowerBound])
    }

    func answer(to message: RouterMessage) -> HTTPResponse? {
        guard !isSilent else { return nil }
        let text = Self.text(message)
        if text.hasPrefix("GET ") { return HTTPResponse(status: 200, body: Array(description.utf8)) }
        if text.contains("#GetExternalIPAddress") {
            return Self.response("<NewExternalIPAddress>\(outside)</NewExternalIPAddress>", to: "GetExternalIPAddress")
        }
        guard text.contains("#AddPortMapping") else { return Self.response("", to: "DeletePortMapping") }
        if let code { return Self.fault(code) }
        if let port = Self.argument("NewExternalPort", of: message).flatMap({ UInt16($0) }), taken.contains(port) {
            return Self.fault(718)
        }
        if !knowsLeases, Self.argument("NewLeaseDuration", of: message) != "0" { return Self.fault(725) }
        return Self.response("", to: "AddPortMapping")
    }

    static func response(_ arguments: String, to action: String) -> HTTPResponse {
        let body =
            "<s:Envelope xmlns:s=\"http://schemas.xmlsoap.org/soap/envelope/\"><s:Body><u:\(action)Response "
            + "xmlns:u=\"urn:schemas-upnp-org:service:WANIPConnection:1\">\(arguments)</u:\(action)Response></s:Body></s:Envelope>"
        return HTTPResponse(status: 200, body: Array(body.utf8))
    }

    static func fault(_ code: UInt16) -> HTTPResponse {
        let body =
            "<s:Envelope xmlns:s=\"http://schemas.xmlsoap.org/soap/envelope/\"><s:Body><s:Fault><faultcode>s:Client</faultcode>"
            + "<faultstring>UPnPError</faultstring><detail><UPnPError xmlns=\"urn:schemas-upnp-org:control-1-0\">"
            + "<errorCode>\(code)</errorCode></UPnPError></detail></s:Fault></s:Body></s:Envelope>"
        return HTTPResponse(status: 500, body: Array(body.utf8))
    }
}
