import Cameras
import RTP
import RTSP
import SDP
import Transport

/// One track that a publisher sends. It lives on the server's thread. All memory is kept, so a steady stream allocates
/// nothing.
final class PublisherTrack {
    /// How long a datagram waits for those before it. Nothing is sent again by RTSP, so this is only for those that come in
    /// another order.
    static let reorderDelay = Duration.milliseconds(80)
    /// The least time between two requests for a key frame.
    static let keyFrameRequestInterval = Duration.milliseconds(500)

    /// The position of its `m=` line.
    let mediaIndex: Int
    /// Its number in the publication.
    let number: Int
    let transport: RTSPTransport
    let description: TrackDescription
    private let feedback: KeyFrameFeedback?
    private let isDatagrams: Bool
    private var ssrc: UInt32?
    /// Another source, of which one packet has come, and that packet.
    private var candidate: UInt32?
    private var candidatePacket: [UInt8] = []
    private var statistics: ReceptionStatistics
    private var order = PacketReorderBuffer(maximumDelay: PublisherTrack.reorderDelay)
    private var wantsKeyFrame = false
    private var lastKeyFrameRequest: Instant?
    private var intraRequests: UInt8 = 0
    /// Whether any packet has come.
    private(set) var hasReceived = false
    /// When the last packet came, or when the publisher began; nil before that.
    private var lastPacket: Instant?
    /// When to report that nothing comes; nil if that has been reported since the last packet.
    private(set) var silenceDeadline: Instant?

    init(_ track: AnnouncedStream.Track, number: Int, transport: RTSPTransport) {
        mediaIndex = track.mediaIndex
        self.number = number
        self.transport = transport
        description = track.description
        feedback = track.feedback
        isDatagrams = if case .datagrams = transport { true } else { false }
        statistics = ReceptionStatistics(clockRate: track.description.codec.clockRate)
    }

    /// Receives an RTP packet, and hands over what is in order. Returns whether it was the track's.
    func receive(_ bytes: UnsafeRawBufferPointer, for publication: Publication, at now: Instant) -> Bool {
        guard let packet = try? RTPPacketView(parsing: bytes), packet.payloadType == description.payloadType else {
            return false
        }
        if packet.ssrc != ssrc {
            // A changed source counts once its second packet has come: a stray packet must not restart everything.
            guard ssrc == nil || candidate == packet.ssrc else {
                candidate = packet.ssrc
                candidatePacket.removeAll(keepingCapacity: true)
                candidatePacket.append(contentsOf: bytes)
                return false
            }
            ssrc = packet.ssrc
            order = PacketReorderBuffer(maximumDelay: Self.reorderDelay)
            statistics = ReceptionStatistics(clockRate: description.codec.clockRate)
            if candidate == packet.ssrc { acceptCandidate(for: publication, at: now) }
        }
        candidate = nil
        accept(packet, bytes, for: publication, at: now)
        return true
    }

    /// Hands over the first packet of a changed source. A decoder may need it: encoders begin with their parameter sets.
    private func acceptCandidate(for publication: Publication, at now: Instant) {
        candidatePacket.withUnsafeBytes { bytes in
            guard let packet = try? RTPPacketView(parsing: bytes) else { return }
            accept(packet, bytes, for: publication, at: now)
        }
    }

    private func accept(
        _ packet: RTPPacketView, _ bytes: UnsafeRawBufferPointer, for publication: Publication, at now: Instant
    ) {
        hasReceived = true
        recordLife(at: now)
        statistics.receive(
            sequenceNumber: packet.sequenceNumber, timestamp: packet.timestamp, payloadLength: packet.payload.count,
            at: now)
        guard isDatagrams else {
            publication.receive(bytes, track: number, at: now)
            return
        }
        order.insert(
            sequenceNumber: packet.sequenceNumber, timestamp: packet.timestamp, marker: packet.marker, payload: bytes,
            at: now)
        deliver(to: publication, at: now)
    }

    /// Hands over the datagrams that are in order, or whose time of waiting is over.
    func deliver(to publication: Publication, at now: Instant) {
        while let output = order.next(at: now) {
            switch output {
            // What follows cannot be decoded without the missing packets.
            case .gap: requestKeyFrame()
            case .packet(let packet): publication.receive(packet.payload, track: number, at: now)
            }
        }
    }

    /// The publisher may send from now on.
    func begin(at now: Instant) { recordLife(at: now) }

    private func recordLife(at now: Instant) {
        lastPacket = now
        silenceDeadline = now + Publication.patience
    }

    /// Reports to the publication that nothing comes, once that has lasted too long.
    func reportSilence(to publication: Publication, at now: Instant) {
        guard let last = lastPacket, let due = silenceDeadline, due <= now else { return }
        silenceDeadline = nil
        publication.receiveNothing(track: number, since: last, at: now)
    }

    /// When the time of a missing datagram is over.
    var nextDeadline: Instant? { order.nextDeadline }

    /// Receives RTCP. Of what publishers send, only the clock counts: the connection says when they end.
    func receiveControl(_ bytes: UnsafeRawBufferPointer, for publication: Publication, at now: Instant) {
        for packet in RTCPPackets(bytes) {
            guard case .senderReport(let report, _) = packet, report.ssrc == ssrc, report.ntp.rawValue != 0 else {
                continue
            }
            statistics.receiveSenderReport(ntp: report.ntp, at: now)
            publication.receiveSenderReport(
                track: number, ntp: report.ntp.rawValue, rtpTimestamp: report.rtpTimestamp, at: now)
        }
    }

    /// Asks for a key frame as soon as that is possible. It has no effect on a publisher whose session description names no
    /// feedback for it.
    func requestKeyFrame() {
        if feedback != nil { wantsKeyFrame = true }
    }

    /// Whether to ask for a key frame now.
    func isKeyFrameRequestDue(at now: Instant) -> Bool {
        guard wantsKeyFrame, ssrc != nil else { return false }
        return lastKeyFrameRequest.map { now - $0 >= Self.keyFrameRequestInterval } ?? true
    }

    /// Writes a receiver report, with the request for a key frame if one is due, and returns its length.
    func writeReport(
        from own: UInt32, canonicalName: String, at now: Instant, into output: UnsafeMutableRawBufferPointer
    ) -> Int {
        var writer = ByteWriter(output)
        var blocks: [RTCPReportBlock] = []
        if let ssrc, statistics.hasReceived { blocks = [statistics.makeReportBlock(ssrc: ssrc, at: now)] }
        writer.writeReceiverReport(ssrc: own, blocks: blocks)
        writer.writeSourceDescription(ssrc: own, canonicalName: canonicalName)
        if let ssrc, isKeyFrameRequestDue(at: now) {
            wantsKeyFrame = false
            lastKeyFrameRequest = now
            switch feedback {
            case .pictureLossIndication: writer.writePictureLossIndication(senderSSRC: own, mediaSSRC: ssrc)
            case .fullIntraRequest:
                writer.writeFullIntraRequest(senderSSRC: own, mediaSSRC: ssrc, sequenceNumber: intraRequests)
                intraRequests &+= 1
            case nil: break
            }
        }
        return writer.overflowed ? 0 : writer.count
    }
}
