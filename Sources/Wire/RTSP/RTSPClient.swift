import Transport

/// Pulls one presentation from an RTSP server over the connection that carries the requests (RFC 2326). It does no I/O
/// itself.
///
/// ```
///  start ─▶ OPTIONS ─▶ DESCRIBE ─▶ (.described) ─ setUp ─▶ SETUP × n ─▶ PLAY ─▶ (.playing) ⟲ keep-alive ─▶ TEARDOWN
/// ```
///
/// The driver reads into ``receive(_:)``, calls ``pollEvent(at:)`` until it returns nil, writes what ``write(_:)``
/// offers, and calls ``handleDeadline(at:)`` when ``nextDeadline`` has passed. An error ends the client: a new
/// connection needs a new one.
public struct RTSPClient: ~Copyable {
    /// What the client reports to the driver.
    public enum Event: Equatable, Sendable {
        /// The camera asked for credentials; the client is sending them.
        case authenticating
        /// The camera's description. Answer with ``RTSPClient/setUp(_:at:)``.
        case described(text: String, baseURI: String)
        /// A track's packets will come on these channels. `track` counts the URIs given to ``RTSPClient/setUp(_:at:)``.
        case trackSetUp(track: Int, rtpChannel: UInt8, rtcpChannel: UInt8, ssrc: UInt32?)
        /// A track's packets will come over UDP, to the port that was given for it. The camera's answer may leave its
        /// own ports out, or give wrong ones.
        case trackSetUpForDatagrams(track: Int, TransportHeader)
        /// The camera refused this track. The others continue.
        case trackRefused(track: Int, RTSPError)
        /// The camera refuses a description with the feature of ``Configuration/require``. The client asks again
        /// without it.
        case featureRefused(status: Int)
        /// The camera has begun to send.
        case playing(RTPInfoHeader?)
        /// A packet; its bytes are ``RTSPClient/bytes(in:)``.
        case interleaved(channel: UInt8, range: Range<Int>)
        /// The presentation is elsewhere: connect there with a new client.
        case redirected(RTSPURL)
        /// The camera, or ``RTSPClient/tearDown(at:)``, has ended the session.
        case tornDown
    }

    /// The settings that differ between uses.
    public struct Configuration: Sendable {
        /// The `User-Agent` of each request. Some cameras answer 401 to requests without one.
        public var userAgent = "Gatehouse"
        /// How long an answer may take.
        public var answerTimeout: Duration = .seconds(10)
        /// The keep-alive to begin with; nil chooses from what the camera says it supports.
        public var keepAlive: RTSPKeepAlive?
        /// Whether ``keepAlive`` stays in use whatever the camera answers.
        public var isKeepAlivePinned = false
        /// Kinds of keep-alive with which the camera is known to end its sessions, because of them or in spite of them.
        public var avoidedKeepAlives: Set<RTSPKeepAlive> = []
        /// Authentication schemes that were refused in earlier sessions. They are used only where nothing else is
        /// offered.
        public var avoidedSchemes: [Challenge.Scheme] = []
        /// Whether the password itself is never sent (Basic), because the camera is known to accept Digest.
        public var refusesBasic = false
        /// Whether the camera is known to refuse the Digest that it offers, and to accept Basic.
        public var prefersBasic = false
        /// The hashes with which Digest can be answered.
        var hashes = DigestAlgorithm.available
        /// The feature that the camera must offer (RFC 2326, section 12.32), such as ``RTSPFeature/backChannel``: the
        /// `Require` of DESCRIBE, SETUP and PLAY. A camera without it answers 551.
        public var require: String?
        /// Whether only DESCRIBE carries ``require``: to learn what the camera has without using it. A camera that
        /// refuses is asked again without it (``RTSPClient/Event/featureRefused(status:)``).
        public var requiresOnlyDescription = false
        /// How long the answer to a DESCRIBE that only looks for the feature may take.
        public var featureTimeout: Duration = .seconds(10)

        /// The usual configuration.
        public init() {}
    }

    enum Phase: Equatable {
        case idle, options, describe, described, setUp(Int), play, playing, tearingDown, ended
    }

