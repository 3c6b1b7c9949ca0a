import PeerConnection
import RTP
import Transport

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

extension Egress {
    /// The index of the first packet that has just been sent; nil if the distance of two numbers is not that of their
    /// packets, because the camera's have gaps.
    @inline(__always)
    func firstIndex(of progress: Progress) -> UInt64? {
        nextIndex &+ progress.sent.packets == progress.nextIndex ? nextIndex : nil
    }

    /// Records what has been sent.
    @inline(__always)
    mutating func settle(_ progress: Progress) {
        cursor = progress.cursor
        nextIndex = progress.nextIndex
        lastTimestamp = progress.lastTimestamp
        sentWholeKeyFrame = progress.sentWholeKeyFrame
        isInsideFrame = progress.isInsideFrame
        packetsSent &+= progress.sent.packets
        bytesSent &+= progress.sent.bytes
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

/// Writes the RTP headers of one stream to one viewer (RFC 3550, section 5.1; the extensions by RFC 8285, section 4.2).
///
/// All packets of a frame have headers of the same length, so that they can share one send.
struct EgressHeader: BitwiseCopyable {
    private let payloadType: UInt8
    private let ssrc: UInt32
    private let transportSequenceExtension: UInt8?
    /// The extension element that key frames carry; zero for none.
    private let playoutDelay: UInt32

    init(payloadType: UInt8, ssrc: UInt32, transportSequenceExtension: UInt8?, playoutDelayExtension: UInt8?) {
        self.payloadType = payloadType & 0x7F
        self.ssrc = ssrc
        self.transportSequenceExtension = transportSequenceExtension
        playoutDelay = playoutDelayExtension.map(PlayoutDelay.element) ?? 0
    }

    /// Whether the packets have a transport-wide sequence number.
    @inline(__always)
    var isNumbered: Bool { transportSequenceExtension != nil }

    /// Whether a packet with these flags has the playout delay (see ``PlayoutDelay``).
    @inline(__always)
    private func hasPlayoutDelay(_ flags: PacketBatch.Flags) -> Bool {
        playoutDelay != 0 && flags.contains(.keyFrame)
    }

    /// The length in bytes of the header of a packet with these flags.
    @inline(__always)
    func length(of flags: PacketBatch.Flags) -> Int {
        let words = (isNumbered ? 1 : 0) + (hasPlayoutDelay(flags) ? 1 : 0)
        return words == 0 ? 12 : 16 + 4 * words
    }

    /// Writes the header of the packet with this index and these flags into `output`, which must have room for
    /// ``length(of:)`` bytes.
    @inline(__always)
    func write(
        flags: PacketBatch.Flags, index: UInt64, timestamp: UInt32, transportSequence: UInt16,
        into output: UnsafeMutableRawBufferPointer
    ) {
        let hasPlayoutDelay = hasPlayoutDelay(flags)
        output[0] = isNumbered || hasPlayoutDelay ? 0x90 : 0x80
        output[1] = payloadType | (flags.contains(.marker) ? 0x80 : 0)
        output.storeBytes(of: UInt16(truncatingIfNeeded: index).bigEndian, toByteOffset: 2, as: UInt16.self)
        output.storeBytes(of: timestamp.bigEndian, toByteOffset: 4, as: UInt32.self)
        output.storeBytes(of: ssrc.bigEndian, toByteOffset: 8, as: UInt32.self)
        if let identifier = transportSequenceExtension {
            let element = UInt32(identifier) << 28 | 1 << 24 | UInt32(transportSequence) << 8
            if hasPlayoutDelay {
                output.storeBytes(of: UInt32(0xBEDE_0002).bigEndian, toByteOffset: 12, as: UInt32.self)
                // Three bytes, four bytes, and one of padding.
                let elements = UInt64(element) << 32 | UInt64(playoutDelay) << 8
                output.storeBytes(of: elements.bigEndian, toByteOffset: 16, as: UInt64.self)
            } else {
                output.storeBytes(of: UInt32(0xBEDE_0001).bigEndian, toByteOffset: 12, as: UInt32.self)
                output.storeBytes(of: element.bigEndian, toByteOffset: 16, as: UInt32.self)
            }
        } else if hasPlayoutDelay {
            output.storeBytes(of: UInt32(0xBEDE_0001).bigEndian, toByteOffset: 12, as: UInt32.self)
            output.storeBytes(of: playoutDelay.bigEndian, toByteOffset: 16, as: UInt32.self)
        }
    }
}
