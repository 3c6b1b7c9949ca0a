import Transport

/// Asks STUN servers at which address they see a socket, again and again (RFC 8489, section 6.2; RFC 8445, section
/// 5.1.1.2). The requests also keep the address at the NAT alive (RFC 8445, section 11).
///
/// It does no I/O. The caller sends what ``pollTransmit(into:at:)`` writes from the socket in question, takes what
/// ``pollEvent()`` says, hands in what comes back, and calls ``pollTransmit(into:at:)`` again when ``nextDeadline`` has come.
///
/// A server is not trusted: it can claim any address, so an address that nobody can be reached at is refused. An answer
/// counts only if it comes from the server and has the 88 random bits of the newest request. A server that redirects
/// (RFC 8489, section 10) has refused: the configuration names the servers, nobody else.
public struct ReflexiveAddressFinder: Sendable {
    /// The intervals of the requests.
    public struct Timing: Sendable, BitwiseCopyable {
        /// How long after an answer the server is asked again (RFC 8445, section 14.3: 15 s at least).
        public var refresh: Duration = .seconds(15)
        /// How long a request waits for its answer before it is sent again; each further wait is twice as long
        /// (RFC 8489, section 6.2.1).
        public var initialRetransmission: Duration = .milliseconds(500)
        /// How often a request is sent.
        public var maximumTransmissions = 6
        /// How long a server that did not answer, or refused, is left alone; each further pause is twice as long. Setting the
        /// servers again ends the pause.
        public var shortestPause: Duration = .seconds(15)
        /// The longest of these pauses.
        public var longestPause: Duration = .seconds(240)

        /// The intervals for ordinary use.
        public init() {}

        /// How long a server has been silent when it counts as one that does not answer.
        var patience: Duration { initialRetransmission * ((1 << min(maximumTransmissions, 16)) - 1) }
    }

    /// Why a server has named no address.
    public enum Failure: Hashable, Sendable {
        /// It does not answer.
        case noAnswer
        /// It refused with this error code; nil for an error without one.
        case refused(code: UInt16?)
        /// It named no address, or one at which nobody can be reached.
        case unusableAddress
    }

    /// What is known from one server.
    public struct Observation: Hashable, Sendable {
        /// The server's address.
        public var server: TransportAddress
        /// Where it sees the socket; nil before its first answer and after it has fallen silent.
        public var address: TransportAddress?
        /// How long the newest answer took; nil before the first, and where several requests may have caused it.
        public var roundTripTime: Duration?
        /// Why there is no address; nil before the first request has an outcome.
        public var failure: Failure?

        /// Describes what is known from a server.
        public init(
            server: TransportAddress, address: TransportAddress? = nil, roundTripTime: Duration? = nil,
            failure: Failure? = nil
        ) {
            self.server = server
            self.address = address
            self.roundTripTime = roundTripTime
            self.failure = failure
        }
    }

    private struct Server {
        var observation: Observation
        /// The newest request; nil between two requests.
        var transactionID: STUNTransactionID?
        var transmissions = 0
        var firstSent = Instant.zero
        /// When the first request was sent that no answer has followed; nil between two requests.
        var unansweredSince: Instant?
        /// When the next request, or the next transmission of this one, is due.
        var due: Instant
        /// How many requests in a row have failed.
        var failures = 0

        /// The server, which is asked now if it has not answered the last time or the first time. Since when it is silent
        /// stays known: a network that changes all the time must not hide that.
        func resumed(at now: Instant) -> Server {
            guard failures > 0 || transactionID != nil && transmissions > 1 else { return self }
            var server = self
            server.transactionID = nil
            server.failures = 0
            server.due = now
            return server
        }
    }

    /// The most servers; more are ignored.
    public static let maximumServers = 8

    private var servers: [Server] = []
    private let timing: Timing
    private let mark: UInt8?
    private var random: RandomSource
    private var changes = 0
    private var reportedChanges = 0

    /// Makes a finder that knows no server yet.
    /// - Parameters:
    ///   - mark: the first byte of the transaction identifiers; nil for a random one.
    ///   - timing: the intervals.
    ///   - random: where transaction identifiers come from.
    public init(mark: UInt8? = nil, timing: Timing = Timing(), random: RandomSource) {
        self.mark = mark
        self.timing = timing
        self.random = random
    }

    /// What is known from each server, in the order of the servers.
    public var observations: [Observation] { servers.map(\.observation) }

    /// The ``observations``, if they have changed since the last call; otherwise nil.
    public mutating func pollEvent() -> [Observation]? {
        guard !isDrained else { return nil }
        reportedChanges = changes
        return observations
    }

    /// Whether the driver has learned of the last change. In a debug build, the next datagram is a mistake before it has.
    public var isDrained: Bool { changes == reportedChanges }

