import Congestion
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
        let lostBefore = feedback.transportPackets.lost
        line.recordFeedback(number: report.feedbackCount)
        for span in report.spans {
            switch span {
            case .arrived(let number, let arrival):
                guard let packet = log.takeArrival(of: number) else { continue }
                line.estimator.recordArrival(of: packet, at: arrival)
                feedback.transportPackets.received += 1
                if packet.wasMissing { feedback.transportPackets.lost -= 1 }
                if packet.kind == .retransmission, let index = packet.index {
                    feedback.recentRetransmissions.recordArrived(index)
                }
            case .missing(let first, let count):
                for number in log.takeMissing(from: first, count: count) { recordMissing(number) }
            }
        }
        if feedback.transportPackets.lost > lostBefore { feedback.lossReportedAt = now }
        guard !feedback.lostNumbers.isEmpty, let position = repairedEgress else { return }
        resend(feedback.lostNumbers, position, .missed(pause: Self.shortestPause), through: &sender, at: now)
    }

    /// A packet is reported missing for the first time.
    private func recordMissing(_ number: UInt64) {
        guard let packet = log.recordMissing(number) else { return }
        feedback.transportPackets.lost += 1
        line.estimator.recordMissing(packet)
        if packet.kind == .picture, let index = packet.index, let position = repairedEgress {
            recordPlacement(of: index, position, sentAt: packet.sentAt)
        }
        guard line.repairsEarly, feedback.lostNumbers.count < Self.mostPerFeedback, let index = packet.index else {
            return
        }
        let isLost =
            switch packet.kind {
            case .picture: !feedback.recentRetransmissions.contains(index)
            case .retransmission: feedback.recentRetransmissions.recordLost(index)
            case .sound, .probe: false
            }
        if isLost { feedback.lostNumbers.append(UInt16(truncatingIfNeeded: index)) }
    }

    /// The egress whose losses are repaired before a request comes: the first video.
    var repairedEgress: Int? { egress.firstIndex { $0.configuration.isVideo } }

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
