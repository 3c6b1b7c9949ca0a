public import Transport

/// Owns one name on every link: probes for it, announces it, answers for it, defends it, and says goodbye (RFC 6762, sections 6
/// to 10).
///
/// It does no I/O. The driver hands in messages and the time, sends what ``pollTransmit()`` returns, and calls
/// ``handleDeadline(at:)`` when ``nextDeadline`` has come. The name is the same on all links. If another host has it, the
/// gateway takes `NAME-2`.
///
/// Deviations:
/// - A query that is cut short (the TC bit) is answered at once, without waiting for known answers that follow (section 7.2).
///   There are two records at most, so there is nothing to save.
/// - Queries to the host's own address are not answered (section 5.5). The driver receives what is sent to the group only, so
///   that nobody outside the link can use the gateway to send to others.
public struct MulticastDNSResponder: Sendable {
    /// An interface with one version of the Internet Protocol.
    public struct Link: Hashable, Sendable {
        /// The number by which the driver knows it.
        public var id: Int
        /// The gateway's addresses there, of both versions, to answer with.
        public var addresses: [TransportAddress]

        /// Describes a link.
        public init(id: Int, addresses: [TransportAddress]) {
            self.id = id
            self.addresses = addresses
        }
    }

    enum Phase: Hashable, Sendable {
        /// There is no link, or the name has been given up.
        case idle
        /// So many probes have been sent.
        case probing(sent: Int)
        /// So many announcements have been sent.
        case announcing(sent: Int)
        case announced
    }

    private static let probes = 3
    private static let probeInterval = Duration.milliseconds(250)
    private static let announcements = 2
    private static let announcementInterval = Duration.seconds(1)
    /// How long the loser of two simultaneous probes waits (section 8.2).
    private static let deferral = Duration.seconds(1)
    /// A host that fights for every name is asked less often (section 8.1).
    private static let conflictsUntilPause = 15
    private static let conflictWindow = Duration.seconds(10)
    private static let conflictPause = Duration.seconds(5)
    private static let highestNumber = 99

    let baseName: String
    var number = 1
    var phase = Phase.idle
    var links: [Link] = []
    var outbox = MulticastDNSOutbox()
    /// When an answer last went to the group of each link.
    var lastMulticast: [Int: Instant] = [:]
    var unicast = (windowStart: Instant.zero, sent: 0)
    private var due: Instant?
    private var conflicts: [Instant] = []
    /// There have been so many conflicts that each probe waits, until a name is the gateway's.
    private var isContested = false
    private var random: RandomSource
    /// How many queries have been answered.
    public internal(set) var answered = 0

    /// Makes a responder that knows no link yet.
    /// - Parameters:
    ///   - name: the host's label, without `.local`: letters, digits and hyphens, at most 60 bytes.
    ///   - random: where the first probes' delays come from.
    public init(name: String, random: RandomSource) {
        baseName = name
        self.random = random
    }

    /// The name that is announced or probed for.
    public var name: DNSName {
        DNSName(labels: [
            Array((number == 1 ? baseName : "\(baseName)-\(number)").lowercased().utf8), Array("local".utf8),
        ])
    }

    /// Whether the name is the gateway's on every link.
    public var isAnnounced: Bool {
        switch phase {
        case .announcing, .announced: true
        case .idle, .probing: false
        }
    }

    /// Whether another host has the configured name.
    public var isRenamed: Bool { number != 1 }

    /// When to call ``handleDeadline(at:)``; nil for never.
    public var nextDeadline: Instant? { due }

    /// The next message to send; nil if there is none.
    public mutating func pollTransmit() -> MulticastDNSTransmit? { outbox.next() }

    /// Whether the driver has taken all messages. A debug build traps if it hands in more before that.
    public var isDrained: Bool { outbox.isEmpty }

    /// Changes the links. A new link is probed; other addresses are announced (RFC 6762, section 8.4).
    public mutating func setLinks(_ wanted: [Link], at now: Instant) {
        let wanted = wanted.filter { !$0.addresses.isEmpty }
        guard wanted != links else { return }
        let known = Set(links.map(\.id))
        let isNew = wanted.contains { !known.contains($0.id) }
        links = wanted
        lastMulticast = lastMulticast.filter { entry in wanted.contains { $0.id == entry.key } }
        if wanted.isEmpty {
            (phase, due) = (.idle, nil)
        } else if isNew || phase == .idle {
            beginProbing(at: now + .nanoseconds(Int64.random(in: 0...250_000_000, using: &random)))
        } else if isAnnounced {
            (phase, due) = (.announcing(sent: 0), now)
        }
    }

