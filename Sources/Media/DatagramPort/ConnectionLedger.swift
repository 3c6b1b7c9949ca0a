public import Transport

/// The connections of all listeners, and which of them to close when there are too many.
///
/// A connection is treated as a stranger's until ``vouch(for:principal:)`` is called for it. When no room is left, the
/// oldest stranger of the host with the most strangers is closed. So a user can still sign in while others hold idle
/// connections.
public final class ConnectionLedger: Sendable {
    /// The most connections.
    public struct Limits: Sendable, Equatable {
        /// From all hosts, at all listeners.
        public var total: Int
        /// Of strangers from all hosts, at all listeners.
        public var strangers: Int
        /// Of strangers from one host, at all listeners. This machine is exempt: its proxies act for all clients.
        public var perHost: Int
        /// How many connections of one principal are never closed for others.
        public var perPrincipal: Int

        /// Limits that the process's descriptors allow.
        /// - Parameter strangers: the most strangers; nil for as many as there are connections.
        public init(total: Int = 640, strangers: Int? = nil, perHost: Int = 128, perPrincipal: Int = 160) {
            self.total = total
            self.strangers = strangers ?? total
            self.perHost = perHost
            self.perPrincipal = perPrincipal
        }

        /// The number of connections from which a host that already has `count` must replace another's. A host with
        /// many leaves the last tenth to those with few.
        func room(forHostWith count: Int, ofTotal total: Int) -> Int {
            count >= max(1, total / 20) ? total - total / 10 : total
        }

        /// Descriptors that are reserved from clients: for cameras, files and the process itself.
        public static let reservedDescriptors = 384

        /// The most connections that a process has, however many descriptors there are.
        public static let most = 4_096

        /// The most connections that a process with this many descriptors can have besides its cameras. Only those that
        /// have signed in can be more than 640.
        public init(descriptors: Int) {
            let total = min(Self.most, max(32, descriptors - Self.reservedDescriptors))
            self.init(
                total: total, strangers: min(640, total), perHost: min(128, total / 2), perPrincipal: total / 4)
        }
    }

    /// The counts so far.
    public struct Counts: Sendable, Equatable {
        /// The present connections.
        public var connections = 0
        /// The present connections that are signed in.
        public var signedIn = 0
        /// Connections of strangers that were closed to make room.
        public var gaveWay: UInt64 = 0
        /// Connections that were refused because none gave way.
        public var refused: UInt64 = 0
        /// The host whose connection last gave way or was refused.
        public var lastHost: TransportAddress?

        /// All zero.
        public init() {}
    }

    private struct Entry {
        let host: TransportAddress
        let number: UInt64
        var principal: String?
        let close: @Sendable () -> Void
    }

    /// The connections of one host.
    private struct Host {
        var count = 0
        /// The connections without a sign-in, the oldest first.
        var strangers: [(number: UInt64, key: ObjectIdentifier)] = []
    }

    /// How often a host may still replace another's connection.
    private struct Allowance {
        var places: Double
        var at: Instant
    }

    private struct State {
        var allowances: [TransportAddress: Allowance] = [:]
        var entries: [ObjectIdentifier: Entry] = [:]
        var hosts: [TransportAddress: Host] = [:]
        var strangerCount = 0
        var principals: [String: Int] = [:]
        var nextNumber: UInt64 = 0
        var counts = Counts()
        /// The most connections for now, since the process has no descriptors for more.
        var ceiling: (total: Int, until: Instant)?

        mutating func total(_ limits: Limits, at now: Instant) -> Int {
            if let until = ceiling?.until, until <= now { ceiling = nil }
            return min(limits.total, ceiling?.total ?? limits.total)
        }
    }

    /// How long the lower limit lasts after the process ran out of descriptors.
    static let ceilingLifetime = Duration.seconds(10)
    /// The lowest such limit.
    private static let lowestCeiling = 16

    /// How many connections a host may replace in a burst, and per second. A host that opens connections without end
    /// would otherwise cause a constant closing of older ones.
    static let placesAtOnce = 64.0
    static let placesPerSecond = 10.0
    /// The most hosts whose allowances are recorded.
    private static let maximumHosts = 1024

