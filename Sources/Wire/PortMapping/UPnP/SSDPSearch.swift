import Transport

/// The search for the router's UPnP device (UPnP Device Architecture 1.1, section 1.3): a request by multicast, and an answer
/// that names where its description is.
enum SSDPSearch {
    /// The multicast group and port.
    static let group = TransportAddress(ipv4: 0xEFFF_FFFA, port: 1900)
    /// The longest answer that is read, in bytes.
    static let maximumAnswerSize = 4096
    /// Version 2 of the device answers to a search for version 1, too.
    static let target = "urn:schemas-upnp-org:device:InternetGatewayDevice:1"

    /// The search, for everybody and for the router alone: multicast gets lost on wireless networks, and older routers answer
    /// only to it.
    static func requests(to router: TransportAddress?) -> [RouterMessage] {
        let text =
            "M-SEARCH * HTTP/1.1\r\nHOST: 239.255.255.250:1900\r\nMAN: \"ssdp:discover\"\r\nMX: 1\r\nST: \(target)\r\n\r\n"
        let destinations = [group] + (router.map { [$0.withPort(group.port)] } ?? [])
        return destinations.map { RouterMessage(destination: $0, bytes: Array(text.utf8)) }
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
