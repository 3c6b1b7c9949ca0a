public import Transport

/// Multicast DNS (RFC 6762): names ending in `.local`, which hosts on one link exchange without a server.
public enum MulticastDNS {
    /// The port of queries and answers. An answer from another port is ignored (RFC 6762, section 6).
    public static let port: UInt16 = 5353
    /// The group of IPv4, 224.0.0.251.
    public static let groupIPv4 = TransportAddress(ipv4: 0xE000_00FB, port: port)
    /// The group of IPv6, `ff02::fb`, without the interface that it belongs to.
    public static let groupIPv6 = TransportAddress(ipv6High: 0xFF02 << 48, low: 0xFB, port: port)
    /// The longest message, in bytes (RFC 6762, section 17).
    public static let maximumMessageSize = 9000
    /// How long an address may be kept, in seconds (RFC 6762, section 10).
    static let addressTimeToLive: UInt32 = 120
}

/// A message to send.
public struct MulticastDNSTransmit: Hashable, Sendable {
    /// The message.
    public var bytes: [UInt8]
    /// The link to send it on, by the number that the driver has given it.
    public var link: Int
    /// The one receiver; nil for the group.
    public var destination: TransportAddress?
}

/// The messages that wait for the driver. Their number is bounded, because a flood of queries must not grow it.
struct MulticastDNSOutbox: Sendable {
    private static let most = 64
    private var waiting: [MulticastDNSTransmit] = []

    mutating func append(
        _ message: MulticastDNSMessage, on link: Int, to destination: TransportAddress? = nil
    ) {
        guard waiting.count < Self.most else { return }
        waiting.append(MulticastDNSTransmit(bytes: message.encoded(), link: link, destination: destination))
    }

    var isEmpty: Bool { waiting.isEmpty }

    mutating func next() -> MulticastDNSTransmit? { waiting.isEmpty ? nil : waiting.removeFirst() }

    mutating func removeAll() { waiting.removeAll() }
}