    /// Credentials that the camera did not accept.
    public struct RefusedLogin: Equatable, Sendable {
        /// The authentication scheme that was used.
        public var scheme: Challenge.Scheme
        /// Whether the camera offers another scheme that was not refused before.
        public var offersOther: Bool

        /// Names a refusal.
        public init(scheme: Challenge.Scheme, offersOther: Bool) {
            self.scheme = scheme
            self.offersOther = offersOther
        }
    }

    /// A request that waits for its answer.
    struct PendingRequest {
        var request: RTSPRequest
        var method: RTSPMethod
        var sequenceNumber: Int
        var deadline: Instant
        var isKeepAlive: Bool
        var renewals = 0
        var wasAuthorized = false
    }

    let configuration: Configuration
    let url: RTSPURL
    var random: RandomSource
    var stream = RTSPStream()
    var phase = Phase.idle
    var pending: PendingRequest?
    var nextSequenceNumber = 1
    var output: [UInt8] = []
    var outputOffset = 0
    var events: [Event] = []
    var authorization: Authorization?
    var hasAuthenticated = false
    /// Whether the camera has granted a request that used Digest.
    var hasTakenDigest = false
    /// The login that ended the client; nil where no login was refused.
    public internal(set) var refusedLogin: RefusedLogin?
    var supportedMethods: Set<RTSPMethod> = []
    var baseURI: String
    var playURI: String
    /// A camera whose description says `now` may read a range from 0 as a seek, and refuse it.
    var playRange = "npt=0.000-"
    var tracks: [String] = []
    var clientPorts: [UInt16] = []
    var channels: [UInt8] = []
    var acceptedTracks = 0
    var lastRefusal: RTSPError?
    var session: SessionHeader?
    var keepAlive: RTSPKeepAlive?
    var refusedKeepAlives: Set<RTSPKeepAlive> = []
    var nextKeepAlive: Instant?
    var lastKeepAlive: Instant?
    var acceptedKeepAlive: RTSPKeepAlive?

    /// The most bytes of output that wait for a slow connection. Beyond that, interleaved packets are dropped.
    static let maximumPendingOutput = 256 * 1024

    /// A client for `url`, whose credentials answer challenges.
    public init(url: RTSPURL, configuration: Configuration = Configuration(), random: RandomSource) {
        self.url = url
        self.configuration = configuration
        self.random = random
        baseURI = url.requestURI
        playURI = url.requestURI
    }

    /// Starts the client once the connection is open.
    public mutating func start(at now: Instant) {
        guard phase == .idle else { return }
        phase = .options
        send(.options, uri: url.requestURI, at: now)
    }

    /// Agrees on tracks, then plays. `controlURIs` are absolute; `presentationURI` names the whole presentation. Call
    /// it once, after ``Event/described(text:baseURI:)``.
    ///
    /// With `clientPorts`, one even port for each track, the packets come over UDP: RTP to that port and RTCP to the
    /// one after it. Without them the packets come over this connection, on `channels`, one for each track, where they
    /// are given.
    public mutating func setUp(
        _ controlURIs: [String], presentationURI: String? = nil, clientPorts: [UInt16] = [], channels: [UInt8] = [],
        at now: Instant
    ) {
        guard phase == .described, let first = controlURIs.first else { return }
        tracks = Array(controlURIs.prefix(16))
        self.clientPorts = clientPorts
        self.channels = channels
        playURI = presentationURI ?? baseURI
        phase = .setUp(0)
        sendSetUp(0, uri: first, at: now)
    }

    /// The channel that is requested for a track's packets. The one after it is for RTCP.
    func channel(of track: Int) -> UInt8 { channels.indices.contains(track) ? channels[track] : UInt8(track * 2) }

    /// Ends the session politely; ``Event/tornDown`` follows, or the deadline passes.
    public mutating func tearDown(at now: Instant) {
        guard phase != .ended, phase != .tearingDown else { return }
        guard session != nil else {
            phase = .ended
            events.append(.tornDown)
            return
        }
        phase = .tearingDown
        send(.teardown, uri: playURI, at: now)
        // The last request is not worth a long wait.
        pending?.deadline = now + min(configuration.answerTimeout, .seconds(1))
    }

