import STUN
import Transport

/// A full ICE agent (RFC 8445) for one component, without I/O. Its input is datagrams, candidates and the time. Its
/// output is datagrams to send, events, and the time of its next call.
///
/// ```
///                 a pair is nominated                consent expires
///   ┌──────────┐  and answered         ┌───────────┐ (30 s)            ┌──────────────┐
///   │ checking │ ────────────────────▶ │ connected │ ────────────────▶ │ disconnected │
///   └──────────┘                       └───────────┘                   └──────────────┘
///    ▲  │ no pair in time               │ restart: the old pair stays      │
///    │  ▼ (39.5 s)                      │ in use until a new one is found  │
///    │ ┌────────┐                       ▼                                  │
///    └─│ failed │◀───────────── restart from any state ────────────────────┘
///      └────────┘
/// ```
///
/// After each call of a mutating method the driver drains ``pollTransmit(into:at:)`` and ``pollEvent()``, sends the
/// datagrams, and calls ``handleDeadline(at:)`` when ``nextDeadline`` has come. A connected agent has one deadline,
/// the next consent check, and allocates nothing.
///
/// Assumptions and deliberate deviations:
/// - All local candidates share one socket per address family, so a pair is made for each remote candidate and not for
///   each combination (RFC 8445, section 6.1.2.2). The local address is learnt from datagrams that arrive. If a TURN
///   server relays for the agent, a remote candidate with a global address gets a second pair, by that route.
/// - A TCP connection is a path that the peer opens (RFC 6544): the agent has passive candidates only, so a pair over TCP is
///   made by the peer's first check. The agent never waits for a connection. Its checks over TCP are sent again as those
///   over UDP (section 7.1), because they may find no room in a connection's queue.
/// - No Frozen pairs (section 6.1.2.6), since only one stream with one component exists.
/// - A triggered check is sent at once and not paced (section 6.1.4.1): an authenticated request paid for it.
/// - A request that does not authenticate is dropped without an error response (section 7.3; RFC 8489, section 9.1.3):
///   the port is public, and answering forged sources would reflect them.
/// - A nomination by a controlling peer within two seconds of the last one wins only with a higher priority, as RFC
///   5245, section 8.1.1.2, specifies for aggressive nomination. Later the newest nomination wins, since a peer that
///   moved to another network nominates a pair of lower priority.
/// - Addresses outside of ``ICEReach`` are neither checked nor answered, and checks to addresses that have never
///   answered come out of a ``CheckBudget``.
/// - When the selected pair does not answer its consent check for a second, the agent follows a check by the peer to
///   another pair, without waiting for consent to expire. When it has been silent for longer (``ICETiming/consentFreshness``),
///   the agent checks the peer's candidates through the TURN server again, if there is one.
/// - The relayed candidate may change, or be unusable for a while, while a pair is in use; see ``setRelayed(_:at:)``.
public struct ICEAgent: ~Copyable, Sendable {
    // The agent's identity.
    /// The current role; a conflict may change it.
    public internal(set) var role: ICERole
    /// The agent's own candidates, for its description.
    public internal(set) var localCandidates: [ICELocalCandidate]
    /// What ``localCandidates`` are made from.
    var addresses: ICEAddresses
    let remoteIsLite: Bool
    let nomination: ICENomination
    let timing: ICETiming
    let reach: ICEReach
    let transactionMark: UInt8?
    var random: RandomSource
    var tieBreaker: UInt64

    // The agent's knowledge.
    var generation: ICEGeneration
    /// The generation before the last restart. Until a pair of the new generation is selected, its requests are
    /// answered, and the pair that it selected stays in use.
    var previousGeneration = ICEGeneration()
    var pairs: [CandidatePair] = []
    var remoteCandidatesEnded = false
    /// The peer's candidates in this generation. Selecting a pair drops most others, and their candidates may be needed again:
    /// through a TURN server, or because the peer moves to one of them.
    var remoteCandidates: [RemoteCandidate] = []
    /// Whether no server relays at the addresses of ``addresses`` for now.
    var isServerAway = false
    /// The relayed addresses that the peer knows, from the agent's session description or from a check.
    var knownRelayed: [TransportAddress]
    /// Since when a server relays at an address that the peer does not know; nil if it knows all of them.
    var relayedUnknownSince: Instant?
    var selected: SelectedPair?
    var consent = Consent()
    var probes = PathProbes()

