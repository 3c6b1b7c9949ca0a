import RTP
import Transport

/// How much of a stream is lost on the path to one viewer, by the totals of its receiver reports.
///
/// A browser sends a report with every request for a packet, and each report covers only a few packets. So the share in one
/// report says little. The totals survive lost reports too. The meter compares them over at least a second and 200 packets.
struct LossMeter {
    /// One measurement.
    struct Window: Equatable {
        /// The share of packets lost, 0 to 1.
        var share: Double
        /// The packets that the receiver expected, and those that it lost.
        var packets: Int
        var lost: Int
        /// How long the window was.
        var duration: Duration
    }

    private static let leastDuration = Duration.seconds(1)
    /// While few packets are sent, fewer have to do.
    private static let leastPackets: (usual: Int32, limited: Int32) = (200, 60)
    /// A larger step is not a continued count: the receiver has restarted, or its report is made up.
    private static let mostPackets: Int32 = 100_000

    private var begin: (highest: UInt32, lost: Int32, at: Instant)?

    /// Reads a report. Returns a measurement when a window is complete.
    /// - Parameter isLimited: whether less than everything is sent.
    mutating func record(_ block: RTCPReportBlock, isLimited: Bool = false, at now: Instant) -> Window? {
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
        guard duration >= Self.leastDuration,
            expected >= (isLimited ? Self.leastPackets.limited : Self.leastPackets.usual)
        else { return nil }
        self.begin = next
        // Packets that arrive twice reduce the count of lost ones.
        let lost = min(max(block.cumulativeLost &- begin.lost, 0), expected)
        return Window(
            share: Double(lost) / Double(expected), packets: Int(expected), lost: Int(lost), duration: duration)
    }
}
