import DTLS
import ICE
import SRTP
import Transport

/// One connection to one peer, without I/O: ICE finds the path, DTLS agrees on keys, SRTP protects the media.
///
///     datagram ─▶ handle ─▶ STUN ▶ ICE agent ──▶ path
///                        ├▶ DTLS ▶ handshake ──▶ keys
///                        │   └─▶ plain data: SCTP of data channels, in the caller's memory
///                        └▶ SRTP ▶ plain RTP or RTCP, in the caller's memory
///
/// The driver's contract: after each `handle…` call, drain ``pollTransmit(into:at:)`` and ``pollEvent()``, then wait
/// for the next datagram or ``nextDeadline``, whichever comes first.
public struct PeerConnection: ~Copyable {
    /// What a datagram turned out to be.
    public enum Received: Equatable, Sendable {
        /// It was for the connection itself, or was not acceptable.
        case nothing
        /// The first `byteCount` bytes of the datagram now hold a plain RTP packet.
        case rtp(byteCount: Int)
        /// The first `byteCount` bytes of the datagram now hold plain RTCP packets.
        case rtcp(byteCount: Int)
        /// This part of the datagram now holds plain data: one SCTP packet of the peer's data channels.
        case data(Range<Int>)
    }

    /// What happened to the connection.
    public enum Event: Equatable, Sendable {
        /// The peer's first connectivity check arrived, or the first of ours was answered.
        case firstCheck
        /// ICE has a path.
        case pathFound
        /// The path changed to another address of the peer.
        case pathChanged
        /// DTLS is done and the fingerprint is right: media may flow.
        case connected
        /// The connection is over. This is final.
        case failed(PeerConnectionFailure)
    }

    /// How far the connection has come.
    ///
    /// What belongs to a stage is a field beside it, not a payload. ``media`` changes with every packet, and Swift 6.3 cannot
    /// change the payload of an enum that cannot be copied in place: it would be moved out and back. With 272 bytes that took
    /// 240 ns for a packet instead of 20 ns.
    enum Stage {
        /// No address of the peer has been proved.
        case findingPath
        /// DTLS has begun.
        case handshaking
        /// There are keys: media may flow.
        case connected
        /// Failed or closed. No more input is accepted, and nothing but an alert is sent.
        case over
    }

    /// What protects media: it exists once the handshake is done, and stays when the connection is over.
    struct Media: ~Copyable {
        var sender: SRTPSender
        var receiver: SRTPReceiver
    }

    /// Counts of datagrams that were not taken.
    public struct Refusals: Equatable, Sendable {
        /// STUN messages that failed a check.
        public var stun: UInt64 = 0
        /// DTLS datagrams from an address that no STUN check has proved, or that made no sense.
        public var dtls: UInt64 = 0
        /// SRTP and SRTCP packets that failed authentication or came too early or twice.
        public var srtp: UInt64 = 0
        /// Records of data that failed authentication, came too early or twice, or were not agreed on.
        public var data: UInt64 = 0
        /// Anything else.
        public var unknown: UInt64 = 0
    }

    // These come first, because every packet needs them and little else.
    /// The bytes that SRTP adds to each RTP packet; 0 before the handshake is done.
    ///
    /// It is not a part of `media`: Swift 6.3 reads a member of an optional that cannot be copied by moving the whole, which
    /// costs the relay 30 ns a packet.
    public internal(set) var overhead = 0
    var media: Media?
    var ice: ICEAgent
    var dtls: DTLSEndpoint
    var stage = Stage.findingPath
    /// Whether data channels were agreed on.
    let carriesData: Bool
    /// Whether media was agreed on.
    let carriesMedia: Bool
    var events: [Event] = []
    /// The addresses that authenticated checks or answers came from, the newest last.
    var knownAddresses: [TransportAddress] = []
    /// How many authenticated checks and answers have come.
    public internal(set) var authenticatedChecks: UInt64 = 0
    /// Counts of datagrams that were not taken.
    public internal(set) var refusals = Refusals()

    /// Prepares a connection; nothing is sent before the first ``pollTransmit(into:at:)``.
    public init(
        configuration: PeerConnectionConfiguration, random: RandomSource, now: Instant
    ) throws(PeerConnectionError) {
        let dtls = try Self.makeEndpoint(configuration, now: now)
        self.init(configuration: configuration, dtls: dtls, random: random, now: now)
        for candidate in configuration.remoteCandidates { ice.addRemoteCandidate(candidate) }
        if configuration.remoteCandidatesAreComplete { endOfRemoteCandidates(at: now) }
    }

    private static func makeEndpoint(
        _ configuration: PeerConnectionConfiguration, now: Instant
    ) throws(PeerConnectionError) -> DTLSEndpoint {
        do {
            return try DTLSEndpoint(
                identity: configuration.identity, role: configuration.dtlsRole,
                remoteFingerprints: configuration.remoteFingerprints, now: now, profiles: configuration.profiles,
                needsProfile: configuration.carriesMedia)
        } catch {
            throw .handshake(error)
        }
    }

