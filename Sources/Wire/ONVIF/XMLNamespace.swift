/// The namespaces that the requests use.
enum XMLNamespace {
    static let soap = "http://www.w3.org/2003/05/soap-envelope"
    static let addressing = "http://www.w3.org/2005/08/addressing"
    static let security = "http://docs.oasis-open.org/wss/2004/01/oasis-200401-wss-wssecurity-secext-1.0.xsd"
    static let securityUtility = "http://docs.oasis-open.org/wss/2004/01/oasis-200401-wss-wssecurity-utility-1.0.xsd"
    static let device = "http://www.onvif.org/ver10/device/wsdl"
    static let media = "http://www.onvif.org/ver10/media/wsdl"
    static let events = "http://www.onvif.org/ver10/events/wsdl"
    static let imaging = "http://www.onvif.org/ver20/imaging/wsdl"
    static let schema = "http://www.onvif.org/ver10/schema"
    static let notification = "http://docs.oasis-open.org/wsn/b-2"
    static let discovery = "http://schemas.xmlsoap.org/ws/2005/04/discovery"
    /// WS-Discovery is older than the rest and uses the draft of WS-Addressing.
    static let draftAddressing = "http://schemas.xmlsoap.org/ws/2004/08/addressing"
    static let network = "http://www.onvif.org/ver10/network/wsdl"
}