    /// The session's timeout in seconds as the camera gave it, once there is a session.
    public var sessionTimeout: Int? { session?.timeout }

    /// The keep-alive in use, once the camera plays.
    public var keepAliveInUse: RTSPKeepAlive? { keepAlive }

    /// The keep-alive that the camera has accepted.
    public var keepAliveAccepted: RTSPKeepAlive? { acceptedKeepAlive }

    /// When the last keep-alive request went out.
    public var lastKeepAliveSent: Instant? { lastKeepAlive }

    /// The authentication in use, in words; nil where the camera did not ask for any.
    public var authenticationInUse: String? { hasAuthenticated ? authorization?.challenge.name : nil }

    /// Whether the client avoids a Digest that the camera offers or has offered.
    public var avoidsDigest: Bool {
        configuration.prefersBasic || configuration.avoidedSchemes.contains { $0 != .basic }
    }

    /// Whether the client waits for the answer to DESCRIBE.
    public var isAwaitingDescription: Bool { phase == .describe }

    /// How many received bytes belonged to neither a packet nor a message.
    public var discardedBytes: Int { stream.discardedBytes }

    // MARK: Bytes

    /// Whether ``write(_:)`` has something to offer.
    public var hasOutput: Bool { outputOffset < output.count }

    /// Bytes that wait to be written. When a connection accepts less than it is given, its packets become late.
    public var waitingOutput: Int { output.count - outputOffset }

    /// Offers the waiting output to `send`, which returns how many bytes the connection accepted.
    public mutating func write(_ send: (UnsafeRawBufferPointer) -> Int) {
        guard hasOutput else { return }
        let offset = outputOffset
        let count = output.withUnsafeBytes { send(UnsafeRawBufferPointer(rebasing: $0[offset...])) }
        outputOffset += max(0, min(count, output.count - offset))
        if outputOffset == output.count {
            output.removeAll(keepingCapacity: true)
            outputOffset = 0
        }
    }

    /// Sends a packet on an interleaved channel. Returns false, and sends nothing, when the packet is too long or too
    /// much output waits already.
    /// - Parameters:
    ///   - header: the beginning of the packet, if it is in different memory from the rest: the two need not be joined.
    ///   - packet: the rest of the packet.
    @discardableResult
    public mutating func sendInterleaved(
        channel: UInt8, header: UnsafeRawBufferPointer = UnsafeRawBufferPointer(start: nil, count: 0),
        _ packet: UnsafeRawBufferPointer
    ) -> Bool {
        let length = header.count + packet.count
        guard length <= 0xFFFF, output.count - outputOffset < Self.maximumPendingOutput else { return false }
        output.append(UInt8(ascii: "$"))
        output.append(channel)
        output.append(UInt8(length >> 8))
        output.append(UInt8(length & 0xFF))
        output.append(contentsOf: header)
        output.append(contentsOf: packet)
        return true
    }

    // MARK: Time

    /// When to call ``handleDeadline(at:)``.
    public var nextDeadline: Instant? {
        // One request at a time: while one waits for its answer, a keep-alive that is due waits as well.
        pending?.deadline ?? (phase == .playing ? nextKeepAlive : nil)
    }

    /// Does what is due: gives up on an answer, or sends a keep-alive.
    public mutating func handleDeadline(at now: Instant) throws(RTSPError) {
        if let request = pending, request.deadline <= now {
            pending = nil
            if phase == .tearingDown {
                phase = .ended
                events.append(.tornDown)
                return
            }
            // A camera that sends pictures but does not answer a keep-alive is alive: the pictures decide.
            guard request.isKeepAlive else {
                throw .noAnswer(
                    method: request.method, seconds: Int(configuration.answerTimeout.components.seconds))
            }
            refuseKeepAlive()
        }
        if let due = nextKeepAlive, due <= now, pending == nil, phase == .playing { sendKeepAlive(at: now) }
    }
}
