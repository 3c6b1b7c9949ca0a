import Transport

/// A datagram that arrived.
public struct SimulatedDatagram: Sendable {
    /// Its payload.
    public var bytes: [UInt8]
    /// Its apparent source: behind a NAT, the outside address.
    public var source: TransportAddress
    /// The address of the host that it reached, behind a NAT the inside address.
    public var destination: TransportAddress
    /// When it arrived.
    public var arrival: Instant

    /// Describes a datagram, for tests that make their own.
    public init(
        bytes: [UInt8], source: TransportAddress, destination: TransportAddress, arrival: Instant
    ) {
        self.bytes = bytes
        self.source = source
        self.destination = destination
        self.arrival = arrival
    }
}

/// What happened to the datagrams so far.
public struct NetworkStatistics: Hashable, Sendable {
    public var sent = 0
    public var delivered = 0
    public var lost = 0
    public var duplicated = 0
    public var reordered = 0
    /// Dropped because the queue before a rate limit was full.
    public var overflowed = 0
    /// Dropped by a NAT or its firewall, or for a private address that the sender cannot reach.
    public var unreachable = 0
}

/// A network in memory and in virtual time: latency, jitter, losses, reordering, duplication, rate limits and NATs. All
/// chance comes from one seed.
///
/// An address with the route TCP (``TransportAddress/by(_:)``) is one end of a TCP connection: what is sent from there to another
/// such address is neither lost nor overtaken nor doubled, and a NAT lets in only what answers the inside. The connection itself,
/// its handshake and the delay of what is sent again are not simulated.
///
/// It does no I/O and has no clock: a datagram goes in with the time at which it was sent, and comes out of
/// ``deliver(until:)`` with the time at which it arrived. The same calls with the same seed give the same result.
public struct SimulatedNetwork: Sendable {
    private struct Direction: Hashable {
        var from: TransportAddress?
        var to: TransportAddress?
    }

    private struct Path {
        var isBad = false
        var busyUntil = Instant.zero
        var lastArrival = Instant.zero
        /// What a policed line still lets pass, in bits, and when that was.
        var tokens = 0.0
        var tokensAt = Instant.zero
    }

    private struct InFlight {
        var arrival: Instant
        var order: Int
        var bytes: [UInt8]
        var source: TransportAddress
        var destination: TransportAddress
        /// The NAT that the sender is behind.
        var realm: Int?
    }

    /// IPv4 and UDP headers, which a rate limit counts as well.
    private static let headerBits = 28 * 8

    private var random: RandomSource
    private var conditions: [Direction: LinkConditions] = [:]
    private var paths: [Direction: Path] = [:]
    private var nats: [SimulatedNAT] = []
    private var queue: [InFlight] = []
    private var order = 0
    /// What happened to the datagrams so far.
    public private(set) var statistics = NetworkStatistics()

    /// Makes a network in which every link has `conditions`.
    public init(seed: UInt64, conditions: LinkConditions = LinkConditions()) {
        random = .seeded(seed)
        self.conditions[Direction()] = conditions
    }

    // MARK: - Shape

    /// Sets the conditions from one host to another from now on. Without `from` or `to` they apply to every host there
    /// that has none of its own. Ports do not matter.
    public mutating func setConditions(
        _ conditions: LinkConditions, from source: TransportAddress? = nil, to destination: TransportAddress? = nil
    ) {
        self.conditions[Direction(from: source?.asHost, to: destination?.asHost)] = conditions
    }

    /// Puts hosts behind a NAT.
    ///
    /// - Parameters:
    ///   - kind: how it maps and filters.
    ///   - outside: its public address; the port does not matter.
    ///   - insideHosts: the addresses behind it, whatever their port.
    ///   - lifetime: how long a mapping lives without outgoing datagrams; nil for ever.
    ///   - firewall: what it lets out.
    public mutating func addNAT(
        _ kind: NATKind, outside: TransportAddress, inside insideHosts: [TransportAddress], lifetime: Duration? = nil,
        firewall: Firewall = .open
    ) -> NATIdentifier {
        nats.append(
            SimulatedNAT(
                kind: kind, firewall: firewall, outside: outside.asHost, insideHosts: Set(insideHosts.map(\.asHost)),
                lifetime: lifetime, nextPort: UInt16.random(in: 20_000...40_000, using: &random)))
        return NATIdentifier(index: nats.count - 1)
    }

    /// Makes a NAT forget its mappings, as after a restart or when the provider changes the address.
    public mutating func rebind(_ nat: NATIdentifier, to outside: TransportAddress? = nil) {
        nats[nat.index].mappings.removeAll()
        if let outside { nats[nat.index].outside = outside.asHost }
        nats[nat.index].nextPort = UInt16.random(in: 40_001...60_000, using: &random)
    }

    // MARK: - Traffic

