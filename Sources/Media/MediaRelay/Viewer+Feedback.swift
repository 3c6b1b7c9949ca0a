import Congestion
import RTP
import Transport

/// What a viewer has reported about its reception.
///
/// The share of loss is that of one report. It is shown and not acted upon: a browser sends a report with every request
/// for a packet, each about only a few packets, so a path with a tenth of random loss often looks as if it lost half.
/// ``ViewerLine`` holds what the gateway acts upon.
struct FeedbackState {
    /// The most packets that the requests of one datagram are looked for. Chromium asks for 1,000 at most; a datagram has room
    /// for six times as many.
    static let mostRequests = 1_024

    var keyFrameRequests: UInt64 = 0
    /// How often a key frame was sent again, with all that followed it.
    var keyFramesReplayed: UInt64 = 0
    var fractionLost: Double = 0
    /// When the viewer last reported a loss, in whichever way.
    var lossReportedAt: Instant?
    var roundTrip: Duration?
    var recentRetransmissions = RecentRetransmissions()
    /// The sequence numbers that the current request names; kept to reuse the memory.
    var requested: [UInt16] = []
    /// How many requested packets are still looked for before the next datagram.
    var requestsLeft = 0
    /// The sequence numbers that the current transport feedback reports as lost; kept to reuse the memory.
    var lostNumbers: [UInt16] = []
    /// What the present run of repairs holds; kept to reuse the memory.
    var unsent: [UnsentRepair] = []
    /// Until when no repair is tried, because the socket has accepted none.
    var repairsBlockedUntil = Instant.zero
    /// When a key frame was last requested because a loss could not be repaired.
    var keyFrameForLossAt: Instant?
    /// The number of the last full intra request (RFC 5104, section 4.3.1.2): a repetition is not a new request.
    var lastIntraRequest: UInt8?
    var transportPackets: (received: UInt64, lost: UInt64) = (0, 0)
    var goodbye = false

    /// Whether the socket has just accepted no repair.
    func repairsAreBlocked(at now: Instant) -> Bool { now < repairsBlockedUntil }
}

extension Viewer {
    /// Reads what a compound RTCP packet says of the viewer's reception and of its microphone.
    func receiveFeedback(_ bytes: UnsafeRawBufferPointer, through sender: inout MediaSender, at now: Instant) {
        feedback.requestsLeft = FeedbackState.mostRequests
        var hasFeedback = false
        for packet in RTCPPackets(bytes) {
            switch packet {
            case .senderReport(let report, let blocks):
                talkback.recordSenderReport(report, at: now)
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
                line.recordReceiverEstimate(estimate.bitsPerSecond, demand: demand, at: now)
            case .transportFeedback(let report):
                hasFeedback = true
                repair(report, through: &sender, at: now)
            case .goodbye:
                // A browser's goodbye is for a source, not for the connection; consent decides about that (RFC 7675).
                feedback.goodbye = true
            case .sourceDescription, .unknown, .malformed:
                break
            }
        }
        if hasFeedback { endFeedback(at: now) }
    }

    private func keyFrameRequested(ssrc: UInt32, at now: Instant) {
        feedback.keyFrameRequests += 1
        for index in egress.indices where egress[index].configuration.ssrc == ssrc {
            egress[index].track.requestKeyFrame(at: now)
            expectReplay(index, at: now)
        }
    }

    private func receive(_ blocks: RTCPReportBlocks, at now: Instant) {
        for block in blocks {
            for index in egress.indices where egress[index].configuration.ssrc == block.ssrc {
                line.estimator.recordPartialReport(at: now)
                guard egress[index].configuration.isVideo else { continue }
                feedback.fractionLost = Double(block.fractionLost) / 256
                if block.fractionLost > 0 { feedback.lossReportedAt = now }
                let wasLimited = line.isLimited
                line.record(block, traffic(at: now), at: now)
                recordLimitChange(from: wasLimited, at: now)
                chooseStream(at: now)
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
