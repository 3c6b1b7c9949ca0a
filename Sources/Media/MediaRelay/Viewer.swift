import Congestion
import DTLS
import ICE
import PeerConnection
import RTP
import Transport

/// One viewer: its connection, and the tracks on their way to it. It lives only on its shard's thread.
///
/// It holds no copy of a packet: only an SRTP context, offsets, and a cursor into each track's ring.
final class Viewer: Session {
    // What each frame needs comes first, after what ``Session`` begins with (see Egress).
    var egress: [Egress]
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

    let configuration: ViewerConfiguration
    /// When media starts to flow, between the end of the handshake and the start.
    private var mediaDue: Instant?
    var talkback: TalkbackReceiver
    /// What the viewer reports of the sound that it gets.
    var soundLoss = LossMeter()
    var reports: ReportSchedule
    var feedback = FeedbackState()

    init(
        _ configuration: ViewerConfiguration, handle: SessionHandle, peer: consuming PeerConnection, egress: [Egress],
        reports: ReportSchedule, status: SessionStatus, notify: @escaping @Sendable (SessionEvent) -> Void,
        checkAccount: CheckAccount
    ) {
        self.configuration = configuration
        self.egress = egress
        line = ViewerLine(measuresRoundTrips: egress.contains { $0.configuration.isVideo && !$0.header.isNumbered })
        talkback = TalkbackReceiver(payloadTypes: configuration.talkbackPayloadTypes)
        self.reports = reports
        super.init(
            handle: handle, sessionID: configuration.sessionID, local: configuration.peer.localCredentials, peer: peer,
            status: status, notify: notify, checkAccount: checkAccount)
    }

    override var nextDeadline: Instant? {
        var next = connectionDeadline
        func consider(_ instant: Instant?) {
            guard let instant else { return }
            next = next.map { min($0, instant) } ?? instant
        }
        if isConnected {
            consider(mediaDue)
            consider(reports.next)
            for index in egress.indices { consider(egress[index].nextBurst) }
            consider(line.nextProbe)
        }
        return next
    }

    /// A DTLS client has its keys only when our last flight has reached it, and Firefox hands them to another thread
    /// even then: what arrives before is lost, and costs the first picture a retransmission.
    static let settling = Duration.milliseconds(8)

    override func transportConnected(at now: Instant) {
        mediaDue = configuration.peer.dtlsRole == .server ? now + Self.settling : now
    }

    override func pathChanged(at now: Instant) {
        line.recordPathChange(at: now)
        pacer.recordPathChange(roundTrip: peer.pathRoundTripTime)
    }

    override func takeProbeAnswer(through sender: inout MediaSender, limits: RelayLimits, at now: Instant) {
        guard let answer = peer.takeProbeAnswer() else { return }
        pacer.recordAnswer(to: answer.number, roundTrip: answer.roundTripTime, at: now)
        line.estimator.recordRoundTrip(answer.roundTripTime, at: now)
        for index in egress.indices where egress[index].isBacklog {
            send(index, through: &sender, limits: limits, at: now)
        }
    }

    override func receiveRTP(_ bytes: UnsafeRawBufferPointer, at now: Instant) {
        guard let packet = try? RTPPacketView(parsing: bytes) else { return }
        talkback.receive(packet, at: now)
    }

    override func receiveRTCP(_ bytes: UnsafeRawBufferPointer, through sender: inout MediaSender, at now: Instant) {
        recordSoundLoss(in: bytes, at: now)
        receiveFeedback(bytes, through: &sender, at: now)
    }

    override func receiveData(_ bytes: UnsafeRawBufferPointer) {
        configuration.dataSink?.receive(bytes)
    }

    override func handleDeadline(through sender: inout MediaSender, limits: RelayLimits, at now: Instant) {
        for index in egress.indices {
            if let burst = egress[index].nextBurst, burst <= now {
                send(index, through: &sender, limits: limits, at: now)
            }
        }
        if let probe = line.nextProbe, probe <= now { sendProbes(through: &sender, at: now) }
    }

