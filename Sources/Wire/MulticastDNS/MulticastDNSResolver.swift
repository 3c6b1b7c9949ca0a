public import Transport

/// Finds the addresses behind the names that browsers put into candidates in place of their own addresses
/// (draft-ietf-mmusic-mdns-ice-candidates, section 3.2.1).
///
/// It does no I/O; see ``MulticastDNSResponder``. Names come from the sender of an offer, so it asks only for names of
/// the form that browsers use, for few of them at a time, and for each a few times.
///
/// Deviation: questions do not ask for an answer by unicast, although the draft recommends it, because another program on this
/// host may share the port and would get it (RFC 6762, section 15.1).
public struct MulticastDNSResolver: Sendable {
    /// What became of a question.
    public enum Outcome: Hashable, Sendable {
        /// The address, with port 0.
        case address(TransportAddress)
        /// Nobody has answered.
        case unknown
        /// An outcome follows from ``MulticastDNSResolver/pollEvent()``.
        case asking
        /// The name is not one that browsers use, too many are asked for, or there is no link.
        case refused
    }

    /// The outcome for a name that has been asked for.
    public struct Event: Hashable, Sendable {
        /// The name.
        public var name: DNSName
        /// Its address, with port 0; nil if nobody has answered.
        public var address: TransportAddress?
    }

    private struct Pending {
        var name: DNSName
        var sent: Int
        var due: Instant
    }

    private struct Entry {
        var address: TransportAddress?
        var end: Instant
    }

    /// The most names that are asked for at a time.
    public static let maximumPending = 32
    private static let maximumEntries = 256
    /// How long after each query the next one, or the end, comes (RFC 6762, section 5.2: a second at least, then longer).
    private static let waits: [Duration] = [.seconds(1), .seconds(2), .seconds(2)]
    private static let longestLife = Duration.seconds(120)
    /// How long a name without an answer is not asked for again.
    private static let unknownLife = Duration.seconds(5)

    private var links: [Int] = []
    private var pending: [Pending] = []
    private var cache: [DNSName: Entry] = [:]
    private var events: [Event] = []
    private var outbox = MulticastDNSOutbox()

    /// Makes a resolver that knows no link yet.
    public init() {}

    /// The name, if browsers use such names for candidates: a UUID and `.local`.
    public static func candidateName(_ text: String) -> DNSName? {
        let bytes = Array(text.utf8)
        guard bytes.count == 42, text.lowercased().hasSuffix(".local") else { return nil }
        for (index, byte) in bytes.prefix(36).enumerated() {
            if [8, 13, 18, 23].contains(index) {
                guard byte == UInt8(ascii: "-") else { return nil }
            } else {
                guard Character(UnicodeScalar(byte)).isHexDigit else { return nil }
            }
        }
        return DNSName(text)
    }

    /// Changes the links to ask on.
    public mutating func setLinks(_ links: [Int]) { self.links = links }

    /// Looks a name up.
    public mutating func resolve(_ text: String, at now: Instant) -> Outcome {
        guard let name = Self.candidateName(text) else { return .refused }
        if let entry = cache[name], entry.end > now { return entry.address.map { .address($0) } ?? .unknown }
        if pending.contains(where: { $0.name == name }) { return .asking }
        guard pending.count < Self.maximumPending, !links.isEmpty else { return .refused }
        var asked = Pending(name: name, sent: 0, due: now)
        ask(&asked, at: now)
        pending.append(asked)
        return .asking
    }

    /// When to call ``handleDeadline(at:)``; nil for never.
    public var nextDeadline: Instant? { pending.lazy.map(\.due).min() }

    /// Asks again, or gives up.
    public mutating func handleDeadline(at now: Instant) {
        expectDrained(isDrained)
        for index in pending.indices where pending[index].due <= now && pending[index].sent < Self.waits.count {
            var asked = pending[index]
            ask(&asked, at: now)
            pending[index] = asked
        }
        for given in pending where given.due <= now { end(given.name, nil, until: now + Self.unknownLife, at: now) }
        pending.removeAll { $0.due <= now }
    }

    /// Handles a message that has come to the group of a link.
    ///
    /// A name may have several addresses: the first IPv6 one counts, or else the first IPv4 one. A link-local IPv6 address is
    /// left out, because it means nothing without its interface.
    public mutating func handle(_ message: MulticastDNSMessage, from source: TransportAddress, at now: Instant) {
        expectDrained(isDrained)
        guard message.isResponse, source.port == MulticastDNS.port else { return }
        var names: [DNSName] = []
        for record in message.records where record.address != nil && !names.contains(record.name) {
            if pending.contains(where: { $0.name == record.name }) || cache[record.name] != nil {
                names.append(record.name)
            }
        }
        for name in names {
            let usable = message.records.filter { record in
                guard record.name == name, let address = record.address else { return false }
                return address.withPort(1).isUsableDestination && !(address.family == .ipv6 && address.isLinkLocal)
            }
            let best = usable.first { $0.type == DNSType.aaaa } ?? usable.first
            guard let best, let address = best.address else { continue }
            guard best.timeToLive > 0 else {
                cache[name] = nil
                continue
            }
            let life = min(.seconds(Int64(best.timeToLive)), Self.longestLife)
            let isPending = pending.contains { $0.name == name }
            pending.removeAll { $0.name == name }
            if isPending {
                end(name, address, until: now + life, at: now)
            } else {
                cache[name] = Entry(address: address, end: now + life)
            }
        }
    }

    /// The next message to send; nil if there is none.
    public mutating func pollTransmit() -> MulticastDNSTransmit? { outbox.next() }

    /// The next outcome; nil if there is none.
    public mutating func pollEvent() -> Event? { events.isEmpty ? nil : events.removeFirst() }

    /// Whether the driver has taken all messages and outcomes. A debug build traps if it hands in more before
    /// that.
    public var isDrained: Bool { events.isEmpty && outbox.isEmpty }

    private mutating func ask(_ asked: inout Pending, at now: Instant) {
        var message = MulticastDNSMessage(isResponse: false)
        message.questions = [DNSType.a, DNSType.aaaa].map { DNSQuestion(asked.name, type: $0) }
        for link in links { outbox.append(message, on: link) }
        asked.due = now + Self.waits[asked.sent]
        asked.sent += 1
    }

    private mutating func end(_ name: DNSName, _ address: TransportAddress?, until end: Instant, at now: Instant) {
        events.append(Event(name: name, address: address))
        cache = cache.filter { $0.value.end > now }
        guard cache.count < Self.maximumEntries else { return }
        cache[name] = Entry(address: address, end: end)
    }
}
