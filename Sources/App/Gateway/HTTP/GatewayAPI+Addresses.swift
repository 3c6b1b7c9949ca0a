import HTTPTypes
import Transport

extension GatewayAPI {
    /// The headers that a reverse proxy adds to forwarded requests.
    static let forwardingHeaders = ["Forwarded", "X-Forwarded-For", "Via"].compactMap { HTTPField.Name($0) }

    /// The addresses at which a viewer has reached the gateway.
    ///
    /// A loopback address among them lets the viewer name loopback candidates, so only the connection itself may bring
    /// one. What a client writes into `Host` proves nothing. Neither does a connection from this machine that a proxy
    /// makes for somebody elsewhere.
    ///
    /// - Parameters:
    ///   - local: the connection's local end.
    ///   - authority: the header `Host`.
    ///   - isForwarded: whether a proxy says that it forwards for another host.
    static func reachedAddresses(local: String?, authority: String?, isForwarded: Bool) -> [String] {
        var addresses: [String] = []
        if let local = local.map(literal), !(isForwarded && isOwnAlone(local)) { addresses.append(local) }
        if let host = authority.map(self.host(ofAuthority:)), isAddressLiteral(host), !isOwnAlone(host),
            !addresses.contains(host)
        {
            addresses.append(host)
        }
        return addresses
    }

    /// Whether an address has a meaning only on its own machine or link.
    private static func isOwnAlone(_ text: String) -> Bool {
        guard let address = TransportAddress(text, port: 1) else { return false }
        return address.isLoopback || address.isLinkLocal || !address.isUsableDestination
    }

    /// The host of `host`, `host:port` or `[literal]:port`, without brackets.
    static func host(ofAuthority authority: String) -> String {
        if authority.hasPrefix("[") { return String(authority.dropFirst().prefix { $0 != "]" }) }
        return String(authority.prefix { $0 != ":" })
    }

    static func isAddressLiteral(_ text: String) -> Bool {
        TransportAddress(text, port: 1) != nil
    }

    /// An address as the kernel returned it, without scope, and an IPv4 address without its IPv6 mapping.
    static func literal(_ text: String) -> String {
        let plain = text.split(separator: "%", maxSplits: 1).first.map(String.init) ?? text
        let mapping = "::ffff:"
        if plain.lowercased().hasPrefix(mapping), plain.contains(".") { return String(plain.dropFirst(mapping.count)) }
        return plain
    }
}
