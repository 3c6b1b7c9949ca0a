import Codecs
import RTP
import SDP
import Transport

/// Turns one track's RTP packets into batches: numbers that continue without a jump, flags for the beginning of frames
/// and for where decoding can start, payloads that fit a viewer's datagram, and the parameter sets where the camera
/// leaves them out.
///
/// It outlives a connection, so a reconnection is a pause on the same timeline.
package struct IncomingTrack: ~Copyable {
    /// What the packets hold.
    package enum Format: Equatable, Sendable {
        case h264, h265, vp8, vp9, av1, jpeg
        /// Sound in which every tick of the clock has its own bytes (G.711, G.722, linear), so it can be cut between
        /// any two ticks.
        case samples(bytesPerTick: Int)
        /// A packet is passed on as it came, with a timestamp on the grid of its packets.
        case opus
        /// Other sound: a packet is passed on as it came.
        case sound

        package init?(_ codec: MediaCodec) {
            switch codec.name.lowercased() {
            case "h264": self = .h264
            case "h265": self = .h265
            case "vp8": self = .vp8
            case "vp9": self = .vp9
            case "av1": self = .av1
            case "jpeg": self = .jpeg
            case "pcmu", "pcma": self = .samples(bytesPerTick: codec.channels)
            // Two samples at 16 kHz per byte, on a clock of 8 kHz (RFC 3551, section 4.5.2).
            case "g722": self = .samples(bytesPerTick: codec.channels)
            case "l16", "pcm": self = .samples(bytesPerTick: 2 * codec.channels)
            case "opus": self = .opus
            case "mpeg4-generic", "mp4a-latm": self = .sound
            case let name where G726(named: name) != nil: self = .sound
            default: return nil
            }
        }

        var isVideo: Bool {
            switch self {
            case .h264, .h265, .vp8, .vp9, .av1, .jpeg: true
            case .samples, .opus, .sound: false
            }
        }

        var marking: Refragmenter.Marking {
            switch self {
            case .vp8: .vp8
            case .vp9: .vp9
            case .h265: .h265FragmentationUnit
            default: .fragmentationUnit
            }
        }
    }

    /// What a track's packets hold, as its camera or its publisher describes them.
    package struct Description: Sendable {
        /// What the packets hold.
        package var format: Format
        /// Ticks of the packets' timestamps per second.
        package var clockRate: Int
        /// The payload type of the packets, 0 to 127.
        package var payloadType: UInt8
        /// Whether the payload type was guessed, so that the first packet's type counts instead.
        package var hasUncertainPayloadType: Bool
        /// The parameter sets of H.264 or H.265 in the description, without start codes.
        package var parameterSets: [[UInt8]]

        /// Describes a track.
        package init(
            format: Format, clockRate: Int, payloadType: UInt8, hasUncertainPayloadType: Bool = false,
            parameterSets: [[UInt8]] = []
        ) {
            self.format = format
            self.clockRate = clockRate
            self.payloadType = payloadType
            self.hasUncertainPayloadType = hasUncertainPayloadType
            self.parameterSets = parameterSets
        }
    }

    /// The frame that the current packets belong to.
    package struct Frame {
        var timestamp: UInt32
        var hasStarted = false
        package var isKeyFrame = false
        var hasVideoParameterSet = false
        var hasSequenceParameterSet = false
        var hasPictureParameterSet = false
        var hasSlice = false
        /// Whether no other frame needs it, as far as its units have shown.
        var isUnreferenced = false
    }

    package let format: Format
    package private(set) var payloadType: UInt8
    private var acceptsAnyPayloadType: Bool
    package private(set) var timeline: MediaTimeline
    private(set) var reception = ReceptionCounts()
    private var pool = PacketBatchPool()
    package internal(set) var frame: Frame?
    /// When the packets of an incomplete frame have to be handed out; nil when none wait.
    package private(set) var gatheringEnds: Instant?
    var parameterSets: H264ParameterSets
    var h265ParameterSets: H265ParameterSets
    package internal(set) var reordering = ReorderingDetector()
    var refragmenter: Refragmenter
    var held = HeldUnits()
    var joined = JoinedFragments()
    private var opusGrid = OpusGrid()
    let limit: Int
    /// Packets that could not be read, or that have another payload type or a mode that browsers do not accept.
    private(set) var unusablePackets: UInt64 = 0
    /// Where the batches go. It changes when the source reports its tracks again.
    package var inlet: any PacketInlet

    /// A track that hands its batches to `inlet`. `limit` is the longest payload in bytes.
    package init(
        _ track: Description, firstSequenceNumber: UInt16,
        limit: Int = PayloadLimit.everyPath, inlet: any PacketInlet
    ) {
        self.init(starting: track, firstSequenceNumber: firstSequenceNumber, limit: limit, inlet: inlet)
        recordParameterSets()
    }

    // Swift 6.2 permits no mutating call in an init that gives constants their values.
    private init(starting track: Description, firstSequenceNumber: UInt16, limit: Int, inlet: any PacketInlet) {
        format = track.format
        self.limit = max(64, limit)
        self.inlet = inlet
        payloadType = track.payloadType
        acceptsAnyPayloadType = track.hasUncertainPayloadType
        timeline = MediaTimeline(
            clockRate: track.clockRate, firstSequenceNumber: firstSequenceNumber)
        parameterSets = H264ParameterSets(format == .h264 ? track.parameterSets : [])
        h265ParameterSets = H265ParameterSets(format == .h265 ? track.parameterSets : [])
        refragmenter = Refragmenter(limit: self.limit, marking: format.marking)
    }

    /// Restarts after a reconnection; the camera now describes the track as `track`.
    package mutating func restart(_ track: Description, at now: Instant) {
        flush(at: now)
        timeline.restart()
        reception = ReceptionCounts()
        payloadType = track.payloadType
        acceptsAnyPayloadType = track.hasUncertainPayloadType
        if !track.parameterSets.isEmpty {
            if format == .h264 { parameterSets = H264ParameterSets(track.parameterSets) }
            if format == .h265 { h265ParameterSets = H265ParameterSets(track.parameterSets) }
        }
        // The camera's settings may have changed in between.
        reordering = ReorderingDetector()
        recordParameterSets()
        forgetFrame()
    }

    /// Receives one packet. Returns whether it carried media of this track.
    @discardableResult
    package mutating func receive(_ bytes: UnsafeRawBufferPointer, at now: Instant) -> Bool {
        guard let packet = try? RTPPacketView(parsing: bytes), !packet.payload.isEmpty else {
            unusablePackets &+= 1
            return false
        }
        if packet.payloadType != payloadType {
            guard acceptsAnyPayloadType else {
                unusablePackets &+= 1
                return false
            }
            payloadType = packet.payloadType
        }
        acceptsAnyPayloadType = false
        let arrival = timeline.accept(
            ssrc: packet.ssrc, sequenceNumber: packet.sequenceNumber, timestamp: packet.timestamp, at: now)
        reception.count(arrival, sequenceNumber: packet.sequenceNumber)
        switch arrival {
        case .inOrder: break
        case .outdated: return true
        case .afterGap:
            refragmenter.cancel()
            joined.lose()
        case .restarted: forgetFrame()
        }
        var timestamp = timeline.outgoing(packet.timestamp)
        if format == .opus { timestamp = opusGrid.place(timestamp, packet.payload) }
        if frame?.timestamp != timestamp { beginFrame(timestamp, at: now) }
        switch format {
        case .h264: receiveH264(packet.payload, marker: packet.marker)
        case .h265: receiveH265(packet.payload, marker: packet.marker)
        case .vp8: receiveVP8(packet.payload, marker: packet.marker)
        case .vp9: receiveVP9(packet.payload, marker: packet.marker)
        case .av1: receiveAV1(packet.payload, marker: packet.marker)
        case .jpeg: receiveJPEG(packet.payload, marker: packet.marker)
        case .samples(let bytesPerTick):
            receiveSamples(packet.payload, bytesPerTick: bytesPerTick, marker: packet.marker)
        case .opus, .sound: emit(packet.payload, marker: packet.marker)
        }
        // A frame is complete with its marker; each packet of sound is a frame by itself.
        if packet.marker || !format.isVideo { flush(at: now) }
        return true
    }

    /// Hands out the collected packets.
    package mutating func flush(at now: Instant) {
        gatheringEnds = nil
        if let batch = pool.finish(arrival: now) { inlet.deliver(batch) }
    }

    /// The socket is drained, and the frame may be incomplete. Its packets wait for the rest for a moment: nothing can be
    /// decoded before the rest is there, and each batch costs a wake-up of every shard and a send to every viewer. A
    /// large frame is handed out in parts, so that it need not cross the camera's path as a whole before it can leave.
    package mutating func flushUnlessGathering(at now: Instant) {
        guard !pool.isEmpty else { return }
        let ends = gatheringEnds ?? now + Self.gatheringTime
        gatheringEnds = ends
        if now >= ends || pool.waitingByteCount >= Self.gatheringLimit { flush(at: now) }
    }

    /// How long the packets of an incomplete frame wait for the rest.
    private static let gatheringTime = Duration.milliseconds(2)
    /// How many bytes of an incomplete frame wait for the rest: a run of datagrams that one call sends.
    private static let gatheringLimit = 16 * 1024

    private mutating func forgetFrame() {
        frame = nil
        held.removeAll()
        refragmenter.cancel()
        joined.end()
    }

    private mutating func beginFrame(_ timestamp: UInt32, at now: Instant) {
        finishUnit()
        flush(at: now)
        if format.isVideo, let frame { reordering.record(timestamp, after: frame.timestamp) }
        forgetFrame()
        frame = Frame(timestamp: timestamp)
    }

    // MARK: Formats

    /// The end of a unit was lost or is not marked: the waiting part goes out with its own frame.
    mutating func finishUnit() {
        if joined.state != .none { finishJoinedFragments() }
        guard refragmenter.isActive else { return }
        refragment(UnsafeRawBufferPointer(start: nil, count: 0), isLast: true, marker: false)
    }

    /// Cuts sound that does not fit, between two samples.
    private mutating func receiveSamples(_ payload: UnsafeRawBufferPointer, bytesPerTick: Int, marker: Bool) {
        var offset = 0
        let first = frame?.timestamp ?? 0
        let size = max(1, limit / max(1, bytesPerTick)) * max(1, bytesPerTick)
        while offset < payload.count {
            let count = min(size, payload.count - offset)
            frame = Frame(timestamp: first &+ UInt32(truncatingIfNeeded: offset / max(1, bytesPerTick)))
            emit(
                UnsafeRawBufferPointer(rebasing: payload[offset..<offset + count]), marker: marker && offset == 0)
            offset += count
        }
        frame?.timestamp = first
    }

    /// Records the camera's sender report.
    package mutating func recordSenderReport(_ ntp: NTPTimestamp, at now: Instant) { reception.record(ntp, at: now) }

    /// The block of the next receiver report.
    package mutating func receptionBlock(ssrc: UInt32, at now: Instant) -> RTCPReportBlock {
        reception.block(ssrc: ssrc, at: now)
    }

    /// Counts a payload in a mode that is not supported.
    mutating func countUnusable() { unusablePackets &+= 1 }

    // MARK: Output

    /// Whether a payload fits as it is.
    func fits(_ payload: UnsafeRawBufferPointer) -> Bool { payload.count <= limit }

    /// Records whether the frame is needed by others, by one of its slices. Parameter sets in it are needed in any case.
    mutating func recordReference(_ isReferenced: Bool) {
        let hasParameterSet =
            frame?.hasVideoParameterSet == true || frame?.hasSequenceParameterSet == true
            || frame?.hasPictureParameterSet == true
        if isReferenced || hasParameterSet {
            frame?.isUnreferenced = false
        } else if frame?.hasSlice == false {
            frame?.isUnreferenced = true
        }
    }

    /// Passes bytes of a unit through the refragmenter.
    mutating func refragment(_ bytes: UnsafeRawBufferPointer, isLast: Bool, marker: Bool) {
        // The pieces are collected by offset, since the refragmenter cannot be used again during a call to it.
        var fragments = Refragmenter(limit: limit, marking: format.marking)
        swap(&fragments, &refragmenter)
        fragments.append(bytes, isLast: isLast) { piece, ends in
            emit(piece, marker: marker && ends)
        }
        swap(&fragments, &refragmenter)
    }

    /// Adds a payload to the batch.
    mutating func emit(_ payload: UnsafeRawBufferPointer, marker: Bool) {
        guard var frame else { return }
        var flags: PacketBatch.Flags = []
        if marker { flags.insert(.marker) }
        if !frame.hasStarted { flags.insert(.startsFrame) }
        // Sound can be decoded from any packet.
        if frame.isKeyFrame || !format.isVideo { flags.insert(.keyFrame) }
        if frame.isUnreferenced { flags.insert(.unreferenced) }
        frame.hasStarted = true
        self.frame = frame
        pool.append(
            PacketBatch.Packet(
                offset: 0, length: 0, timestamp: frame.timestamp, sequenceNumber: timeline.takeSequenceNumber(),
                payloadType: payloadType, flags: flags),
            payload: payload)
    }
}
