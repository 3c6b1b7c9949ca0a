import ICE
import PeerConnection
import RTP
import Transport

/// One viewer: its connection, and the tracks on their way to it. It lives on its shard's thread only.
///
/// There is no copy of a packet here: an SRTP context, offsets, and a cursor into each track's ring.
final class Viewer {
    // What each frame needs stands first (see Egress).
    var egress: [Egress]
    var isConnected = false
    /// Whether media has started to flow.
    private(set) var mediaFlows = false
    /// Whether every step of the start has been noted.
    var startIsComplete = false
    /// Until when the viewer gets no sound, because it talks: half duplex against howl.
    private(set) var soundHeldUntil: Instant?
    /// The next transport-wide sequence number.
    var transportSequence: UInt16 = 0
    var line = ViewerLine()
    /// Where media goes: kept here, so that the hot loop need not ask the connection.
    var remoteAddress: TransportAddress?
    /// Our address at which the viewer's packets arrive: replies leave from it.
    var localAddress: TransportAddress?
    var peer: PeerConnection

    let sessionID: String
    let configuration: ViewerConfiguration
    let status: ViewerStatus
    let notify: @Sendable (ViewerEvent) -> Void
    /// What the session may spend on checks to addresses that have never answered, together with others.
    let checkAccount: CheckAccount
    /// The addresses from which authenticated checks came: they lead back to this viewer.
    var knownAddresses: [TransportAddress] = []
    /// The addresses that were sent a check and have not sent one yet.
    var askedAddresses: [TransportAddress] = []
    /// The username fragments that were given to this viewer, the newest last.
    var fragments: [String]
    /// When media starts to flow, between the end of the handshake and the start.
    var mediaDue: Instant?
    var hasEnded = false

    var talkback: TalkbackReceiver
    /// What a publisher sends; nil for a viewer.
    var ingest: Ingest?
    var reports: ReportSchedule
    var feedback = FeedbackState()

    init(
        configuration: ViewerConfiguration, peer: consuming PeerConnection, egress: [Egress], status: ViewerStatus,
        notify: @escaping @Sendable (ViewerEvent) -> Void, localSSRC: UInt32, checkAccount: CheckAccount
    ) {
        self.checkAccount = checkAccount
        self.sessionID = configuration.sessionID
        self.configuration = configuration
        self.peer = peer
        self.fragments = [configuration.peer.localCredentials.usernameFragment]
        self.egress = egress
        self.status = status
        self.notify = notify
        self.talkback = TalkbackReceiver(payloadTypes: configuration.talkbackPayloadTypes)
        self.reports = ReportSchedule(fallbackSSRC: localSSRC)
    }

    /// When the viewer has to be looked at next.
    var nextDeadline: Instant? {
        var next = peer.nextDeadline
        func consider(_ instant: Instant?) {
            guard let instant else { return }
            next = next.map { min($0, instant) } ?? instant
        }
        if isConnected {
            consider(mediaDue)
            consider(reports.next)
            consider(ingest?.nextDeadline)
            for index in egress.indices { consider(egress[index].nextBurst) }
        }
        return next
    }

    /// The transport is up, and the peer has its keys: the viewer starts at the newest key frame of each video track, and at the live edge of
    /// each sound track.
    func startMedia(at now: Instant) {
        mediaDue = nil
        mediaFlows = true
        for index in egress.indices {
            let ring = egress[index].track.ring
            if !egress[index].configuration.isVideo {
                egress[index].start(at: ring.head, now: now)
            } else if let keyFrame = ring.newestKeyFrame {
                egress[index].start(at: keyFrame, now: now)
            } else {
                egress[index].cursor = nil
                egress[index].track.requestKeyFrame(at: now)
            }
        }
        reports.start(at: now)
    }

    /// Leaves sound out until `until`, or goes on with it at the live edge.
    func holdSound(until: Instant?, at now: Instant) {
        let wasHeld = soundHeldUntil != nil
        soundHeldUntil = until
        guard mediaFlows, wasHeld != (until != nil) else { return }
        for index in egress.indices where !egress[index].configuration.isVideo {
            egress[index].nextBurst = nil
            egress[index].behindSince = nil
            if until == nil { egress[index].start(at: egress[index].track.ring.head, now: now) }
        }
    }
}
