import Cameras
import DatagramPort
import MediaRelay
import RTSP
import Stations
import Transport

/// One client's connection, its session, and what it reads. It lives on the server's thread.
final class RTSPConnection {
    let id: UInt64
    let peer: TransportAddress
    let local: TransportAddress
    let socket: TCPSocket
    var session: RTSPServerSession
    var watch: ShardContext.Watch?
    /// What the watch waits for.
    var interest: ShardContext.Readiness = .readable
    /// The tracks that were set up, in order of their SETUP.
    var tracks: [ReaderTrack] = []
    /// The same for all tracks of the reader, so that a player plays them in sync.
    let canonicalName: String
    /// The camera whose tracks the session is about.
    var camera: ServedCamera?
    /// Keeps a camera sending, and the permit to read it.
    private var hold: (camera: String, value: CameraHold, permit: OutputPermit?)?
    /// The recorded footage that the session is about.
    var footage: FootagePresentation?
    /// What is played of it.
    var playback: FootagePlayback?
    /// Where the next playback begins unless the client says so, in the presentation.
    var footagePosition: Int64 = 0
    /// The number of the search for footage that a request waits for, and what the request wants.
    var footageSearch: (number: UInt64, wish: FootageWish)?
    /// A request for a description that waits for the tracks of a camera.
    struct DescriptionWait {
        let camera: ServedCamera
        /// When it is answered at the latest.
        let end: Instant
        /// When to look for the tracks again.
        var nextLook: Instant
    }

    /// The request for a description that is not answered yet.
    var descriptionWait: DescriptionWait?
    /// What the client publishes; nil for one that reads.
    var publisher: Publisher?
    /// The answer to PLAY waits for the first packets until then.
    var startDeadline: Instant?
    /// Whether media flows, as last reported to the observer.
    var isReader = false
    /// Bytes that the socket has not accepted yet, from `unsentOffset` on.
    var unsent: [UInt8] = []
    var unsentOffset = 0
    /// Since when the socket has accepted nothing.
    var blockedSince: Instant?
    /// Whether the connection ledger knows that the client sent a correct password.
    var isVouchedFor = false
    private(set) var isEnded = false
    /// Whether its end throws away what the client has not been sent yet.
    var isReset = false

    init(
        id: UInt64, socket: consuming TCPSocket, peer: TransportAddress, local: TransportAddress,
        session: consuming RTSPServerSession, canonicalName: String
    ) {
        self.id = id
        self.socket = socket
        self.peer = peer
        self.local = local
        self.session = session
        self.canonicalName = canonicalName
    }

    func recordEnd() { isEnded = true }

    /// Makes a camera send, and releases another one that did so for this connection.
    /// - Parameter revoked: ends the connection when the camera's permit is revoked.
    func hold(_ camera: ServedCamera, revoked: @escaping OutputPermits.Revoked) throws(StationError) {
        guard hold?.camera != camera.id || hold?.permit?.revocation != nil else { return }
        releaseCamera()
        let permit = try camera.permit("RTSP reader \(peer.host)", revoked)
        hold = (camera.id, camera.hold(), permit)
    }

    /// Keeps the permit to play a camera's footage.
    func hold(_ path: String, permit: OutputPermit?) {
        releaseCamera()
        hold = (path, CameraHold(for: .reader), permit)
    }

    /// What the session is about, for the log.
    var resource: String { camera?.id ?? footage?.path ?? "" }

    /// Whether it holds a camera, played or not.
    func holds(_ camera: String) -> Bool { hold?.camera == camera }

    /// Names a tap that reads the camera.
    func cover(_ tap: any TrackTap, of track: TrackID) { hold?.permit?.cover(tap, of: track) }

    /// Releases the camera.
    func releaseCamera() {
        hold?.value.end()
        hold?.permit?.end()
        hold = nil
    }

    var isPlaying: Bool { session.state == .playing }

    var isBlocked: Bool { unsentOffset < unsent.count }

    /// How many packets all tracks have sent.
    var packetsSent: UInt64 { tracks.reduce(0) { $0 + $1.packetsSent } }

    /// How many frames were skipped.
    var framesDropped: UInt64 { tracks.reduce(0) { $0 + $1.queue.framesDropped } }

    /// Whether any track travels in datagrams.
    var usesDatagrams: Bool {
        tracks.contains { if case .datagrams = $0.transport { true } else { false } }
    }

    /// Until when the client must have read something; nil while nothing waits for it. A publisher need not read while
    /// it sends: some never look at what they get.
    func readingDeadline(_ limits: RTSPServerConfiguration) -> Instant? {
        session.state == .recording ? nil : blockedSince.map { $0 + limits.stallTimeout }
    }

    /// When something is due. `limits` are the server's.
    func nextDeadline(_ limits: RTSPServerConfiguration) -> Instant {
        var deadline = session.nextDeadline
        if let descriptionWait { deadline = min(deadline, descriptionWait.nextLook) }
        if let startDeadline { deadline = min(deadline, startDeadline) }
        if let due = readingDeadline(limits) { deadline = min(deadline, due) }
        if let publisher { deadline = min(deadline, publisher.nextDeadline) }
        guard isPlaying else { return deadline }
        if let due = playback?.nextDue { deadline = min(deadline, due) }
        for track in tracks {
            if let burst = track.nextBurst { deadline = min(deadline, burst) }
            // A connection that accepts nothing does not accept a report either.
            if let report = track.nextReport, !isBlocked { deadline = min(deadline, report) }
        }
        return deadline
    }
}
