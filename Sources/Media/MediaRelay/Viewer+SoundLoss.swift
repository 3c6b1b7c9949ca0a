import RTP
import Transport

/// A sound that the gateway makes for its viewers can carry redundancy, as much as the worst of their paths needs. So the
/// maker learns what its viewers lose.
extension Viewer {
    /// Reads what the viewer reports of its sound. It costs nothing to viewers of a camera's own sound.
    func recordSoundLoss(in bytes: UnsafeRawBufferPointer, at now: Instant) {
        guard
            let index = egress.firstIndex(where: {
                !$0.configuration.isVideo && $0.track.reportLoss != nil
            }), let report = egress[index].track.reportLoss
        else { return }
        let ssrc = egress[index].configuration.ssrc
        for packet in RTCPPackets(bytes) {
            let blocks: RTCPReportBlocks
            switch packet {
            case .senderReport(_, let found), .receiverReport(_, let found): blocks = found
            default: continue
            }
            for block in blocks where block.ssrc == ssrc {
                if let window = soundLoss.record(block, at: now) { report(window.share, now) }
            }
        }
    }
}
