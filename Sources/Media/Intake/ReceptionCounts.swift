import RTP
import Transport

/// What a receiver report says about one track (RFC 3550, section 6.4).
///
/// Jitter is left at zero: over TCP it would measure the connection's retransmissions, not the camera.
struct ReceptionCounts {
    private(set) var packets: UInt64 = 0
    private var lost: Int32 = 0
    private var cycles: UInt32 = 0
    private var highest: UInt16 = 0
    private var packetsAtReport: UInt64 = 0
    private var lostAtReport: Int32 = 0
    private var lastSenderReport: (middle: UInt32, arrival: Instant)?

    /// Counts a packet.
    mutating func count(_ arrival: MediaTimeline.Arrival, sequenceNumber: UInt16) {
        packets &+= 1
        switch arrival {
        case .outdated: return
        case .afterGap(let missing): lost = min(lost &+ Int32(truncatingIfNeeded: missing), 0x7F_FFFF)
        case .restarted: cycles = 0
        case .inOrder: break
        }
        if arrival != .restarted, sequenceNumber < highest { cycles &+= 0x1_0000 }
        highest = sequenceNumber
    }

    /// Records a sender report.
    mutating func note(_ ntp: NTPTimestamp, at now: Instant) {
        lastSenderReport = (ntp.middle, now)
    }

    /// The block for the next report.
    mutating func block(ssrc: UInt32, at now: Instant) -> RTCPReportBlock {
        let received = packets - packetsAtReport
        let missing = UInt64(max(0, lost - lostAtReport))
        let fraction = missing == 0 ? 0 : min(255, missing * 256 / (received + missing))
        packetsAtReport = packets
        lostAtReport = lost
        return RTCPReportBlock(
            ssrc: ssrc, fractionLost: UInt8(fraction), cumulativeLost: lost,
            extendedHighestSequenceNumber: cycles | UInt32(highest), jitter: 0,
            lastSenderReport: lastSenderReport?.middle ?? 0,
            delaySinceLastSenderReport: lastSenderReport.map { CompactTime.units(now - $0.arrival) } ?? 0)
    }
}
