import Congestion
import ICE
import PeerConnection
import RTP
import Transport

/// What a session is to the relay.
enum SessionRole {
    /// It is sent tracks, and may talk.
    case viewer
    /// It sends a camera's tracks.
    case publisher(Ingest)
}

/// One viewer: its connection, and the tracks on their way to it. It lives only on its shard's thread.
///
/// It holds no copy of a packet: only an SRTP context, offsets, and a cursor into each track's ring.
final class Viewer {
    // What each frame needs comes first (see Egress).
    var egress: [Egress]
    var isConnected = false
    /// Whether media has started to flow.
    private(set) var mediaFlows = false
    /// Whether every step of the start has been recorded.
    var startIsComplete = false
    /// Until when the viewer gets no sound, because it talks: half duplex prevents howl.
    private(set) var soundHeldUntil: Instant?
    /// The next transport-wide sequence number.
    var transportSequence: UInt16 = 0
    /// What was sent under which transport-wide sequence number.
    var log = SendLog()
    /// The media that has been sent, retransmissions included, without the headers of UDP and IP.
    var wire: (datagrams: UInt64, bytes: UInt64) = (0, 0)
    var line: ViewerLine
    var choice = StreamChoice()
    var streamSwitches = StreamSwitches()
    var pacer = BacklogPacer()
    /// Where media is sent: kept here, so that the hot loop does not have to ask the connection.
    var remoteAddress: TransportAddress?
    /// Our address at which the viewer's packets arrive: replies leave from it.
    var localAddress: TransportAddress?
    /// When the connection wants to be looked at: kept here for the same reason.
    var connectionDeadline: Instant?
    var peer: PeerConnection

    let handle: SessionHandle
    let role: SessionRole
    let sessionID: String
    let configuration: ViewerConfiguration
    let status: ViewerStatus
    let notify: @Sendable (ViewerEvent) -> Void
    /// What the session may spend, together with others, on checks to addresses that have never answered.
    let checkAccount: CheckAccount
    /// The addresses that authenticated checks came from: they lead back to this viewer.
    var knownAddresses: [KnownAddress] = []
    /// The addresses that were sent a check and have not sent one themselves yet.
    var askedAddresses: [TransportAddress] = []
    /// The username fragments that this viewer was given, newest last.
    var fragments: [String]
    /// When media starts to flow, between the end of the handshake and the start.
    var mediaDue: Instant?
    /// Whether ``status`` says that an ICE restart would help.
    var wantsRestart = false
    var hasEnded = false

    var talkback: TalkbackReceiver
    /// What the viewer reports of the sound that it gets.
    var soundLoss = LossMeter()
    /// What a publisher sends; nil for a viewer.
    var ingest: Ingest? {
        if case .publisher(let ingest) = role { ingest } else { nil }
    }
    var reports: ReportSchedule
    var feedback = FeedbackState()

    init(
        handle: SessionHandle, role: SessionRole, configuration: ViewerConfiguration, peer: consuming PeerConnection,
        egress: [Egress], status: ViewerStatus,
        notify: @escaping @Sendable (ViewerEvent) -> Void, localSSRC: UInt32, checkAccount: CheckAccount
    ) {
        self.handle = handle
        self.role = role
        self.checkAccount = checkAccount
        self.sessionID = configuration.sessionID
        self.configuration = configuration
        self.peer = peer
        self.fragments = [configuration.peer.localCredentials.usernameFragment]
        self.egress = egress
        line = ViewerLine(measuresRoundTrips: egress.contains { $0.configuration.isVideo && !$0.header.isNumbered })
        self.status = status
        self.notify = notify
        self.talkback = TalkbackReceiver(payloadTypes: configuration.talkbackPayloadTypes)
        self.reports = ReportSchedule(fallbackSSRC: localSSRC)
    }

    /// When the viewer has to be looked at next.
    var nextDeadline: Instant? {
        var next = connectionDeadline
        func consider(_ instant: Instant?) {
            guard let instant else { return }
            next = next.map { min($0, instant) } ?? instant
        }
        if isConnected {
            consider(mediaDue)
            consider(reports.next)
            consider(ingest?.nextDeadline)
            for index in egress.indices { consider(egress[index].nextBurst) }
            consider(line.nextProbe)
        }
        return next
    }

    /// The transport is up, and the peer has its keys. The viewer starts at the newest key frame of each video track,
    /// and at the live edge of each sound track.
    func startMedia(at now: Instant) {
        mediaDue = nil
        mediaFlows = true
        for index in egress.indices {
            start(index, at: now)
        }
        reports.start(at: now)
    }

    /// Begins with one track. A track whose ring is still on the way from its home shard begins when it has come.
    private func start(_ index: Int, at now: Instant) {
        guard egress[index].track.isFed else { return }
        let ring = egress[index].track.ring
        if !egress[index].configuration.isVideo {
            egress[index].start(at: ring.head, now: now)
        } else if let keyFrame = ring.newestKeyFrame {
            start(index, at: keyFrame, now: now)
        } else {
            egress[index].cursor = nil
            egress[index].track.requestKeyFrame(at: now)
        }
    }

    /// The ring of a track has come from its home shard.
    func startLate(_ track: RelayTrack, at now: Instant) {
        guard mediaFlows else { return }
        for index in egress.indices where egress[index].track === track { start(index, at: now) }
    }

    /// Sends no sound until `until`, or resumes it at the live edge.
    func holdSound(until: Instant?, at now: Instant) {
        let wasHeld = soundHeldUntil != nil
        soundHeldUntil = until
        guard mediaFlows, wasHeld != (until != nil) else { return }
        for index in egress.indices where !egress[index].configuration.isVideo {
            egress[index].nextBurst = nil
            egress[index].behindSince = nil
            if until == nil { start(index, at: now) }
        }
    }
}
