import DatagramPort
import Foundation
import HomeTypes
import Transport

/// The address of a browser at its push service, which the browser has chosen and anybody could have written.
///
/// The gateway sends requests there. So it is `https`, at the usual port, and leads to no machine in the gateway's own
/// networks, unless the config lists the service.
struct PushEndpoint: Sendable, Equatable {
    static let longest = 1_024

    /// The whole address, with the host as in ``host``. It is a secret: anybody who knows it can send to the browser's
    /// service.
    let url: String
    /// The host in small letters, without brackets. The checked address stands for exactly this text.
    let host: String
    let port: Int
    /// The origin of the service, such as `https://push.example`.
    let origin: String
    /// Whether the config lists the service, so that it may be in a private network.
    let isListed: Bool

    /// Reads an address.
    /// - Parameter services: the origins of services that the config lists.
    init(_ text: String, services: [String]) throws(HomeError) {
        // In a host that is escaped, programs do not agree on what is meant.
        let authority = text.dropFirst("https://".count).prefix { !"/?#".contains($0) }
        guard text.utf8.count <= Self.longest, text.utf8.allSatisfy({ (0x21...0x7E).contains($0) }),
            !authority.contains("%"), let url = URLComponents(string: text), url.scheme?.lowercased() == "https",
            let host = url.host, !host.isEmpty, host.utf8.allSatisfy(Self.isPlain), url.user == nil,
            url.password == nil, url.fragment == nil
        else {
            throw .invalidArgument("endpoint: expected an https:// URL of a push service, as the browser names it")
        }
        // URLComponents keeps the brackets of an IPv6 address.
        self.host = String(host.lowercased().drop { $0 == "[" }.prefix { $0 != "]" })
        self.port = url.port ?? 443
        let name = self.host.contains(":") ? "[\(self.host)]" : self.host
        let origin = "https://\(name)" + (port == 443 ? "" : ":\(port)")
        self.origin = origin
        // Not the text itself: a client that reads it in another way would connect to what nobody has checked.
        self.url = origin + url.percentEncodedPath + (url.percentEncodedQuery.map { "?" + $0 } ?? "")
        self.isListed = services.contains(origin)
        guard !isListed else { return }
        guard port == 443 else {
            throw .invalidArgument(
                "endpoint: a push service has the port 443; list the origin of any other under push.services in the config"
            )
        }
        if let literal = TransportAddress(self.host, port: 443), !Self.isPublic(literal) { throw Self.notPublic }
        // Names that no public service has.
        guard self.host.contains(where: { $0 == "." || $0 == ":" }), !self.host.hasSuffix(".local"),
            !self.host.hasSuffix(".localhost"), !self.host.hasSuffix(".internal"), !self.host.hasSuffix(".")
        else { throw Self.notPublic }
    }

    /// Whether a byte stands for itself in a host: a name or an address, without `%` and escapes.
    private static func isPlain(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        default: ".-_:[]".utf8.contains(byte)
        }
    }

    private static let notPublic = HomeError.invalidArgument(
        "endpoint: the push service is not on the Internet; list its origin under push.services in the config if it is yours"
    )

    /// The address to connect to. Its name is looked up now, and only that address is used, so the name cannot lead elsewhere a
    /// moment later.
    /// - Parameter lookUp: the addresses of a host name.
    func address(
        lookUp: @Sendable (_ host: String, _ port: UInt16) async throws(UnknownHostName) -> [TransportAddress]
    ) async throws(HomeError) -> TransportAddress {
        let found: [TransportAddress]
        do {
            found = try await lookUp(host, UInt16(clamping: port))
        } catch {
            throw .unavailable("the push service \(host) has no address")
        }
        guard let first = found.first else { throw .unavailable("the push service \(host) has no address") }
        guard isListed || found.allSatisfy(Self.isPublic) else { throw Self.notPublic }
        return first
    }

    /// Whether an address is on the Internet: not private, not this machine, not for documentation, and not one of those in
    /// another form.
    static func isPublic(_ address: TransportAddress) -> Bool {
        guard address.isGlobal, address.isUsableDestination else { return false }
        if address.family == .ipv4 {
            let number = UInt32(truncatingIfNeeded: address.low)
            // RFC 6890 and RFC 5737: protocol assignments, documentation, benchmarks.
            return ![(0xC000_0000, 24), (0xC000_0200, 24), (0xC612_0000, 15), (0xC633_6400, 24), (0xCB00_7100, 24)]
                .contains { (prefix: UInt32, length: UInt32) in number >> (32 - length) == prefix >> (32 - length) }
        }
        guard let embedded = embedded(address) else {
            // 2000::/3 is all that is assigned; 2001:db8::/32 is for documentation.
            return address.high >> 61 == 1 && address.high >> 32 != 0x2001_0DB8
        }
        return isPublic(embedded)
    }

    /// The IPv4 address that an IPv6 address stands for: mapped (RFC 4291), compatible, translated (RFC 6052) or 6to4 (RFC
    /// 3056).
    private static func embedded(_ address: TransportAddress) -> TransportAddress? {
        let port = address.port
        if address.high == 0, [0, 0xFFFF].contains(address.low >> 32) {
            return TransportAddress(ipv4: UInt32(truncatingIfNeeded: address.low), port: port)
        }
        if address.high == 0x0064_FF9B_0000_0000, address.low >> 32 == 0 {
            return TransportAddress(ipv4: UInt32(truncatingIfNeeded: address.low), port: port)
        }
        if address.high >> 48 == 0x2002 {
            return TransportAddress(ipv4: UInt32(truncatingIfNeeded: address.high >> 16), port: port)
        }
        return nil
    }
}
