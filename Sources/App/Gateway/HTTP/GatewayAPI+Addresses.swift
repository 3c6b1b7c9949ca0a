import Transport

extension GatewayAPI {
    /// The host of `host`, `host:port` or `[literal]:port`, without brackets.
    static func host(ofAuthority authority: String) -> String {
        if authority.hasPrefix("[") { return String(authority.dropFirst().prefix { $0 != "]" }) }
        return String(authority.prefix { $0 != ":" })
    }

    static func isAddressLiteral(_ text: String) -> Bool {
        TransportAddress(text, port: 1) != nil
    }

    /// An address as the kernel gave it, without scope, and an IPv4 address without its IPv6 mapping.
    static func literal(_ text: String) -> String {
        let plain = text.split(separator: "%", maxSplits: 1).first.map(String.init) ?? text
        let mapping = "::ffff:"
        if plain.lowercased().hasPrefix(mapping), plain.contains(".") { return String(plain.dropFirst(mapping.count)) }
        return plain
    }
}
