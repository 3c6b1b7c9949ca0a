import Transport

/// The search for the router's UPnP device (UPnP Device Architecture 1.1, section 1.3): a request by multicast, and an answer
/// that names where its description is.
enum SSDPSearch {
    /// The multicast group and port.
    static let group = TransportAddress(ipv4: 0xEFFF_FFFA, port: 1900)
    /// The longest answer that is read, in bytes.
    static let maximumAnswerSize = 4096
    /// Version 2 of the device answers to a search for version 1, too.
    static let target = deviceType(version: 1)

    private static func deviceType(version: Int) -> String {
        "urn:schemas-upnp-org:device:InternetGatewayDevice:\(version)"
    }

    /// The search, for everybody and for the router alone: multicast gets lost on wireless networks, and older routers answer
    /// only to it.
    static func requests(to router: TransportAddress?) -> [RouterMessage] {
        let destinations = [group] + (router.map { [$0.withPort(group.port)] } ?? [])
        return destinations.map { request(to: $0, host: group, target: target) }
    }

    /// The search over IPv6, for the router alone (section 1.3.2): no other device counts, and a router that knows the service for
    /// IPv6 firewalls is new enough to answer. The kernel chooses the source. For a link-local router it is link-local,
    /// too, so the answer comes from the link-local address by which the router is known.
    static func request(toIPv6Router router: TransportAddress, version: Int) -> RouterMessage {
        let destination = router.withPort(group.port)
        return request(to: destination, host: destination, target: deviceType(version: version))
    }

    private static func request(
        to destination: TransportAddress, host: TransportAddress, target: String
    ) -> RouterMessage {
        let text =
            "M-SEARCH * HTTP/1.1\r\nHOST: \(host)\r\nMAN: \"ssdp:discover\"\r\nMX: 1\r\nST: \(target)\r\n\r\n"
        return RouterMessage(destination: destination, bytes: Array(text.utf8))
    }

    /// The address of the description that an answer names; nil for anything else.
    static func location(in answer: UnsafeRawBufferPointer) -> String? {
        guard answer.count <= maximumAnswerSize else { return nil }
        let lines = String(decoding: answer, as: UTF8.self).split(whereSeparator: \.isNewline)
        guard let status = lines.first?.split(separator: " "), status.count >= 2, status[0].hasPrefix("HTTP/1."),
            status[1] == "200"
        else { return nil }
        for line in lines.dropFirst() {
            guard let colon = line.firstIndex(of: ":"), line[..<colon].lowercased() == "location" else { continue }
            let value = line[line.index(after: colon)...].drop { $0 == " " || $0 == "\t" }
            return value.isEmpty ? nil : String(value)
        }
        return nil
    }
}