    /// Exchanges the servers. What is known from those that stay is kept. One of them that does not answer is asked at once:
    /// the caller sets the servers again when the network has changed.
    public mutating func setServers(_ addresses: [TransportAddress], at now: Instant) {
        var seen = Set<TransportAddress>()
        let wanted = addresses.filter { $0.isUsableDestination && seen.insert($0).inserted }
        let known = Dictionary(servers.map { ($0.observation.server, $0) }, uniquingKeysWith: { first, _ in first })
        servers = wanted.prefix(Self.maximumServers).map { address in
            known[address]?.resumed(at: now) ?? Server(observation: Observation(server: address), due: now)
        }
        changes += 1
    }

    /// When ``pollTransmit(into:at:)`` wants to be called; nil without a server.
    public var nextDeadline: Instant? { servers.lazy.map(\.due).min() }

    /// Writes the next request that is due into `buffer` (at least ``STUN/sufficientBufferSize`` bytes); nil when none
    /// is due.
    public mutating func pollTransmit(into buffer: UnsafeMutableRawBufferPointer, at now: Instant) -> Transmit? {
        for index in servers.indices where servers[index].due <= now {
            if servers[index].transactionID != nil, servers[index].transmissions >= timing.maximumTransmissions {
                fail(index, .noAnswer, at: now)
                continue
            }
            recordSilence(index, at: now)
            let id = servers[index].transactionID ?? STUNTransactionID(using: &random, mark: mark)
            if servers[index].transactionID == nil {
                servers[index].transactionID = id
                servers[index].transmissions = 0
                servers[index].firstSent = now
                servers[index].unansweredSince = servers[index].unansweredSince ?? now
            }
            let wait = timing.initialRetransmission * (1 << min(servers[index].transmissions, 16))
            servers[index].transmissions += 1
            servers[index].due = now + wait
            var builder = STUNMessageBuilder(into: buffer, messageClass: .request, transactionID: id)
            builder.addFingerprint()
            guard let count = builder.finish() else { continue }
            return Transmit(destination: servers[index].observation.server, byteCount: count)
        }
        return nil
    }

    /// Takes a datagram if it is the answer of a server to the newest request; false for any other.
    public mutating func handle(
        _ datagram: UnsafeRawBufferPointer, from source: TransportAddress, at now: Instant
    ) -> Bool {
        guard !servers.isEmpty, let id = STUNTransactionID(ofBindingResponse: datagram),
            let index = servers.firstIndex(where: { $0.transactionID == id && $0.observation.server == source }),
            // The right answer may still come.
            let message = try? STUNMessage(parsing: datagram)
        else { return false }
        expectDrained(isDrained)
        guard message.messageClass == .successResponse else {
            fail(index, .refused(code: message.errorCode), at: now)
            return true
        }
        guard let address = message.mappedAddress, isPlausible(address, from: source) else {
            fail(index, .unusableAddress, at: now)
            return true
        }
        var observation = Observation(server: source, address: address)
        observation.roundTripTime =
            servers[index].transmissions == 1
            ? now - servers[index].firstSent : servers[index].observation.roundTripTime
        if observation.address != servers[index].observation.address || servers[index].observation.failure != nil {
            changes += 1
        }
        servers[index].observation = observation
        servers[index].transactionID = nil
        servers[index].unansweredSince = nil
        servers[index].failures = 0
        servers[index].due = now + timing.refresh
        return true
    }

    /// A server on this host sees loopback addresses; no other server can.
    private func isPlausible(_ address: TransportAddress, from server: TransportAddress) -> Bool {
        address.isUsableDestination && !address.isLinkLocal && address.family == server.family
            && (!address.isLoopback || server.isLoopback)
    }

    /// Reports a server that is silent although the network has changed in between. The request goes on: in the new
    /// network the server may answer it.
    private mutating func recordSilence(_ index: Int, at now: Instant) {
        guard let since = servers[index].unansweredSince, now - since >= timing.patience else { return }
        report(index, .noAnswer)
    }

    private mutating func report(_ index: Int, _ failure: Failure) {
        let before = servers[index].observation
        servers[index].observation = Observation(server: before.server, failure: failure)
        if servers[index].observation != before { changes += 1 }
    }

    private mutating func fail(_ index: Int, _ failure: Failure, at now: Instant) {
        report(index, failure)
        servers[index].transactionID = nil
        servers[index].unansweredSince = nil
        let pause = timing.shortestPause * (1 << min(servers[index].failures, 16))
        servers[index].failures += 1
        servers[index].due = now + min(pause, timing.longestPause)
    }
}

extension ReflexiveAddressFinder.Failure: CustomStringConvertible {
    /// The failure in words.
    public var description: String {
        switch self {
        case .noAnswer: "does not answer"
        case .refused(let code?): "refuses with error \(code)"
        case .refused(nil): "refuses"
        case .unusableAddress: "answers with an address that cannot be used"
        }
    }
}
