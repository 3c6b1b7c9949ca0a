import DatagramPort
import PeerConnection
import RTP
import SDP
import Transport

/// One view on the loop's thread: its connection and what it receives.
final class ViewingSession {
    let port: UDPPort
    let assemblesFrames: Bool
    private let handler: @Sendable (ViewingEvent) -> Void
    var peer: PeerConnection
    var media: [ReceivedMedia]
    /// The identifier of the header extension with the transport-wide sequence number; nil where none was agreed.
    let transportSequenceExtension: UInt8?
    var pictures: PictureReceiver
    var reports: ReportTimer
    var talk: TalkSender?
    var pictureArrivals = PictureArrivals()
    var frameArrivals = FrameArrivals()
    var hasEnded = false
    private var sawPacket = false
    private var sawKeyFrame = false

    init(
        offered: OfferedView, negotiated: NegotiatedSession, assemblesFrames: Bool,
        handler: @escaping @Sendable (ViewingEvent) -> Void, at now: Instant
    ) throws {
        port = offered.port
        self.assemblesFrames = assemblesFrames
        self.handler = handler
        peer = try PeerConnection(
            configuration: offered.peerConfiguration(negotiated), random: .system, now: now)
        media = negotiated.media.filter { $0.direction.receives }.map(ReceivedMedia.init(media:))
        transportSequenceExtension = media.lazy.compactMap(\.media.headerExtensions.transportWideCC).first
        pictures = PictureReceiver(
            negotiated.media.first { $0.kind == .video && $0.direction.receives }, assembles: assemblesFrames)
        reports = ReportTimer(ssrc: offered.ssrc)
        if let microphone = negotiated.media.first(where: { $0.kind == .audio && $0.direction.sends }) {
            talk = TalkSender(media: microphone)
        }
    }

    /// Accepts a datagram and sends the connection's answer. RTP and RTCP get no answer, so no output is taken after them.
    func handle(_ datagram: ReceivedDatagram, scratch: UnsafeMutableRawBufferPointer, at now: Instant) {
        switch peer.handle(datagram.bytes, from: datagram.source, to: datagram.destination, at: now) {
        // This client opens no data channels.
        case .nothing, .data: takeOutput(scratch: scratch, at: now)
        case .rtp(let count):
            receiveRTP(UnsafeRawBufferPointer(rebasing: datagram.bytes[..<count]), at: now)
        case .rtcp(let count):
            receiveRTCP(UnsafeRawBufferPointer(rebasing: datagram.bytes[..<count]), at: now)
        }
    }

    /// Runs the timers that are due.
    func handleDeadline(at now: Instant) {
        peer.handleDeadline(at: now)
    }

    /// Sends what is due and reports what has happened.
    func service(scratch: UnsafeMutableRawBufferPointer, at now: Instant) {
        takeOutput(scratch: scratch, at: now)
        guard peer.isConnected, !hasEnded else { return }
        deliverPictures(at: now)
        sendFeedback(scratch: scratch, at: now)
        sendTalk(scratch: scratch, at: now)
    }

    private func takeOutput(scratch: UnsafeMutableRawBufferPointer, at now: Instant) {
        while let event = peer.pollEvent() {
            switch event {
            case .firstCheck, .pathChanged: break
            case .pathFound: handler(.pathFound(at: now))
            case .connected:
                reports.start(at: now)
                handler(.connected(at: now))
            case .failed(let failure): end(failure.description)
            }
        }
        while let transmit = peer.pollTransmit(into: scratch, at: now) {
            port.send(
                UnsafeRawBufferPointer(rebasing: scratch[..<transmit.byteCount]), transmit: transmit,
                from: peer.transmitSource)
        }
    }

    /// When ``handleDeadline(at:)`` is due.
    var nextDeadline: Instant? {
        let next = peer.nextDeadline
        guard peer.isConnected else { return next }
        return Self.earlier(Self.earlier(next, reports.next), Self.earlier(pictures.nextDeadline, talk?.next))
    }

    private static func earlier(_ one: Instant?, _ other: Instant?) -> Instant? {
        guard let one, let other else { return one ?? other }
        return min(one, other)
    }

    func report(_ event: ViewingEvent) {
        handler(event)
    }

    func end(_ reason: String) {
        guard !hasEnded else { return }
        hasEnded = true
        handler(.ended(reason: reason))
    }

    func recordFirstPacket(at now: Instant) {
        guard !sawPacket else { return }
        sawPacket = true
        handler(.firstPacket(at: now))
    }

    func recordKeyFrame(at now: Instant) {
        guard !sawKeyFrame else { return }
        sawKeyFrame = true
        handler(.firstKeyFrame(at: now))
    }

    func statistics() -> ViewingStatistics {
        var result = ViewingStatistics()
        result.isConnected = peer.isConnected
        result.pictureCount = pictureArrivals.count
        result.pictureAges = media.first(where: \.isVideo).map(pictureArrivals.ages) ?? []
        result.frameArrivals = frameArrivals
        result.tracks = media.map { track in
            ViewingStatistics.Track(
                kind: track.media.kind.name, codec: track.media.codec.name, packets: track.counts.packets,
                bytes: track.counts.bytes, lost: track.counts.lost, retransmitted: track.counts.retransmitted,
                frames: track.isVideo ? pictures.frames : track.counts.packets,
                keyFrames: track.isVideo ? pictures.keyFrames : 0)
        }
        return result
    }
}
