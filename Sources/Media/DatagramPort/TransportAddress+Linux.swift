import CLinuxUDP
import Transport

extension linux_udp_address {
    /// The same address in the form that system calls accept.
    init(_ address: TransportAddress) {
        self.init(
            high: address.high, low: address.low, scope: address.scope, port: address.port,
            family: address.family.rawValue)
    }
}

extension TransportAddress {
    /// The same address from the form that system calls return.
    init(_ address: linux_udp_address) {
        if address.family == Family.ipv6.rawValue {
            self.init(ipv6High: address.high, low: address.low, port: address.port, scope: address.scope)
        } else {
            self.init(ipv4: UInt32(truncatingIfNeeded: address.low), port: address.port)
        }
    }
}
