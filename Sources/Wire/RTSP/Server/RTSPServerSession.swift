public import Transport

/// What a session asks of its driver.
public enum RTSPServerEvent: Equatable, Sendable {
    /// A client asks what a resource offers: answer with ``RTSPServerSession/answerDescribe(_:at:)``, now or later.
    case describe(RTSPResource)
    /// A client wants a track, for which transports have been found: answer with
    /// ``RTSPServerSession/answerSetUp(_:at:)``, now or later.
    case setUp(path: String, track: Int)
    /// A client wants to publish what this session description says: answer with
    /// ``RTSPServerSession/answerAnnounce(_:at:)``, now or later.
    case announce(RTSPResource, description: String)
    /// A client wants to send what it has announced and set up: answer with ``RTSPServerSession/answerRecord(_:at:)``, now
    /// or later.
    case record
    /// A client wants to play what it has set up: answer with ``RTSPServerSession/answerPlay(_:at:)``, now or later.
    case play
    /// Send nothing more until the next ``play``, or expect nothing until the next ``record``.
    case paused
    /// The client has ended the session. Another one may begin on the same connection.
    case tornDown
    /// A password was wrong. ``RTSPServerSession/hold(until:)`` makes the next attempt slower.
    case refusedCredentials
    /// The token in a publisher's address works, and does not permit publishing there: answer with
    /// ``RTSPServerSession/answerForbidden(words:at:)``, now or later.
    case forbidden(path: String, PublisherTokenFault)
    /// A packet came on the channel of a track: a player's receiver report, or what a publisher sends.
    case received(track: Int, isRTCP: Bool, range: Range<Int>)
}

/// The server's side of one RTSP connection (RFC 2326): requests in, answers and events out.
///
/// It reads no clock and no socket. The driver hands in bytes (``receive(_:)``), takes events until none is left
/// (``pollEvent(at:)``), sends what ``takeOutput(at:)`` returns, and closes the connection when ``isClosing`` is set.
///
/// One session lives on one connection and ends with it. RFC 2326 would let a session outlive its connection. Clients
/// do not use that, and a session that ends with its connection cannot be left behind.
public struct RTSPServerSession: ~Copyable {
    /// The settings that all connections share.
    public struct Configuration: Sendable {
        /// The clients that may use the server.
        public var authentication: RTSPAuthentication
        /// The UDP ports that media leaves from; nil where only the connection carries media.
        public var serverPorts: (rtp: UInt16, rtcp: UInt16)?
        /// How the paths of recorded footage begin, for which a client may require ``RTSPFeature/replay``; nil where there is
        /// none.
        public var footagePrefix: String?
        /// Whether clients may publish (RFC 2326, sections 10.3 and 10.11).
        public var takesPublishers = false
        /// How long a client may take from what it announces until it sends that.
        public var recordTimeout: Duration = .seconds(20)
        /// After how long without a sign of life a session ends, in seconds.
        public var sessionTimeout = 60
        /// How long a connection may take to send a right password, and how long it may be idle without a session.
        public var idleTimeout: Duration = .seconds(30)
        /// The most wrong passwords on one connection.
        public var maximumRefusals = 5
        /// The server's name in its answers.
        public var serverName = "Gatehouse"

        /// Sets the parts that have no default.
        public init(authentication: RTSPAuthentication) {
            self.authentication = authentication
        }
    }

    /// A track that was set up.
    public struct Track: Equatable, Sendable {
        /// The track's number.
        public var index: Int
        /// Its transport.
        public var transport: RTSPTransport
        /// The URI that it was set up by.
        public var uri: String
    }

    /// The state of a session (RFC 2326, appendix A.2).
    public enum State: Equatable, Sendable {
        case initial
        case ready
        case playing
        case recording
    }

    /// An answer for which the driver has to provide something.
    enum Pending: Equatable {
        case describe(RTSPRequest)
        case setUp(RTSPRequest, resource: RTSPResource, offer: TransportOffer)
        case play(RTSPRequest)
        case announce(RTSPRequest, RTSPResource)
        case record(RTSPRequest)
        case forbidden(RTSPRequest)
    }

    /// The most bytes of answers that wait for the client to read them.
    static let maximumOutput = 64 * 1024
    /// The most tracks. No camera has more.
    public static let maximumTracks = 8

