import RTP
import Transport

/// How a stretch of a track is renumbered for one viewer.
///
/// Within an epoch the viewer's numbers differ from the track's by a constant. So a retransmission is identical to the
/// bit, and a subtraction leads from a lost sequence number to its place in the ring. Skipping frames starts another
/// epoch without a gap in the viewer's numbers.
struct EgressEpoch {
    /// The track's sequence number at which the epoch starts.
    var trackSequence: Int64
    /// The viewer's packet index (rollover counter and sequence number) of that packet.
    var index: UInt64
    /// The track's timestamp at which the viewer joined the live edge.
    var liveTimestamp: UInt32
    /// How many ticks of backlog came before it.
    var backlogTicks: UInt32
    /// The viewer's timestamp is the track's plus this.
    var timestampOffset: UInt32
    /// When the epoch began. Everything that was in the ring by then was sent from that moment on.
    var startedAt: Instant

    /// The backlog gets timestamps so close together that a player shows its end at once. Otherwise a player would play
    /// it from its start (a delay as long as the group of pictures) or visibly race through it. 3,000 ticks of 90 kHz
    /// are two pictures at 60 Hz.
    static let compressedTicks: UInt32 = 3_000

    /// How many ticks the backlog may span: ``compressedTicks``, or fewer if the viewer has already seen later ones.
    var room = compressedTicks

    /// The packet index of the packet with the track's sequence number `sequence`.
    @inline(__always)
    func index(of sequence: Int64) -> UInt64 {
        index &+ UInt64(bitPattern: sequence &- trackSequence)
    }

    /// The viewer's timestamp for the track's `timestamp`.
    @inline(__always)
    func timestamp(of timestamp: UInt32) -> UInt32 {
        let behind = liveTimestamp &- timestamp
        // In the upper half the difference is negative: the packet is newer than the live edge was at the join.
        guard backlogTicks > room, behind < 0x8000_0000 else { return timestamp &+ timestampOffset }
        let compressed = UInt64(min(behind, backlogTicks)) * UInt64(room) / UInt64(backlogTicks)
        return liveTimestamp &- UInt32(truncatingIfNeeded: compressed) &+ timestampOffset
    }
}
