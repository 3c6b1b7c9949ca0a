import RTP
import Transport

/// How a stretch of a track is renumbered for one viewer.
///
/// Within an epoch the viewer's numbers follow the track's by a constant, so a packet sent again is the same to the
/// bit, and a lost sequence number leads back to its place in the ring by a subtraction. Leaving out frames starts
/// another epoch without a gap in the viewer's numbers.
struct EgressEpoch {
    /// The track's sequence number at which the epoch starts.
    var trackSequence: Int64
    /// The viewer's packet index (rollover counter and sequence number) of that packet.
    var index: UInt64
    /// The track's timestamp at which the viewer joined the live edge.
    var liveTimestamp: UInt32
    /// How many ticks of backlog there were before it.
    var backlogTicks: UInt32
    /// The viewer's timestamp is the track's plus this.
    var timestampOffset: UInt32
    /// When the epoch began: what was in the ring by then went out from that moment on.
    var startedAt: Instant

    /// The backlog is given timestamps so close together that a player shows its end at once, instead of playing it
    /// from its start (a delay as long as the group of pictures) or visibly running through it: 3,000 ticks of 90 kHz
    /// are two pictures at 60 Hz.
    static let compressedTicks: UInt32 = 3_000

    /// How many ticks the backlog may take: ``compressedTicks``, or less where the viewer has been shown later ones.
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
        // In the upper half the difference is negative: the packet is newer than the live edge at the join.
        guard backlogTicks > room, behind < 0x8000_0000 else { return timestamp &+ timestampOffset }
        let compressed = UInt64(min(behind, backlogTicks)) * UInt64(room) / UInt64(backlogTicks)
        return liveTimestamp &- UInt32(truncatingIfNeeded: compressed) &+ timestampOffset
    }
}