    override func serviceMedia(
        through sender: inout MediaSender, limits: RelayLimits, scratch: UnsafeMutableRawBufferPointer, at now: Instant
    ) -> RelayEnd? {
        if let due = mediaDue, due <= now {
            startMedia(at: now)
            for index in egress.indices { send(index, through: &sender, limits: limits, at: now) }
        }
        if isConnected, let next = reports.next, next <= now {
            sendReports(through: &sender, scratch: scratch, at: now)
        }
        return nil
    }

    /// Says goodbye for every source (RFC 3550, section 6.6), so that a player shows the end and its reason at once.
    /// - Parameter words: the reason; what does not fit into a goodbye is left out.
    override func sendGoodbye(
        saying words: String, through sender: inout MediaSender, scratch: UnsafeMutableRawBufferPointer
    ) {
        guard isConnected, let first = egress.first else { return }
        var writer = ByteWriter(UnsafeMutableRawBufferPointer(rebasing: scratch[..<Self.maximumRTCPLength]))
        writer.writeReceiverReport(ssrc: first.configuration.ssrc)
        writer.writeSourceDescription(
            ssrc: first.configuration.ssrc, canonicalName: first.configuration.canonicalName)
        writer.writeGoodbye(ssrcs: egress.map(\.configuration.ssrc), reason: RelayEnd.goodbyeReason(words))
        sendRTCP(writer, scratch, through: &sender)
    }

    override func countConnection(in counters: inout RelayCounters) { counters.connected += 1 }

    override func countEnd(in counters: inout RelayCounters) {
        counters.ended += 1
        counters.streamSwitches += streamSwitches
    }

    override func leave() {
        for index in egress.indices {
            egress[index].track.remove(self)
            egress[index].nextTrack?.remove(self)
        }
        talkback.sink = nil
    }

    /// The viewer starts at the newest key frame of each video track, and at the live edge of each sound track.
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

/// Receives a viewer's microphone. It counts the packets, and hands them to the camera's speaker while the viewer holds
/// the floor.
struct TalkbackReceiver {
    /// Where packets go; nil while the viewer does not hold the floor.
    var sink: (any TalkbackSink)?
    private let payloadTypes: [UInt8]
    private var ssrc: UInt32?
    private var statistics: ReceptionStatistics?

    /// Packets that arrived, with and without the floor.
    private(set) var packets: UInt64 = 0

    init(payloadTypes: [UInt8]) {
        self.payloadTypes = payloadTypes
    }

    /// Handles one packet. Padding-only probes and payload types that were not agreed on are dropped.
    mutating func receive(_ packet: RTPPacketView, at now: Instant) {
        let isAgreed = payloadTypes.contains(packet.payloadType)
        // Every packet of the microphone's own source counts as received, whatever it contains (RFC 3550, appendix
        // A.3).
        guard isAgreed || ssrc == packet.ssrc else { return }
        if ssrc != packet.ssrc {
            ssrc = packet.ssrc
            statistics = ReceptionStatistics(clockRate: packet.payloadType < 96 ? 8000 : 48_000)
        }
        statistics?.receive(
            sequenceNumber: packet.sequenceNumber, timestamp: packet.timestamp, payloadLength: packet.payload.count,
            at: now)
        guard isAgreed, !packet.payload.isEmpty else { return }
        packets += 1
        sink?.receive(
            packet.payload, payloadType: packet.payloadType, sequenceNumber: packet.sequenceNumber,
            timestamp: packet.timestamp, at: now)
    }

    mutating func recordSenderReport(_ report: RTCPSenderReport, at now: Instant) {
        guard report.ssrc == ssrc else { return }
        statistics?.receiveSenderReport(ntp: report.ntp, at: now)
    }

    /// What to report to the viewer about its microphone's packets; nil before the first one.
    mutating func reportBlock(at now: Instant) -> RTCPReportBlock? {
        guard let ssrc else { return nil }
        return statistics?.makeReportBlock(ssrc: ssrc, at: now)
    }
}
