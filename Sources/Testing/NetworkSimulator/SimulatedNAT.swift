import Transport

/// How a NAT maps and filters (in the terms of RFC 3489, which everybody still uses; RFC 4787 splits them in two).
public enum NATKind: Sendable, CaseIterable {
    /// One outside port for each inside address; everybody may send to it.
    case fullCone
    /// One outside port for each inside address; hosts that were sent to may send to it.
    case addressRestricted
    /// One outside port for each inside address; addresses and ports that were sent to may send to it.
    case portRestricted
    /// One outside port for each inside address and destination; only that destination may send to it.
    case symmetric
}

/// What a router lets out, whatever its NAT is like.
public enum Firewall: Sendable, CaseIterable {
    /// Everything.
    case open
    /// TCP alone.
    case blocksUDP
    /// TCP to port 443 alone, as in networks that permit only the web.
    case onlyHTTPS

    func lets(_ destination: TransportAddress) -> Bool {
        switch self {
        case .open: true
        case .blocksUDP: destination.route == .tcp
        case .onlyHTTPS: destination.route == .tcp && destination.port == 443
        }
    }
}

/// Names a NAT of a ``SimulatedNetwork``.
public struct NATIdentifier: Hashable, Sendable {
    let index: Int
}

/// One NAT: its mappings and its filter.
struct SimulatedNAT {
    struct Mapping {
        var inside: TransportAddress
        /// The destination that a symmetric mapping belongs to.
        var destination: TransportAddress?
        var outside: TransportAddress
        /// The destinations that the inside has sent to through this mapping.
        var contacts: Set<TransportAddress> = []
        var lastUsed: Instant
    }

    let kind: NATKind
    let firewall: Firewall
    var outside: TransportAddress
    let insideHosts: Set<TransportAddress>
    let lifetime: Duration?
    var mappings: [Mapping] = []
    var nextPort: UInt16

    /// Translates the source of an outgoing datagram, and makes a mapping if there is none. A TCP connection has a mapping of
    /// its own, whatever the kind (RFC 5382, section 4).
    mutating func translateOutbound(
        from inside: TransportAddress, to destination: TransportAddress, at now: Instant
    ) -> TransportAddress {
        expire(at: now)
        let key = kind == .symmetric || destination.route == .tcp ? destination : nil
        if let index = mappings.firstIndex(where: { $0.inside == inside && $0.destination == key }) {
            mappings[index].contacts.insert(destination)
            mappings[index].lastUsed = now
            return mappings[index].outside
        }
        let mapped = outside.withPort(nextPort).by(destination.route)
        nextPort = nextPort == .max ? 1024 : nextPort + 1
        mappings.append(
            Mapping(
                inside: inside, destination: key, outside: mapped, contacts: [destination], lastUsed: now))
        return mapped
    }

    /// The inside address that a datagram for `address` is forwarded to; nil if the filter drops it.
    mutating func translateInbound(
        from source: TransportAddress, to address: TransportAddress, at now: Instant
    ) -> TransportAddress? {
        expire(at: now)
        guard let mapping = mappings.first(where: { $0.outside == address }) else { return nil }
        let passes =
            switch kind {
            case _ where address.route == .tcp: mapping.contacts.contains(source)
            case .fullCone: true
            case .addressRestricted: mapping.contacts.contains { $0.hasSameHost(as: source) }
            case .portRestricted, .symmetric: mapping.contacts.contains(source)
            }
        return passes ? mapping.inside : nil
    }

    private mutating func expire(at now: Instant) {
        guard let lifetime else { return }
        mappings.removeAll { now - $0.lastUsed > lifetime }
    }
}
