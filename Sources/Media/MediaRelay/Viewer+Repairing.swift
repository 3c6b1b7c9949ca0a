import RTP
import Transport

/// Repairs that do not wait for a request, on a path that loses many packets.
///
/// Such a path loses requests too, and a browser that does not know the round trip repeats one only after 100 ms. The picture
/// freezes meanwhile. A frame that still misses a packet when the next key frame is complete is never shown. So the gateway
/// sends again what the transport-wide feedback reports as lost, retransmissions included. It sends the last packet of each
/// frame twice, because no packet follows that would show the gap. If the path back loses many packets too, it sends
/// everything twice.
extension Viewer {
    /// The most packets that one feedback message leads to.
    private static let mostPerFeedback = 128
    /// A packet is not sent again within this time, whatever the feedback says.
    private static let shortestPause = Duration.milliseconds(10)

    /// Reads which packets arrived, and sends the others again.
    func repair(_ report: TransportFeedback, through sender: inout MediaSender, at now: Instant) {
        feedback.lostNumbers.removeAll(keepingCapacity: true)
        line.noteFeedback(number: report.feedbackCount)
        for status in report {
            if status.arrival == nil {
                feedback.transportPackets.lost += 1
            } else {
                feedback.transportPackets.received += 1
            }
            guard line.repairsEarly, let packet = line.log.find(status.sequenceNumber) else { continue }
            if status.arrival != nil {
                if packet.isRetransmission { feedback.recentRetransmissions.noteArrived(packet.index) }
            } else if feedback.lostNumbers.count < Self.mostPerFeedback,
                packet.isRetransmission
                    ? feedback.recentRetransmissions.noteLost(packet.index)
                    : !feedback.recentRetransmissions.contains(packet.index)
            {
                feedback.lostNumbers.append(UInt16(truncatingIfNeeded: packet.index))
            }
        }
        guard !feedback.lostNumbers.isEmpty, let position = repairedEgress else { return }
        resend(feedback.lostNumbers, position, .missed(pause: Self.shortestPause), through: &sender, at: now)
    }

    /// The egress whose packets ``ViewerLine/log`` holds: the first video.
    var repairedEgress: Int? { egress.firstIndex { $0.configuration.isVideo } }

    /// Records a run that was sent.
    func noteSent(_ position: Int, _ progress: Progress, at now: Instant) {
        guard position == repairedEgress, progress.sent.packets > 0 else { return }
        let first = egress[position].nextIndex
        // With gaps among the camera's packets, the distance of two numbers is not the distance of their packets.
        guard first &+ progress.sent.packets == progress.nextIndex else { return }
        line.log.add(
            transport: progress.transportSequence &- UInt16(truncatingIfNeeded: progress.sent.packets),
            count: Int(clamping: progress.sent.packets), index: first, isRetransmission: false, at: now)
    }

    /// Sends packets a second time before they are missed. Call it when the viewer has everything up to the live edge;
    /// `first` is the index of the first packet that has just been sent.
    func repeatAsPrecaution(_ position: Int, from first: UInt64, through sender: inout MediaSender, at now: Instant) {
        let end = egress[position].nextIndex
        guard egress[position].configuration.isVideo, egress[position].configuration.retransmission != nil, end > first
        else { return }
        var numbers = max(first, end - min(end, UInt64(Self.mostPerFeedback)))..<end
        if !line.sendsTwice {
            let ring = egress[position].track.ring
            guard let newest = ring[ring.end - 1]?.batch.packets.last, newest.flags.contains(.marker) else { return }
            numbers = (end - 1)..<end
        }
        resend(
            numbers.lazy.map { UInt16(truncatingIfNeeded: $0) }, position, .precaution, through: &sender, at: now)
    }
}
