public import Transport

extension TransportAddress {
    /// Where to listen for the host of a config, which is an address or `localhost`; `::` means all of IPv6 and IPv4. At most
    /// one address of each family; nil for any other host name.
    public static func listening(host: String, port: UInt16) -> [TransportAddress]? {
        switch host {
        case "localhost":
            [TransportAddress(ipv4: 0x7F00_0001, port: port), TransportAddress(ipv6High: 0, low: 1, port: port)]
        case "::":
            [TransportAddress(ipv4: 0, port: port), TransportAddress(ipv6High: 0, low: 0, port: port)]
        default: TransportAddress(host, port: port).map { [$0] }
        }
    }
}
