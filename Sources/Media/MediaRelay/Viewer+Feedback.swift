import RTP
import Transport

/// What a viewer has said of its reception.
///
/// The share of loss is that of one report, which is told and not acted upon. A browser sends a report with every request
/// for a packet, each about a few packets only, so that a line with a tenth of random loss often looks as if it lost half.
/// What is acted upon is in ``ViewerLine``.
struct FeedbackState {
    var keyFrameRequests: UInt64 = 0
    var fractionLost: Double = 0
    var roundTrip: Duration?
    /// The receiver's estimate of its line in bits a second, 0 while it has sent none.
    var estimatedBitrate: UInt64 = 0
    var recentRetransmissions = RecentRetransmissions()
    /// The sequence numbers that the transport feedback in hand tells to be lost: kept for its memory.
    var lostNumbers: [UInt16] = []
    /// When a key frame was last asked for because a loss could not be made good.
    var keyFrameForLossAt: Instant?
    /// The last full intra request's number (RFC 5104, section 4.3.1.2): a repetition is no new request.
    var lastIntraRequest: UInt8?
    var transportPackets: (received: UInt64, lost: UInt64) = (0, 0)
    var goodbye = false
}

extension Viewer {
    /// Takes the compound RTCP packet that stands in `bytes`.
    func receiveRTCP(
        _ bytes: UnsafeRawBufferPointer, through sender: inout MediaSender, limits: RelayLimits, at now: Instant
    ) {
        for packet in RTCPPackets(bytes) {
            switch packet {
            case .senderReport(let report, let blocks):
                talkback.noteSenderReport(report, at: now)
                ingest?.noteSenderReport(report, at: now)
                receive(blocks, at: now)
            case .receiverReport(_, let blocks):
                receive(blocks, at: now)
            case .nack(let nack):
                retransmit(nack, through: &sender, at: now)
            case .pictureLossIndication(_, let ssrc):
                keyFrameRequested(ssrc: ssrc, at: now)
            case .fullIntraRequest(let request):
                for entry in request where entry.sequenceNumber != feedback.lastIntraRequest {
                    feedback.lastIntraRequest = entry.sequenceNumber
                    keyFrameRequested(ssrc: entry.ssrc, at: now)
                }
            case .receiverEstimatedMaximumBitrate(let estimate):
                feedback.estimatedBitrate = estimate.bitsPerSecond
            case .transportFeedback(let report):
                repair(report, through: &sender, at: now)
            case .goodbye(let goodbye):
                ingest?.noteGoodbye(goodbye)
                // A browser says goodbye for a source, not for the connection: consent decides (RFC 7675).
                feedback.goodbye = true
            case .sourceDescription, .unknown, .malformed:
                break
            }
        }
    }

    private func keyFrameRequested(ssrc: UInt32, at now: Instant) {
        feedback.keyFrameRequests += 1
        for index in egress.indices where egress[index].configuration.ssrc == ssrc {
            egress[index].track.requestKeyFrame(at: now)
        }
    }

    private func receive(_ blocks: RTCPReportBlocks, at now: Instant) {
        for block in blocks {
            for index in egress.indices
            where egress[index].configuration.ssrc == block.ssrc && egress[index].configuration.isVideo {
                feedback.fractionLost = Double(block.fractionLost) / 256
                line.note(
                    block, bytesSent: egress[index].bytesSent,
                    streamRate: egress[index].track.recentBytes.busiestSecond, at: now)
                if let roundTrip = CompactTime.roundTripTime(
                    now: reports.ntp(at: now), lastSenderReport: block.lastSenderReport,
                    delaySinceLastSenderReport: block.delaySinceLastSenderReport)
                {
                    feedback.roundTrip = roundTrip
                }
            }
        }
    }
}