    // Swift 6.2 permits no mutating call in an init that gives constants their values.
    // What can fail comes before the fields have values: Swift 6.2 destroys them twice if an init fails after that.
    private init(
        configuration: PeerConnectionConfiguration, dtls: consuming DTLSEndpoint, random: RandomSource, now: Instant
    ) {
        var connectivity = ICEConfiguration(
            role: configuration.iceRole, localCredentials: configuration.localCredentials,
            remoteCredentials: configuration.remoteCredentials, addresses: configuration.addresses,
            remoteIsLite: configuration.remoteIsLite, nomination: configuration.nomination)
        connectivity.timing = configuration.timing
        connectivity.reach = configuration.reach
        connectivity.transactionMark = configuration.transactionMark
        ice = ICEAgent(configuration: connectivity, random: random, now: now)
        carriesData = configuration.carriesData
        carriesMedia = configuration.carriesMedia
        self.dtls = dtls
    }

    /// Whether media may flow.
    public var isConnected: Bool { stage == .connected }

    /// Where media goes: the selected pair, or the best pair that has been proved so far.
    public var remoteAddress: TransportAddress? {
        ice.selectedRemoteAddress ?? ice.validRemoteAddress
    }

    /// How the two ends reach each other; nil while no pair is selected.
    public var pathKind: ICEPathKind? { ice.selectedPathKind }

    /// Our address from which datagrams to ``remoteAddress`` should leave; nil leaves the choice to the kernel.
    public var localAddress: TransportAddress? { ice.validPath?.local }

    /// The address that the datagram of the last ``pollTransmit(into:at:)`` must leave from; nil leaves the choice to
    /// the kernel.
    public internal(set) var transmitSource: TransportAddress?

    /// The negotiated SRTP profile; nil before the handshake is done.
    public var profile: SRTPProfile? {
        // `media?.sender` would consume what cannot be copied.
        switch media {
        case let media?: media.sender.profile
        case nil: nil
        }
    }

    /// When ``handleDeadline(at:)`` wants to be called next.
    public var nextDeadline: Instant? {
        if stage == .over { return nil }
        switch (ice.nextDeadline, dtls.nextDeadline) {
        case (let first?, let second?): return min(first, second)
        case (let first, let second): return first ?? second
        }
    }

    /// Takes the next event, oldest first.
    public mutating func pollEvent() -> Event? {
        events.isEmpty ? nil : events.removeFirst()
    }

    /// Whether the driver has taken all events, and all datagrams that may be sent already. In a debug build, the next
    /// input is a mistake before it has.
    public var isDrained: Bool {
        events.isEmpty && (stage == .over || ice.isDrained) && (remoteAddress == nil || dtls.isDrained)
    }

    /// Writes the next STUN or DTLS datagram into `buffer` (at least 1,500 bytes).
    public mutating func pollTransmit(into buffer: UnsafeMutableRawBufferPointer, at now: Instant) -> Transmit? {
        var budget = CheckBudget.unlimited
        return pollTransmit(into: buffer, at: now, budget: &budget)
    }

    /// Writes the next STUN or DTLS datagram into `buffer` (at least 1,500 bytes); checks to addresses that have never
    /// answered come out of `budget`.
    public mutating func pollTransmit(
        into buffer: UnsafeMutableRawBufferPointer, at now: Instant, budget: inout CheckBudget
    ) -> Transmit? {
        // A connection that is over sends only the reason: the alert that DTLS may have written.
        if stage != .over, let transmit = ice.pollTransmit(into: buffer, at: now, budget: &budget) {
            transmitSource = ice.transmitSource
            return transmit
        }
        // A flight waits until ICE has proved an address. Sent earlier, it would be dropped, and its retransmission
        // would cost a second.
        guard let destination = remoteAddress, let count = dtls.pollTransmit(into: buffer) else { return nil }
        transmitSource = localAddress
        return Transmit(destination: destination, byteCount: count)
    }

    /// Ends the connection and, if it was connected, notifies the peer by `close_notify`: drain
    /// ``pollTransmit(into:at:)`` once more to send it. It causes no event.
    public mutating func close() {
        guard stage != .over else { return }
        stage = .over
        dtls.close()
    }

    /// Handles the timers that are due.
    public mutating func handleDeadline(at now: Instant) {
        guard stage != .over else { return }
        expectDrained(isDrained)
        if let deadline = ice.nextDeadline, deadline <= now { ice.handleDeadline(at: now) }
        if let deadline = dtls.nextDeadline, deadline <= now {
            do {
                try dtls.handleDeadline(at: now)
            } catch {
                fail(.handshake(error))
            }
        }
        advance(at: now)
    }
}
