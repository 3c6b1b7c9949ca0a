import XML

/// WS-Discovery as ONVIF uses it (ONVIF Core, section 7): one probe to a multicast group, and an answer from each
/// camera in the network.
public enum WSDiscovery {
    /// The multicast group of IPv4.
    public static let group = "239.255.255.250"
    /// The UDP port.
    public static let port: UInt16 = 3702
    /// The longest answer that is read, in bytes.
    public static let maximumAnswerSize = 16 * 1024

    /// A camera that has answered.
    public struct Match: Sendable, Hashable {
        /// The endpoint's lasting identifier, usually a `urn:uuid:`.
        public var endpoint: String
        /// The addresses of the device service, as the camera reports them.
        public var addresses: [String]
        /// The name in the camera's scopes.
        public var name: String?
        /// The hardware in the camera's scopes.
        public var hardware: String?
        /// The place in the camera's scopes.
        public var location: String?

        /// Describes a camera.
        public init(
            endpoint: String, addresses: [String], name: String? = nil, hardware: String? = nil,
            location: String? = nil
        ) {
            self.endpoint = endpoint
            self.addresses = addresses
            self.name = name
            self.hardware = hardware
            self.location = location
        }
    }

    /// The probe for video devices.
    /// - Parameters:
    ///   - messageID: random bytes; answers refer to them.
    ///   - isTyped: whether it asks for ONVIF's type. Some cameras answer only with it, others only without.
    public static func probe(messageID: (UInt64, UInt64), isTyped: Bool) -> String {
        let types =
            isTyped
            ? "<d:Types xmlns:dn=\"\(XMLNamespace.network)\">dn:NetworkVideoTransmitter</d:Types>" : ""
        return """
            <?xml version="1.0" encoding="UTF-8"?>
            <s:Envelope xmlns:s="\(XMLNamespace.soap)" xmlns:a="\(XMLNamespace.draftAddressing)" \
            xmlns:d="\(XMLNamespace.discovery)"><s:Header><a:Action>\(XMLNamespace.discovery)/Probe</a:Action>\
            <a:MessageID>\(ONVIFRequest.uuid(messageID))</a:MessageID>\
            <a:ReplyTo><a:Address>\(XMLNamespace.draftAddressing)/role/anonymous</a:Address></a:ReplyTo>\
            <a:To>urn:schemas-xmlsoap-org:ws:2005:04:discovery</a:To></s:Header>\
            <s:Body><d:Probe>\(types)</d:Probe></s:Body></s:Envelope>
            """
    }

    /// Reads an answer; empty for any other message, since the group carries other devices' messages too.
    public static func matches(_ datagram: [UInt8]) -> [Match] {
        var limits = XMLReader.Limits()
        limits.bytes = maximumAnswerSize
        limits.elements = 1000
        guard let root = try? XMLReader.read(datagram, limits: limits),
            let list = root["Body"]?["ProbeMatches"]
        else { return [] }
        return list.all("ProbeMatch").prefix(16).compactMap { match in
            let addresses = (match["XAddrs"]?.text ?? "").split(whereSeparator: \.isWhitespace).prefix(8).map {
                String($0).printable(upTo: 256)
            }
            guard !addresses.isEmpty else { return nil }
            let scopes = (match["Scopes"]?.text ?? "").split(whereSeparator: \.isWhitespace).prefix(64)
            func scope(_ name: String) -> String? {
                let prefix = "onvif://www.onvif.org/\(name)/"
                return scopes.first { $0.lowercased().hasPrefix(prefix) }.map {
                    String($0.dropFirst(prefix.count)).decodedFromPercents.printable(upTo: 64)
                }
            }
            return Match(
                endpoint: (match["EndpointReference"]?["Address"]?.text ?? "").printable(upTo: 128),
                addresses: addresses, name: scope("name"), hardware: scope("hardware"), location: scope("location"))
        }
    }
}

extension String {
    /// The text with percent escapes decoded (`%20` is a space); an invalid escape stays as it is.
    fileprivate var decodedFromPercents: String {
        var result: [UInt8] = []
        var rest = Array(utf8)[...]
        while let byte = rest.popFirst() {
            if byte == UInt8(ascii: "%"), rest.count >= 2,
                let value = UInt8(String(decoding: rest.prefix(2), as: UTF8.self), radix: 16)
            {
                result.append(value)
                rest = rest.dropFirst(2)
            } else {
                result.append(byte)
            }
        }
        return String(decoding: result, as: UTF8.self)
    }
}
