import RTP
import Transport

/// How much of a stream is lost on the way to one viewer, by the totals of its receiver reports.
///
/// A browser sends a report with every request for a packet, each about a few packets only. So the share that each report
/// names says little, while the totals, which outlive lost reports too, are compared over a second and two hundred
/// packets at least.
struct LossMeter {
    /// One measurement.
    struct Window: Equatable {
        /// The share of packets lost, 0 to 1.
        var share: Double
        /// How long the window was.
        var duration: Duration
    }

    private static let leastDuration = Duration.seconds(1)
    private static let leastPackets: Int32 = 200
    /// More than this at once is no count that goes on: the receiver has begun again, or makes it up.
    private static let mostPackets: Int32 = 100_000

    private var begin: (highest: UInt32, lost: Int32, at: Instant)?

    /// Takes a report in; answers a measurement when a window is complete.
    mutating func note(_ block: RTCPReportBlock, at now: Instant) -> Window? {
        let next = (block.extendedHighestSequenceNumber, block.cumulativeLost, now)
        guard let begin else {
            self.begin = next
            return nil
        }
        let expected = Int32(bitPattern: block.extendedHighestSequenceNumber &- begin.highest)
        guard expected >= 0, expected <= Self.mostPackets else {
            self.begin = next
            return nil
        }
        let duration = now - begin.at
        guard duration >= Self.leastDuration, expected >= Self.leastPackets else { return nil }
        self.begin = next
        // Packets that arrive twice count against those lost.
        let lost = min(max(block.cumulativeLost &- begin.lost, 0), expected)
        return Window(share: Double(lost) / Double(expected), duration: duration)
    }
}
