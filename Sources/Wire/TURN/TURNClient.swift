import STUN
import Transport

/// A client of one TURN server (RFC 8656): one allocation for UDP, through which any number of peers is reached. It asks for
/// an address of IPv4 and one of IPv6, and takes what the server has. It does no I/O.
///
/// ```
///   ┌────────────┐ allocated   ┌───────────┐
///   │ allocating │ ──────────▶ │ allocated │ a refresh is not answered: silent, until it is
///   └────────────┘             └───────────┘
///         │ refused, no answer       │ a refresh fails, closed
///         ▼                          ▼
///   ┌────────────────────────────────────┐
///   │ over                               │
///   └────────────────────────────────────┘
/// ```
///
/// It never tries again by itself: its owner decides when, and with which server.
///
/// After each call of a mutating method the driver drains ``pollTransmit(into:at:)`` and ``pollEvent()``, and calls
/// ``handleDeadline(at:)`` when ``nextDeadline`` has come.
///
/// The server is not trusted with more than the relaying: what it hands over passes for a datagram that anybody sent. Data
/// of peers that nothing was sent to is dropped. A server that redirects (RFC 8656, section 7.4) has refused: the
/// configuration names the server.
///
/// Deviation from RFC 8489, section 9.2.5: the password is always hashed with MD5, which each server accepts from a client
/// that does not name an algorithm.
public struct TURNClient: ~Copyable, Sendable {
    enum State {
        case allocating
        case allocated
        case over
    }

    let configuration: TURNConfiguration
    var random: RandomSource
    var state = State.allocating
    /// The addresses at which peers reach the client, at most one of each version of the Internet Protocol; empty without an
    /// allocation.
    public internal(set) var relayedAddresses: [TransportAddress] = []
    /// The address at which the server sees the client; nil without an allocation.
    public internal(set) var mappedAddress: TransportAddress?
    /// When the allocation is refreshed.
    var refreshDue = Instant.distantFuture

    /// Whether the server leaves a refresh unanswered. The allocation may still work, so the client goes on, but nobody should be
    /// offered its addresses. It changes with ``handleDeadline(at:)`` and ``handle(_:at:)``, without an event.
    public internal(set) var isSilent = false

    /// The addresses that peers may be offered: ``relayedAddresses`` while the server answers.
    public var offeredAddresses: [TransportAddress] { isSilent ? [] : relayedAddresses }

    /// Whether the server has said that it has no IPv4 addresses.
    var wantsOnlyIPv6 = false

    // The server's challenge (RFC 8489, section 9.2).
    var realm: [UInt8] = []
    var nonce: [UInt8] = []
    var key = MessageIntegrityKey()

    var requests: [TURNRequest] = []
    var peers = TURNPeers()
    /// Messages that are ready to be sent.
    var outbox: [[UInt8]] = []
    var events: [TURNEvent] = []
    /// Whether an allocation that the server still had for this socket has been given back.
    var hasReleasedEarlier = false
    /// Until when no channel is asked for, because the server has refused one.
    var channelsRefusedUntil = Instant(nanoseconds: 0)

    /// Makes a client that asks for an allocation at once.
    public init(configuration: TURNConfiguration, random: RandomSource, now: Instant) {
        self.init(configuration: configuration, random: random)
        request(.allocate, at: now)
    }

    // Swift 6.2 permits no mutating call in an init that gives constants their values.
    private init(configuration: TURNConfiguration, random: RandomSource) {
        self.configuration = configuration
        self.random = random
    }

    /// The next thing that happened, in order.
    public mutating func pollEvent() -> TURNEvent? { events.isEmpty ? nil : events.removeFirst() }

    /// Whether the driver has taken all events, and all messages that nothing delays. In a debug build, the next input is
    /// a mistake before it has.
    public var isDrained: Bool {
        events.isEmpty && outbox.isEmpty && !requests.contains { $0.transmissions == 0 }
    }

    /// Writes the next message for the server into `buffer` (at least 4,096 bytes) and returns its length; nil when
    /// nothing is due.
    public mutating func pollTransmit(into buffer: UnsafeMutableRawBufferPointer, at now: Instant) -> Int? {
        if !outbox.isEmpty {
            let message = outbox.removeFirst()
            guard message.count <= buffer.count else { return nil }
            buffer.copyBytes(from: message)
            return message.count
        }
        for index in requests.indices where requests[index].due <= now && requests[index].hasTransmissionsLeft {
            requests[index].recordTransmission(configuration, at: now)
            if let count = write(requests[index], into: buffer) { return count }
        }
        return nil
    }