    /// The limits in force.
    public let limits: Limits
    private let state = Locked(State())

    /// Starts without connections.
    public init(limits: Limits = Limits()) {
        self.limits = limits
    }

    /// The counts so far.
    public var counts: Counts {
        state.withLock { state in
            var counts = state.counts
            counts.connections = state.entries.count
            counts.signedIn = state.principals.values.reduce(0, +)
            return counts
        }
    }

    /// Whether another connection would be refused from any host.
    public var isFull: Bool {
        let limits = limits
        return state.withLock {
            $0.strangerCount == 0 && $0.entries.count >= $0.total(limits, at: MonotonicClock.now)
        }
    }

    /// Counts one more connection. Another one may have to be closed for it.
    ///
    /// - Parameters:
    ///   - connection: The object that represents it; ``leave(_:)`` must be called before it is freed.
    ///   - peer: Where it comes from.
    ///   - now: The time.
    ///   - close: Closes the connection. Called on any thread, at most once.
    /// - Returns: False when no room is left; the connection is not counted then.
    public func enter(
        _ connection: AnyObject, from peer: TransportAddress, at now: Instant = MonotonicClock.now,
        close: @escaping @Sendable () -> Void
    ) -> Bool {
        let key = ObjectIdentifier(connection)
        let host = Self.host(of: peer)
        let limits = limits
        let (isAdmitted, giveWay) = state.withLock { state -> (Bool, (@Sendable () -> Void)?) in
            var victim: ObjectIdentifier?
            let present = host.isLoopback ? 0 : state.hosts[host]?.strangers.count ?? 0
            if !host.isLoopback, present >= limits.perHost {
                victim = state.hosts[host]?.strangers.first?.key
            } else if state.strangerCount >= limits.room(forHostWith: present, ofTotal: limits.strangers)
                || state.entries.count >= limits.room(forHostWith: present, ofTotal: state.total(limits, at: now))
            {
                victim = Self.strangerOfTheLargestHost(state.hosts)
            } else {
                Self.add(Entry(host: host, number: state.nextNumber, close: close), key, to: &state)
                return (true, nil)
            }
            guard let victim, Self.mayTakePlace(host, at: now, &state), let entry = Self.remove(victim, from: &state)
            else {
                state.counts.refused += 1
                state.counts.lastHost = host
                return (false, nil)
            }
            state.counts.gaveWay += 1
            state.counts.lastHost = entry.host
            Self.add(Entry(host: host, number: state.nextNumber, close: close), key, to: &state)
            return (true, entry.close)
        }
        giveWay?()
        return isAdmitted
    }

    /// Records that a connection belongs to a principal who has signed in, unless that principal already has its share.
    /// - Returns: Whether the connection was a stranger's until now and no longer is.
    @discardableResult
    public func vouch(for connection: AnyObject, principal: String) -> Bool {
        let key = ObjectIdentifier(connection)
        let share = limits.perPrincipal
        return state.withLock { state in
            guard let entry = state.entries[key], entry.principal == nil else { return false }
            let count = state.principals[principal, default: 0]
            guard count < share else { return false }
            state.principals[principal] = count + 1
            state.entries[key]?.principal = principal
            Self.removeStranger(key, of: entry.host, from: &state)
            return true
        }
    }

    /// Records that a principal may do nothing any more. The connections of its clients are strangers' until somebody signs in
    /// over them: they may stay open, and must not keep others out.
    public func disown(_ principal: String) {
        state.withLock { state in
            guard state.principals.removeValue(forKey: principal) != nil else { return }
            for (key, entry) in state.entries where entry.principal == principal {
                state.entries[key]?.principal = nil
                state.strangerCount += 1
                let strangers = state.hosts[entry.host]?.strangers ?? []
                let place = strangers.firstIndex { $0.number > entry.number } ?? strangers.endIndex
                state.hosts[entry.host]?.strangers.insert((entry.number, key), at: place)
            }
        }
    }

    /// Whether a connection is counted: it has neither left nor given way.
    public func contains(_ connection: AnyObject) -> Bool {
        let key = ObjectIdentifier(connection)
        return state.withLock { $0.entries[key] != nil }
    }

