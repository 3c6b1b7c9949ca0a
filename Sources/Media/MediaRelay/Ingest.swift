import RTP
import Transport

/// What a publisher sends, on its way into the relay. It sorts the packets by track and reports to the publisher what
/// arrived.
///
/// Packets of payload types and sources that were not agreed on are counted and dropped; nothing is stored for them.
final class Ingest {
    private static let reportInterval = Duration.seconds(1)
    /// The limit for a publisher without transport-wide feedback, in bits per second. Publishers are usually on the
    /// local network, and their own encoders have a limit.
    private static let estimate: UInt64 = 6_000_000

    let ssrc: UInt32
    let tracks: [IngestTrack]
    let sink: any PublisherSink
    let reducedSizeRTCP: Bool
    private let memory: UnsafeMutableRawBufferPointer
    private var feedback = TransportFeedbackGenerator()
    private let transportSequenceExtension: UInt8?
    private var nextReport: Instant?
    private var requests: [UInt16] = []
    private var blocks: [RTCPReportBlock] = []
    /// Packets of payload types and sources that were not agreed on.
    private(set) var unexpectedPackets: UInt64 = 0

    init(tracks: [PublishedTrack], reducedSizeRTCP: Bool, sink: any PublisherSink, ssrc: UInt32) {
        self.ssrc = ssrc
        self.sink = sink
        self.reducedSizeRTCP = reducedSizeRTCP
        self.tracks = tracks.map(IngestTrack.init)
        transportSequenceExtension = tracks.lazy.compactMap(\.transportSequenceExtension).first
        memory = .allocate(byteCount: 2048, alignment: 16)
        requests.reserveCapacity(512)
        blocks.reserveCapacity(tracks.count)
    }

    deinit { memory.deallocate() }

    /// Handles a plain RTP packet.
    func receive(_ packet: RTPPacketView, at now: Instant) {
        if let identifier = transportSequenceExtension, let value = packet.headerExtension(identifier),
            let number = HeaderExtensionValue.transportSequenceNumber(value)
        {
            feedback.receive(transportSequenceNumber: number, at: now)
        }
        for track in tracks {
            if packet.payloadType == track.configuration.payloadType {
                if !track.receive(packet, at: now) { unexpectedPackets &+= 1 }
                return
            }
            if packet.payloadType == track.configuration.retransmissionPayloadType {
                track.receiveRetransmission(packet, at: now)
                return
            }
        }
        unexpectedPackets &+= 1
    }

    /// Hands over the packets that are in order.
    func deliver(at now: Instant) {
        for index in tracks.indices {
            tracks[index].deliver(memory, at: now) { sink.receive($0, track: index, at: now) }
        }
    }

    func recordSenderReport(_ report: RTCPSenderReport, at now: Instant) {
        guard let index = tracks.firstIndex(where: { $0.ssrc == report.ssrc }) else { return }
        tracks[index].recordSenderReport(report, at: now)
        guard !tracks[index].awaitsDelivery else { return }
        sink.receiveSenderReport(
            track: index, ntp: report.ntp.rawValue, rtpTimestamp: report.rtpTimestamp, at: now)
    }

    func recordGoodbye(_ goodbye: RTCPGoodbye, at now: Instant) {
        for ssrc in goodbye {
            for track in tracks where track.ssrc == ssrc { track.recordGoodbye(at: now) }
        }
    }

    /// Whether every source that the publisher used has said goodbye (RFC 3550, section 6.6).
    var isOver: Bool {
        !tracks.isEmpty && tracks.allSatisfy { $0.saidGoodbye || !$0.statistics.hasReceived }
            && tracks.contains(where: \.saidGoodbye)
    }

    func requestKeyFrame(track: Int) {
        if tracks.indices.contains(track) { tracks[track].requestKeyFrame() }
    }

    /// Writes the report, the requests for packets and the requests for key frames that are due. Writes nothing if none
    /// are.
    func writeFeedback(into writer: inout ByteWriter, at now: Instant) {
        let isReportDue = nextReport.map { $0 <= now } ?? true
        if isReportDue {
            nextReport = now + Self.reportInterval
            writeReport(into: &writer, at: now)
            for index in tracks.indices {
                guard let last = tracks[index].lastPacket, now - last >= Self.reportInterval else { continue }
                sink.receiveNothing(track: index, since: last, at: now)
            }
        }
        for track in tracks where track.configuration.isVideo {
            track.takeRequests(at: now, into: &requests)
            let wantsKeyFrame = track.takeKeyFrameRequest(at: now)
            guard let media = track.ssrc, !requests.isEmpty || wantsKeyFrame else { continue }
            // Without reduced size a report must come first (RFC 4585, section 3.1).
            if writer.count == 0, !reducedSizeRTCP { writer.writeReceiverReport(ssrc: ssrc) }
            writer.writeNack(senderSSRC: ssrc, mediaSSRC: media, sequenceNumbers: requests.prefix(200))
            if wantsKeyFrame { writer.writePictureLossIndication(senderSSRC: ssrc, mediaSSRC: media) }
        }
    }

    private func writeReport(into writer: inout ByteWriter, at now: Instant) {
        blocks.removeAll(keepingCapacity: true)
        for track in tracks {
            if let block = track.makeReportBlock(at: now) { blocks.append(block) }
        }
        writer.writeReceiverReport(ssrc: ssrc, blocks: blocks)
        writer.writeSourceDescription(ssrc: ssrc, canonicalName: "gatehouse")
        let sources = tracks.filter(\.configuration.wantsEstimate).compactMap(\.ssrc)
        if !sources.isEmpty {
            writer.writeReceiverEstimatedMaximumBitrate(
                senderSSRC: ssrc, bitsPerSecond: Self.estimate, ssrcs: sources)
        }
    }

    /// Writes one report of arrival times if one is due; returns false if none was.
    func writeTransportFeedback(into writer: inout ByteWriter, at now: Instant) -> Bool {
        guard let due = feedback.nextDeadline, due <= now else { return false }
        return feedback.writeFeedback(
            senderSSRC: ssrc, mediaSSRC: tracks.lazy.compactMap(\.ssrc).first ?? 0, into: &writer)
    }

    /// When something has to be handed over or sent next.
    var nextDeadline: Instant? {
        var next = nextReport
        func consider(_ instant: Instant?) {
            guard let instant else { return }
            next = next.map { min($0, instant) } ?? instant
        }
        consider(feedback.nextDeadline)
        for track in tracks { consider(track.nextDeadline) }
        return next
    }
}
