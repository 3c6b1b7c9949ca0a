import Transport

/// The `c=` line: the address that media would be sent to without ICE (RFC 8866, section 5.7).
public struct ConnectionData: Hashable, Sendable, Codable {
    /// `IP4` or `IP6`.
    public var addressType: String
    /// The address or host name as written, without the time to live of a multicast address.
    public var address: String

    /// Describes an address; the type follows from it.
    public init(address: String) {
        self.addressType = address.utf8.contains(UInt8(ascii: ":")) ? "IP6" : "IP4"
        self.address = address
    }

    /// Reads the value of a `c=` line. The address is the last word, whatever comes before it: cameras write `IN
    /// 192.0.2.1`, `IP IP4 192.0.2.1` and `IN c=IN IP4 192.0.2.1`.
    init?(parsing value: String) {
        guard let last = value.words.last else { return nil }
        let address = last.parts(separatedBy: "/", atMost: 2)[0]
        let keywords = ["IN", "IP", "IP4", "IP6", "IPV4", "IPV6"]
        guard !address.isEmpty, !keywords.contains(where: { address.equalsIgnoringCase($0) }) else { return nil }
        self.init(address: String(address))
    }

    /// The value of the line.
    public var text: String { "IN \(addressType) \(address)" }

    static func isExact(_ value: String) -> Bool {
        let words = value.words
        return words.count == 3 && words[0] == "IN" && (words[1] == "IP4" || words[1] == "IP6")
    }
}

/// A `b=` line: the proposed bandwidth (RFC 8866, section 5.8).
public struct Bandwidth: Hashable, Sendable, Codable {
    /// The type, for example `AS` (kilobits a second) or `TIAS` (bits a second).
    public var type: String
    /// The number, in the unit of the type.
    public var value: UInt64

    init?(parsing value: String) {
        let parts = value.parts(separatedBy: ":", atMost: 2)
        guard parts.count == 2, let number = UInt64(parts[1].trimmed) else { return nil }
        self.type = String(parts[0].trimmed)
        self.value = number
    }
}
