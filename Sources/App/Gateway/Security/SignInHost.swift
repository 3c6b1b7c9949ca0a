import Transport

/// The host from which somebody signs in.
struct SignInHost: Hashable {
    /// Nil for all hosts whose address is not known.
    let address: TransportAddress?

    /// - Parameter text: the address of the client, without a scope.
    init(_ text: String) {
        let given = TransportAddress(text, port: 0)
        if let given, given.family == .ipv6 {
            // The lower half of an IPv6 address belongs to the host that has the upper half (RFC 6177).
            address = TransportAddress(ipv6High: given.high, low: 0, port: 0)
        } else {
            address = given
        }
    }
}