    // The agent's times.
    /// The latest time that it was given.
    var now: Instant
    var nextOrdinaryCheck: Instant
    var nominationDue: Instant?
    var patienceEnds: Instant?

    // The output for the driver.
    var responses: [PendingResponse] = []
    var events: [ICEEvent] = []
    /// The agent's state.
    public internal(set) var state = ICEState.checking
    /// How often events happened that a healthy session does not see.
    public internal(set) var counters = ICECounters()
    /// The own address that the datagram of the last ``pollTransmit(into:at:)`` must leave from; nil leaves the choice
    /// to the kernel. A response must come from the address that received the request.
    public internal(set) var transmitSource: TransportAddress?
    /// The round-trip time of the newest check that was answered.
    public internal(set) var roundTripTime: Duration?
    /// Whether an ICE restart by the peer would help: no path works, a TURN server relays at an address that the peer
    /// does not know, and the peer answers no check from there. Its router may let in only datagrams from addresses that
    /// the peer has sent to. A restart gives the peer the address.
    public internal(set) var wantsRestart = false

    /// Makes an agent that begins checking as soon as it knows the peer's credentials and a candidate or a check.
    ///
    /// - Parameters:
    ///   - configuration: who the agent is.
    ///   - random: where transaction identifiers and intervals come from.
    ///   - now: the time of the call.
    public init(configuration: ICEConfiguration, random: RandomSource, now: Instant) {
        role = configuration.remoteIsLite ? .controlling : configuration.role
        remoteIsLite = configuration.remoteIsLite
        nomination = configuration.nomination
        timing = configuration.timing
        reach = configuration.reach
        transactionMark = configuration.transactionMark
        self.random = random
        tieBreaker = self.random.next()
        generation = ICEGeneration(local: configuration.localCredentials, remote: configuration.remoteCredentials)
        self.now = now
        nextOrdinaryCheck = now
        addresses = configuration.addresses
        localCandidates = ICELocalCandidate.all(configuration.addresses)
        knownRelayed = configuration.addresses.relayed
    }

    /// Where media goes: the selected pair while it has consent.
    public var selectedPath: ICEPath? { selected?.path }

    /// How the two ends reach each other by the selected pair.
    public var selectedPathKind: ICEPathKind? { selected?.kind }

    /// The peer's address of the selected pair.
    public var selectedRemoteAddress: TransportAddress? { selected?.path.remote }

    /// Where data may go already: the selected pair, or before one is selected the best pair that was answered (RFC
    /// 8445, section 12.1).
    public var validPath: ICEPath? {
        selected?.path ?? bestPair(where: \.isValid).map { pairs[$0].path }
    }

    /// The peer's address of ``validPath``.
    public var validRemoteAddress: TransportAddress? { validPath?.remote }

    /// The next thing that happened, in order; nil when there is nothing more.
    public mutating func pollEvent() -> ICEEvent? {
        events.isEmpty ? nil : events.removeFirst()
    }

    /// Whether the driver has taken all events and answers. In a debug build, the next input is a mistake before it has.
    public var isDrained: Bool { events.isEmpty && responses.isEmpty }
}

/// The pair in use.
struct SelectedPair {
    var path: ICEPath
    var kind: ICEPathKind
    var since: Instant
    var priority: UInt64
    var remotePriority: UInt32
    /// Whether a restart came after it was selected.
    var isFromPreviousGeneration = false
}

/// A response that waits for the driver.
struct PendingResponse {
    var transactionID: STUNTransactionID
    var destination: TransportAddress
    var source: TransportAddress?
    /// Zero for success.
    var errorCode: UInt16
    var unknownAttribute: UInt16 = 0
    var isFromPreviousGeneration: Bool
}