    /// Sends a datagram.
    public mutating func send(
        _ bytes: UnsafeRawBufferPointer, from source: TransportAddress, to destination: TransportAddress,
        at now: Instant
    ) {
        statistics.sent += 1
        let realm = self.realm(of: source)
        var visibleSource = source
        if let realm, self.realm(of: destination) != realm {
            guard nats[realm].firewall.lets(destination) else {
                statistics.unreachable += 1
                return
            }
            visibleSource = nats[realm].translateOutbound(from: source, to: destination, at: now)
        }
        let direction = Direction(from: source.asHost, to: destination.asHost)
        let isStream = destination.route == .tcp
        let conditions = self.conditions(for: direction)
        let line = conditions.sharesLine ? Direction(from: direction.from) : direction
        var path = paths[line] ?? Path()
        defer { paths[line] = path }

        var isLost = chance(conditions.loss)
        if let burst = conditions.burstLoss {
            path.isBad = path.isBad ? !chance(burst.becomesGood) : chance(burst.becomesBad)
            if path.isBad, chance(burst.lossWhileBad) { isLost = true }
        }
        var departure = now
        if let rate = conditions.bitsPerSecond, rate > 0, let burst = conditions.policedBurst {
            let bits = Double(bytes.count * 8 + Self.headerBits)
            path.tokens += (now - path.tokensAt).inSeconds * Double(rate)
            path.tokens = min(path.tokens, Double(burst * 8))
            path.tokensAt = now
            guard path.tokens >= bits else {
                statistics.overflowed += 1
                return
            }
            path.tokens -= bits
        } else if let rate = conditions.bitsPerSecond, rate > 0 {
            let begin = max(now, path.busyUntil)
            guard begin - now <= conditions.queueLimit else {
                statistics.overflowed += 1
                return
            }
            let bits = Int64(bytes.count * 8 + Self.headerBits)
            departure = begin + .nanoseconds(bits * 1_000_000_000 / Int64(rate))
            path.busyUntil = departure
        }
        // A line that loses everything is cut, and TCP does not get through it either.
        if isLost, !isStream || conditions.loss >= 1 {
            statistics.lost += 1
            return
        }
        var arrival = departure + conditions.latency
        let jitter = conditions.jitter.wholeNanoseconds
        if jitter > 0 { arrival += .nanoseconds(Int64.random(in: 0...jitter, using: &random)) }
        if !isStream, chance(conditions.reordering) {
            arrival += conditions.reorderingDelay
            statistics.reordered += 1
        } else {
            arrival = max(arrival, path.lastArrival)
            path.lastArrival = arrival
        }
        let copies = !isStream && chance(conditions.duplication) ? 2 : 1
        statistics.duplicated += copies - 1
        for _ in 0..<copies {
            enqueue(
                InFlight(
                    arrival: arrival, order: order, bytes: Array(bytes), source: visibleSource,
                    destination: destination, realm: realm))
            order += 1
        }
    }

    /// When the next datagram arrives; nil if none is in flight.
    public var nextDeadline: Instant? { queue.first?.arrival }

    /// What has arrived until `now`, in order of arrival.
    public mutating func deliver(until now: Instant) -> [SimulatedDatagram] {
        let count = queue.prefix { $0.arrival <= now }.count
        let due = queue.prefix(count)
        queue.removeFirst(count)
        return due.compactMap { datagram in
            guard let destination = route(datagram) else {
                statistics.unreachable += 1
                return nil
            }
            statistics.delivered += 1
            return SimulatedDatagram(
                bytes: datagram.bytes, source: datagram.source, destination: destination, arrival: datagram.arrival)
        }
    }

    private mutating func route(_ datagram: InFlight) -> TransportAddress? {
        if let nat = nats.firstIndex(where: { $0.outside.hasSameHost(as: datagram.destination) }) {
            return nats[nat].translateInbound(
                from: datagram.source, to: datagram.destination, at: datagram.arrival)
        }
        // A private address is reachable only from the same side of the NAT.
        if let realm = realm(of: datagram.destination), realm != datagram.realm { return nil }
        return datagram.destination
    }

    private func realm(of address: TransportAddress) -> Int? {
        let host = address.asHost
        return nats.firstIndex { $0.insideHosts.contains(host) }
    }

    private func conditions(for direction: Direction) -> LinkConditions {
        conditions[direction] ?? conditions[Direction(from: direction.from)] ?? conditions[Direction(to: direction.to)]
            ?? conditions[Direction()] ?? LinkConditions()
    }

    private mutating func enqueue(_ datagram: InFlight) {
        var low = 0
        var high = queue.count
        while low < high {
            let middle = (low + high) / 2
            if queue[middle].arrival <= datagram.arrival { low = middle + 1 } else { high = middle }
        }
        queue.insert(datagram, at: low)
    }

    private mutating func chance(_ probability: Double) -> Bool {
        // Chances that cannot happen draw no number, so adding one condition does not change the sequence of the
        // others.
        probability > 0 && Double.random(in: 0..<1, using: &random) < probability
    }
}

extension TransportAddress {
    /// The host alone, whatever the port and the route.
    fileprivate var asHost: TransportAddress { withPort(0).by(.direct) }
}