    /// When ``handleDeadline(at:)``, or ``pollTransmit(into:at:)`` for a request that is sent again, wants to be called.
    public var nextDeadline: Instant? {
        switch state {
        case .over: return nil
        case .allocating, .allocated:
            let due = requests.lazy.map { min($0.due, $0.silentFrom) }.min() ?? .distantFuture
            // Renewals that find no room wait for an answer, or for the end of a request.
            return min(due, refreshDue, hasRoomForRenewal ? peers.nextRefresh : .distantFuture)
        }
    }

    private var hasRoomForRenewal: Bool { requests.count < TURNLimits.requestsWithRenewals }

    /// Handles what is due.
    public mutating func handleDeadline(at now: Instant) {
        expectDrained(isDrained)
        switch state {
        case .over: return
        case .allocating, .allocated:
            while let index = requests.firstIndex(where: { $0.due <= now && !$0.hasTransmissionsLeft }) {
                let lost = requests.remove(at: index)
                handle(failureOf: lost, .noAnswer, at: now)
            }
            guard case .allocated = state else { return }
            if refreshDue <= now {
                refreshDue = .distantFuture
                request(.refresh, at: now)
            }
            let timing = configuration.timing
            for index in requests.indices where requests[index].isUnanswered(by: timing, at: now) {
                isSilent = true
                // Over a stream that is said once: a deadline must not stay in the past.
                requests[index].silentFrom = .distantFuture
            }
            while hasRoomForRenewal, let renewal = peers.popRefresh(at: now) { add(renewal, at: now) }
        }
    }

    /// Gives the allocation back: drain ``pollTransmit(into:at:)`` once more. It causes no event.
    public mutating func close(at now: Instant) {
        if case .allocated = state {
            requests.removeAll()
            outbox.removeAll()
            request(.release, at: now)
        } else {
            requests.removeAll()
            outbox.removeAll()
        }
        forgetAllocation()
        state = .over
    }

    // MARK: - State

    mutating func fail(_ failure: TURNFailure) {
        if case .over = state { return }
        forgetAllocation()
        requests.removeAll()
        outbox.removeAll()
        state = .over
        events.append(.failed(failure))
    }

    private mutating func forgetAllocation() {
        relayedAddresses = []
        mappedAddress = nil
        refreshDue = .distantFuture
        isSilent = false
        peers.removeAll()
    }

    /// Begins a request, unless too many wait for their answers.
    @discardableResult
    mutating func request(_ kind: TURNRequest.Kind, at now: Instant) -> Bool {
        guard requests.count < TURNLimits.requests || kind.isEssential else { return false }
        add(kind, at: now)
        return true
    }

    private mutating func add(_ kind: TURNRequest.Kind, at now: Instant) {
        requests.append(TURNRequest(kind: kind, id: STUNTransactionID(using: &random), due: now))
    }
}

/// A request that waits for its answer.
struct TURNRequest {
    enum Kind: Hashable {
        case allocate
        case refresh
        /// A refresh that ends the allocation.
        case release
        /// For a host, whatever the port.
        case permission(TransportAddress)
        case channel(UInt16, TransportAddress)

        /// Whether the allocation depends on it.
        var isEssential: Bool {
            switch self {
            case .allocate, .refresh, .release: true
            case .permission, .channel: false
            }
        }
    }

    let kind: Kind
    var id: STUNTransactionID
    var due: Instant
    var transmissions = 0
    var hasTransmissionsLeft = true
    /// When a refresh over a stream, which is sent once, shows that the server is silent.
    var silentFrom = Instant.distantFuture
    /// How often it was repeated because of another nonce.
    var challenges = 0

    /// It is sent now.
    mutating func recordTransmission(_ configuration: TURNConfiguration, at now: Instant) {
        let timing = configuration.timing
        transmissions += 1
        guard configuration.isStream else {
            due = now + timing.initialRetransmission * (1 << min(transmissions - 1, 16))
            hasTransmissionsLeft = transmissions < timing.maximumTransmissions
            return
        }
        due = now + timing.streamPatience
        hasTransmissionsLeft = false
        if kind == .refresh { silentFrom = now + timing.streamSilence }
    }

    /// Whether it shows that the server is silent.
    func isUnanswered(by timing: TURNTiming, at now: Instant) -> Bool {
        guard kind == .refresh else { return false }
        if silentFrom <= now { return true }
        let spare = transmissions - timing.silentTransmissions
        return spare > 0 || spare == 0 && due <= now
    }
}
