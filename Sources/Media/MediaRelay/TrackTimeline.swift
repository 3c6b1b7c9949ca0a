import RTP
import Transport

/// Makes one endless line of sequence numbers and timestamps from a source that may restart.
///
/// A camera that reboots starts at another sequence number and timestamp. Viewers stay, and RFC 3550 gives them no way
/// to distinguish a restart from loss. So the track's own numbers continue: the first packet after a restart follows
/// the last one before it, and its timestamp is later by the time that passed.
struct TrackTimeline {
    /// The place of a batch on the track's timeline.
    struct Placement {
        /// The track's sequence number of the first packet, counted without wrapping.
        var firstSequence: Int64
        /// What to add to a source timestamp to get the track's.
        var timestampOffset: UInt32
    }

    /// The RTP clock rate in hertz.
    let clockRate: Int

    private var offset: Int64 = 0
    private var unwrapped: Int64?
    private var timestampOffset: UInt32 = 0
    private var restartPending = false
    private var lastArrival: Instant = .zero
    /// The sequence number after the newest packet.
    private(set) var nextSequence: Int64 = 0
    /// The newest packet's timestamp on the track's timeline.
    private(set) var newestTimestamp: UInt32 = 0

    init(clockRate: Int) {
        self.clockRate = max(clockRate, 1)
    }

    /// Announces that the next batch comes from a source that has restarted.
    mutating func recordRestart() {
        restartPending = unwrapped != nil
    }

    /// Finds the place of a batch, which must contain at least one packet.
    ///
    /// Sources number what they send, so a number that does not rise is their fault. Such a batch has no place: two
    /// packets with one number would be two texts under one key stream (RFC 3711, section 9.1).
    mutating func place(_ batch: PacketBatch) -> Placement? {
        guard let first = batch.packets.first, let last = batch.packets.last else { return nil }
        let sequence: Int64
        var isNewLine = unwrapped == nil
        if let previous = unwrapped {
            // The nearest number to the previous one that has these low 16 bits (RFC 3550, appendix A.1).
            let step = Int64(Int16(bitPattern: first.sequenceNumber &- UInt16(truncatingIfNeeded: previous)))
            sequence = previous + step
            if !restartPending, abs(step) > 3000 {
                // A jump that no loss explains is a restart that the source has not reported.
                restartPending = true
            }
            guard restartPending || step > 0 else { return nil }
            if restartPending {
                isNewLine = true
                offset = nextSequence - sequence
                let elapsed = max((batch.arrival - lastArrival).inSeconds, 0.001)
                let ticks = UInt32(truncatingIfNeeded: Int64(min(elapsed, 3600) * Double(clockRate)))
                timestampOffset = newestTimestamp &+ max(ticks, 1) &- first.timestamp
            }
        } else {
            sequence = Int64(first.sequenceNumber)
            offset = -sequence
        }
        restartPending = false
        let span = Int64(last.sequenceNumber &- first.sequenceNumber)
        let placement = Placement(firstSequence: sequence + offset, timestampOffset: timestampOffset)
        let end = sequence + span
        // After a restart the source's own numbers may be smaller than before.
        if isNewLine || end > (unwrapped ?? .min) {
            unwrapped = end
            nextSequence = end + offset + 1
            newestTimestamp = last.timestamp &+ timestampOffset
            lastArrival = batch.arrival
        }
        return placement
    }
}
