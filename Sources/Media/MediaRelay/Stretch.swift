import PeerConnection
import RTP

/// The position of one egress, and how its next packet is numbered.
struct Progress {
    var cursor: TrackRing.Cursor
    var nextIndex: UInt64
    var transportSequence: UInt16
    var lastTimestamp: UInt32
    var sentWholeKeyFrame: Bool
    /// Whether the last packet was not the last one of its frame.
    var isInsideFrame: Bool
    /// How many packets may still be written.
    var budget: Int
    /// What is in the run.
    var sent: (packets: UInt64, bytes: UInt64) = (0, 0)

    /// The position of `egress`; nil while it waits for a key frame.
    @inline(__always)
    init?(_ egress: Egress, transportSequence: UInt16, budget: Int) {
        guard let cursor = egress.cursor else { return nil }
        self.cursor = cursor
        self.nextIndex = egress.nextIndex
        self.transportSequence = transportSequence
        self.lastTimestamp = egress.lastTimestamp
        self.sentWholeKeyFrame = egress.sentWholeKeyFrame
        self.isInsideFrame = egress.isInsideFrame
        self.budget = budget
    }
}

/// A stretch of a track on its way to one viewer: everything that stays the same from packet to packet.
///
/// It is copied out of the viewer once per call, so that the loop over the packets touches nothing that has to be
/// checked or counted each time.
struct Stretch {
    /// Why ``fill(_:from:for:)`` ended.
    enum Stop {
        case reachedEnd
        case runIsFull
        case usedBudget
        /// The next packet starts a frame that this viewer must not get.
        case reachedFrameToLeaveOut
        /// The next packet starts a frame of a backlog that no other frame needs.
        case reachedUnreferenced
    }

    private let ring: TrackRing
    private let epoch: EgressEpoch
    private let header: EgressHeader
    /// A packet with all of these flags ends the stretch.
    private let stop: PacketBatch.Flags

    /// What `egress` sends; nil before its first start.
    @inline(__always)
    init?(_ egress: Egress, skipsUnreferenced: Bool) {
        guard let epoch = egress.epoch else { return nil }
        self.epoch = epoch
        ring = egress.track.ring
        header = egress.header
        // No packet has all flags that there are.
        stop =
            egress.skipsAtNextFrame
            ? .startsFrame : skipsUnreferenced ? [.startsFrame, .unreferenced] : PacketBatch.Flags(rawValue: .max)
    }

    /// Whether the packets have a transport-wide sequence number.
    @inline(__always)
    var isNumbered: Bool { header.isNumbered }

    /// The hot loop: writes header and ciphertext straight into the send buffer.
    @inline(__always)
    func fill(_ run: inout SegmentRun, from progress: inout Progress, for peer: inout PeerConnection) -> Stop {
        let tagLength = peer.overhead
        let step: UInt16 = header.isNumbered ? 1 : 0
        while let entry = ring[progress.cursor.entry] {
            let packets = entry.batch.packets
            let firstNumber = packets.first?.sequenceNumber ?? 0
            while progress.cursor.packet < packets.count {
                let packet = packets[progress.cursor.packet]
                if packet.flags.contains(stop) {
                    return stop == .startsFrame ? .reachedFrameToLeaveOut : .reachedUnreferenced
                }
                if progress.budget == 0 { return .usedBudget }
                // A packet that does not even fit an empty run is skipped below.
                let headerLength = header.length(of: packet.flags)
                if run.segments > 0, !run.accepts(headerLength + tagLength + Int(packet.length)) { return .runIsFull }
                let index = epoch.index(
                    of: entry.firstSequence &+ Int64(packet.sequenceNumber &- firstNumber))
                let timestamp = epoch.timestamp(of: packet.timestamp &+ entry.timestampOffset)
                let output = run.free
                header.write(
                    flags: packet.flags, index: index, timestamp: timestamp,
                    transportSequence: progress.transportSequence, into: output)
                let written = peer.protectRTP(
                    headerLength: headerLength, payload: entry.batch.payload(of: packet), output: output, index: index)
                if written > 0 {
                    run.add(written)
                    progress.sent.packets &+= 1
                    progress.sent.bytes &+= UInt64(packet.length)
                    progress.transportSequence &+= step
                    progress.nextIndex = index &+ 1
                    progress.lastTimestamp = timestamp
                    progress.isInsideFrame = !packet.flags.contains(.marker)
                    if packet.flags.contains([.keyFrame, .marker]) { progress.sentWholeKeyFrame = true }
                }
                progress.budget &-= 1
                progress.cursor.packet &+= 1
            }
            progress.cursor = TrackRing.Cursor(entry: progress.cursor.entry + 1, packet: 0)
        }
        return .reachedEnd
    }
}