    /// Stops counting a connection. Does nothing for one that gave way.
    public func leave(_ connection: AnyObject) {
        let key = ObjectIdentifier(connection)
        state.withLock { state in _ = Self.remove(key, from: &state) }
    }

    /// Closes strangers' connections because the process has run out of descriptors. For some seconds the limit is the
    /// number that is left. So new connections must replace others instead of using the last descriptor.
    /// - Returns: How many were closed.
    @discardableResult
    public func shed(_ count: Int, at now: Instant = MonotonicClock.now) -> Int {
        let closing = state.withLock { state -> [@Sendable () -> Void] in
            var closing: [@Sendable () -> Void] = []
            while closing.count < count, let victim = Self.strangerOfTheLargestHost(state.hosts),
                let entry = Self.remove(victim, from: &state)
            {
                state.counts.gaveWay += 1
                state.counts.lastHost = entry.host
                closing.append(entry.close)
            }
            // This leaves some descriptors free: a camera may need one.
            state.ceiling = (max(Self.lowestCeiling, state.entries.count), now + Self.ceilingLifetime)
            return closing
        }
        for close in closing { close() }
        return closing.count
    }

    /// The host that a connection counts for. For IPv6 it is the upper half of the address, since its owner has the
    /// whole lower half (RFC 6177).
    public static func host(of peer: TransportAddress) -> TransportAddress {
        if peer.family == .ipv4 || peer.isLoopback { return peer.withPort(0) }
        return TransportAddress(ipv6High: peer.high, low: 0, port: 0)
    }

    private static func mayTakePlace(_ host: TransportAddress, at now: Instant, _ state: inout State) -> Bool {
        if host.isLoopback { return true }
        if state.allowances.count >= Self.maximumHosts, state.allowances[host] == nil {
            // A host that has not replaced a connection for this long has its full allowance again.
            let full = Self.placesAtOnce / Self.placesPerSecond
            state.allowances = state.allowances.filter { (now - $0.value.at).inSeconds < full }
            guard state.allowances.count < Self.maximumHosts else { return false }
        }
        var allowance = state.allowances[host] ?? Allowance(places: Self.placesAtOnce, at: now)
        allowance.places = min(
            Self.placesAtOnce, allowance.places + max(0, (now - allowance.at).inSeconds) * Self.placesPerSecond)
        allowance.at = now
        let isAllowed = allowance.places >= 1
        if isAllowed { allowance.places -= 1 }
        state.allowances[host] = allowance
        return isAllowed
    }

    private static func add(_ entry: Entry, _ key: ObjectIdentifier, to state: inout State) {
        state.nextNumber += 1
        state.strangerCount += 1
        state.hosts[entry.host, default: Host()].count += 1
        state.hosts[entry.host]?.strangers.append((entry.number, key))
        state.entries[key] = entry
    }

    private static func removeStranger(_ key: ObjectIdentifier, of host: TransportAddress, from state: inout State) {
        guard let index = state.hosts[host]?.strangers.firstIndex(where: { $0.key == key }) else { return }
        state.hosts[host]?.strangers.remove(at: index)
        state.strangerCount -= 1
    }

    private static func remove(_ key: ObjectIdentifier, from state: inout State) -> Entry? {
        guard let entry = state.entries.removeValue(forKey: key) else { return nil }
        removeStranger(key, of: entry.host, from: &state)
        state.hosts[entry.host]?.count -= 1
        if state.hosts[entry.host]?.count == 0 { state.hosts[entry.host] = nil }
        if let principal = entry.principal {
            let count = state.principals[principal, default: 1]
            state.principals[principal] = count > 1 ? count - 1 : nil
        }
        return entry
    }

    private static func strangerOfTheLargestHost(_ hosts: [TransportAddress: Host]) -> ObjectIdentifier? {
        var largest: (count: Int, oldest: (number: UInt64, key: ObjectIdentifier))?
        for host in hosts.values {
            guard let oldest = host.strangers.first else { continue }
            // Among hosts with equally many strangers the oldest connection decides, so the dictionary's order does
            // not.
            if let largest,
                (host.strangers.count, largest.oldest.number) <= (largest.count, oldest.number)
            {
                continue
            }
            largest = (host.strangers.count, oldest)
        }
        return largest?.oldest.key
    }
}