    let configuration: Configuration
    var random: RandomSource
    var stream = RTSPRequestStream()
    var output: [UInt8] = []
    var pending: Pending?
    var nonce: (text: String, issued: Instant)?
    var refusals = 0
    var heldUntil: Instant?
    var lastLife: Instant
    let opened: Instant
    /// The principal of the first right password on this connection; nil before there is one.
    public internal(set) var principal: String?
    /// The last address that a token has opened.
    var openedAddress: (token: String, path: String)?
    /// Whether the client has sent a right password on this connection.
    public var isAuthenticated: Bool { principal != nil }
    /// Whether the connection is to be closed as soon as the output has been sent.
    public internal(set) var isClosing = false
    /// The session's state.
    public internal(set) var state = State.initial
    /// The session's identifier; nil before the first SETUP.
    public internal(set) var identifier: String?
    /// The path of the device that the session is about.
    public internal(set) var path = ""
    /// The tracks in the order of their set-up.
    public internal(set) var tracks: [Track] = []
    /// What the client has announced; nil for a client that plays.
    var announcement: Announcement?
    /// Whether the client has required ``RTSPFeature/replay`` for this session.
    public internal(set) var requiresReplay = false
    /// The client's name for itself.
    public internal(set) var userAgent = ""

    /// Starts with a new connection.
    public init(configuration: Configuration, random: RandomSource, now: Instant) {
        self.configuration = configuration
        self.random = random
        lastLife = now
        opened = now
    }

    /// Whether bytes may be read: a client that does not read its answers, or waits for one, is not read from.
    public var wantsInput: Bool { !isClosing && stream.hasRoom }

    /// Lets `read` write into the free part of the buffer; it returns how many bytes it wrote.
    @discardableResult
    public mutating func receive(_ read: (UnsafeMutableRawBufferPointer) -> Int) -> Int {
        stream.receive(read)
    }

    /// The bytes of a packet of ``RTSPServerEvent/received(track:isRTCP:range:)``, until the next ``receive(_:)``.
    public func bytes(in range: Range<Int>) -> UnsafeRawBufferPointer {
        stream.bytes(in: range)
    }

    /// The next event; nil when it needs more bytes, an answer of the driver, or time.
    public mutating func pollEvent(at now: Instant) -> RTSPServerEvent? {
        if let heldUntil, heldUntil <= now { self.heldUntil = nil }
        while pending == nil, heldUntil == nil, !isClosing, output.count <= Self.maximumOutput {
            let element: RTSPRequestStream.Element?
            do {
                element = try stream.next()
            } catch {
                // The bytes that follow can no longer be separated.
                respond(error.status, to: nil, at: now)
                isClosing = true
                return nil
            }
            switch element {
            case nil:
                return nil
            case .request(let request):
                if let event = handle(request, at: now) { return event }
            case .interleaved(let channel, let range):
                if let event = received(channel, range, at: now) { return event }
            }
        }
        return nil
    }

    /// The bytes to send; empty while answers are held back.
    public mutating func takeOutput(at now: Instant) -> [UInt8] {
        if let heldUntil, heldUntil > now { return [] }
        let bytes = output
        output = []
        return bytes
    }

    /// Whether ``takeOutput(at:)`` would return anything.
    public func hasOutput(at now: Instant) -> Bool {
        !output.isEmpty && !(heldUntil.map { $0 > now } ?? false)
    }

    /// Holds answers and requests back until then.
    public mutating func hold(until instant: Instant) {
        heldUntil = max(heldUntil ?? instant, instant)
    }

    /// The client has shown that it lives: by a receiver report over UDP, or by reading what was sent.
    public mutating func recordLife(at now: Instant) {
        lastLife = now
    }

    /// When something is due: the end of a hold, or the end for lack of a sign of life.
    public var nextDeadline: Instant {
        min(heldUntil ?? .distantFuture, expiry)
    }

    /// Whether the client has been silent for too long.
    public func isExpired(at now: Instant) -> Bool {
        now >= expiry
    }

    private var expiry: Instant {
        guard isAuthenticated else { return max(opened + configuration.idleTimeout, heldUntil ?? opened) }
        let alive = lifeEnd
        // Requests keep a publisher alive only once it has begun to send.
        guard let announcement, !announcement.hasRecorded else { return alive }
        return min(alive, announcement.since + configuration.recordTimeout)
    }

    private var lifeEnd: Instant {
        // A little more time than the client was promised: its sign of life may be on the way.
        return identifier == nil
            ? lastLife + configuration.idleTimeout : lastLife + .seconds(configuration.sessionTimeout + 5)
    }

    private mutating func received(_ channel: UInt8, _ range: Range<Int>, at now: Instant) -> RTSPServerEvent? {
        // What a publisher sends at any other time is dropped.
        guard announcement == nil || state == .recording else { return nil }
        for track in tracks {
            guard case .interleaved(let rtp, let rtcp) = track.transport, channel == rtp || channel == rtcp else {
                continue
            }
            lastLife = now
            return .received(track: track.index, isRTCP: channel == rtcp, range: range)
        }
        return nil
    }
}