    /// Sends the probe or the announcement that is due.
    public mutating func handleDeadline(at now: Instant) {
        expectDrained(isDrained)
        guard let due, due <= now else { return }
        switch phase {
        case .probing(let sent) where sent < Self.probes:
            for link in links { outbox.append(probe(on: link), on: link.id) }
            (phase, self.due) = (.probing(sent: sent + 1), now + Self.probeInterval)
        case .probing: announce(0, at: now)
        case .announcing(let sent): announce(sent, at: now)
        case .idle, .announced: self.due = nil
        }
    }

    /// Handles a message that has come to the group of a link.
    public mutating func handle(
        _ message: MulticastDNSMessage, on linkID: Int, from source: TransportAddress, at now: Instant
    ) {
        expectDrained(isDrained)
        guard phase != .idle, let link = links.first(where: { $0.id == linkID }) else { return }
        if message.isResponse {
            if source.port == MulticastDNS.port, isConflict(message) { loseName(at: now) }
        } else if isAnnounced {
            answer(message, on: link, from: source, at: now)
        } else if case .probing(let sent) = phase, sent > 0 {
            compare(message, on: link, at: now)
        }
    }

    /// Gives the name up: lets everybody forget it (RFC 6762, section 10.1).
    public mutating func sayGoodbye() {
        if isAnnounced {
            for link in links { outbox.append(announcement(on: link, timeToLive: 0), on: link.id) }
        }
        (phase, due) = (.idle, nil)
    }

    // MARK: - Owning the name

    private mutating func beginProbing(at instant: Instant) { (phase, due) = (.probing(sent: 0), instant) }

    private mutating func announce(_ sent: Int, at now: Instant) {
        for link in links {
            outbox.append(announcement(on: link, timeToLive: MulticastDNS.addressTimeToLive), on: link.id)
            lastMulticast[link.id] = now
        }
        if sent + 1 < Self.announcements {
            (phase, due) = (.announcing(sent: sent + 1), now + Self.announcementInterval)
        } else {
            (phase, due) = (.announced, nil)
            isContested = false
        }
    }

    private func probe(on link: Link) -> MulticastDNSMessage {
        var message = MulticastDNSMessage(isResponse: false)
        // The answer goes to the group, because another program on this host may share the port (section 15.1).
        message.questions = [DNSQuestion(name, type: DNSType.any)]
        message.authorities = link.addresses.map { DNSRecord(name, $0, timeToLive: MulticastDNS.addressTimeToLive) }
        return message
    }

    private func announcement(on link: Link, timeToLive: UInt32) -> MulticastDNSMessage {
        var message = MulticastDNSMessage(isResponse: true)
        message.answers = records(on: link, timeToLive: timeToLive)
        return message
    }

    /// The addresses of a link, as unique records.
    func records(on link: Link, timeToLive: UInt32) -> [DNSRecord] {
        link.addresses.map {
            var record = DNSRecord(name, $0, timeToLive: timeToLive)
            record.flushesCache = true
            return record
        }
    }

    /// Whether another host answers for the name. The gateway's own messages come back, and those of one link may reach
    /// another, so an address of any link is its own.
    private func isConflict(_ message: MulticastDNSMessage) -> Bool {
        let own = Set(links.flatMap(\.addresses))
        return message.records.contains { record in
            guard record.name == name, record.type != DNSType.nsec, record.timeToLive > 0 else { return false }
            return !(record.address.map { own.contains($0) } ?? false)
        }
    }

    /// A conflict: while probing, the next name is tried. An owner first probes for its name once more, because the other host
    /// may give way (RFC 6762, section 9).
    private mutating func loseName(at now: Instant) {
        conflicts.removeAll { now - $0 > Self.conflictWindow }
        conflicts.append(now)
        if conflicts.count >= Self.conflictsUntilPause { isContested = true }
        if !isAnnounced { number = number < Self.highestNumber ? number + 1 : 1 }
        beginProbing(at: now + (isContested ? Self.conflictPause : .zero))
    }

    /// Decides between two hosts that probe for the name at the same time: the later records win (RFC 6762, section 8.2).
    private mutating func compare(_ message: MulticastDNSMessage, on link: Link, at now: Instant) {
        let others = message.authorities.filter { $0.name == name }
        let all = Set(links.flatMap(\.addresses))
        guard !others.isEmpty, !others.allSatisfy({ $0.address.map { all.contains($0) } ?? false }) else { return }
        func sorted(_ records: [DNSRecord]) -> [[UInt8]] {
            records.map { record in
                [record.recordClass, record.type].flatMap { [UInt8($0 >> 8), UInt8(truncatingIfNeeded: $0)] }
                    + record.data
            }.sorted { $0.lexicographicallyPrecedes($1) }
        }
        let own = sorted(records(on: link, timeToLive: MulticastDNS.addressTimeToLive))
        let isLater = sorted(others).lexicographicallyPrecedes(own) { $0.lexicographicallyPrecedes($1) }
        if !isLater { beginProbing(at: now + Self.deferral) }
    }
}
