import Transport

/// A whole encoded frame.
public struct EncodedFrame: Sendable {
    /// VP8 and VP9: the frame. H.264 and H.265: the access unit's NAL units, each after a start code of four bytes
    /// (annex B). AV1: the temporal unit's units with their sizes. JPEG: a JFIF file.
    public var data: [UInt8]
    /// The RTP timestamp.
    public var timestamp: UInt32
    /// Decoding can start here.
    public var isKeyFrame: Bool
    /// When the frame's first packet arrived.
    public var firstArrival: Instant
    /// When the frame's last packet arrived.
    public var lastArrival: Instant
}

/// Makes whole frames from the packets of a video stream, in order. A frame that cannot be decoded is not returned:
/// after a loss the next frame is a key frame.
///
/// Insert each packet, then call ``nextFrame(at:)`` until it returns nil. Call it at ``nextDeadline`` as well. Ask
/// the sender for a key frame whenever ``takeKeyFrameRequest(at:)`` returns true.
public struct FrameAssembler: ~Copyable, Sendable {
    /// The payload formats that can be assembled.
    public enum Format: Sendable {
        case vp8, h264, h265, vp9, av1, jpeg

        /// The format with this `name` in `a=rtpmap`, whatever the case; nil for any other name.
        public init?(named name: String) {
            switch name.lowercased() {
            case "vp8": self = .vp8
            case "h264": self = .h264
            case "h265": self = .h265
            case "vp9": self = .vp9
            case "av1": self = .av1
            case "jpeg": self = .jpeg
            default: return nil
            }
        }
    }

    /// What has happened so far.
    public struct Counters: Equatable, Sendable {
        /// Frames handed out.
        public var frames: UInt64 = 0
        /// Key frames handed out.
        public var keyFrames: UInt64 = 0
        /// Frames dropped: incomplete, or not decodable because one before them was lost.
        public var droppedFrames: UInt64 = 0
        /// Packets that did not come in time.
        public var lostPackets: UInt64 = 0
        /// Packets that came too late, or twice.
        public var latePackets: UInt64 = 0
        /// Payloads that could not be read.
        public var malformedPackets: UInt64 = 0
        /// Key frames asked for.
        public var keyFrameRequests: UInt64 = 0

        /// Nothing has happened.
        public init() {}
    }

    /// How long to wait before asking for a key frame again.
    public let keyFrameRequestInterval: Duration
    /// The largest frame in bytes; a larger one is dropped.
    public let maximumFrameLength: Int

    private var reorderBuffer: PacketReorderBuffer
    private var builder: FrameBuilder
    private var counts = Counters()
    private var needsKeyFrame = true
    /// When a key frame may next be asked for. The first interval counts from the first packet.
    private var nextKeyFrameRequest: Instant?

    /// An empty assembler. A packet waits at most `maximumDelay` for those before it: a little longer than a
    /// retransmission takes.
    public init(
        format: Format, maximumDelay: Duration = .milliseconds(250), maximumFrameLength: Int = 4 << 20,
        keyFrameRequestInterval: Duration = .milliseconds(500)
    ) {
        self.maximumFrameLength = maximumFrameLength
        self.keyFrameRequestInterval = keyFrameRequestInterval
        reorderBuffer = PacketReorderBuffer(
            maximumDelay: maximumDelay, maximumBytes: 2 * maximumFrameLength, startsAtFirstPacket: false)
        builder = FrameBuilder(format: format, maximumLength: maximumFrameLength)
    }

    /// What has happened so far.
    public var counters: Counters {
        var counters = counts
        counters.lostPackets = reorderBuffer.lostCount
        counters.latePackets = reorderBuffer.lateCount
        return counters
    }

    /// Copies a packet in. It may have no payload, and it may be a retransmission (under its original number).
    public mutating func insert(
        sequenceNumber: UInt16, timestamp: UInt32, marker: Bool, payload: UnsafeRawBufferPointer, at now: Instant
    ) {
        reorderBuffer.insert(
            sequenceNumber: sequenceNumber, timestamp: timestamp, marker: marker, payload: payload, at: now)
        if needsKeyFrame, nextKeyFrameRequest == nil {
            // A sender that has just been joined starts with a key frame by itself.
            nextKeyFrameRequest = now + keyFrameRequestInterval
        }
        guard reorderBuffer.needsStart, builder.startsKeyFrame(payload) else { return }
        reorderBuffer.start(at: sequenceNumber)
    }

    /// The next whole frame; nil while none is complete.
    public mutating func nextFrame(at now: Instant) -> EncodedFrame? {
        repeat {
            counts.malformedPackets &+= builder.takeMalformedCount()
            counts.droppedFrames &+= builder.takeDroppedCount()
            while let result = builder.takeResult() {
                switch result {
                case .lostReference: loseReference(at: now)
                case .frame(let frame):
                    if let frame = deliver(frame) { return frame }
                }
            }
        } while feedBuilder(at: now)
        return nil
    }

    /// Gives the builder what comes next in the stream; false while that has not arrived.
    private mutating func feedBuilder(at now: Instant) -> Bool {
        switch reorderBuffer.next(at: now) {
        case nil: return false
        case .gap: builder.recordGap()
        case .packet(let packet): builder.append(packet)
        }
        return true
    }

    /// Whether to ask for a key frame now. True at most once in each interval, until one comes.
    public mutating func takeKeyFrameRequest(at now: Instant) -> Bool {
        guard needsKeyFrame, let due = nextKeyFrameRequest, due <= now else { return false }
        nextKeyFrameRequest = now + keyFrameRequestInterval
        counts.keyFrameRequests &+= 1
        return true
    }

    /// When ``nextFrame(at:)`` or ``takeKeyFrameRequest(at:)`` has something to do without a further packet.
    public var nextDeadline: Instant? {
        let request = needsKeyFrame ? nextKeyFrameRequest : nil
        guard let waiting = reorderBuffer.nextDeadline else { return request }
        return min(waiting, request ?? .distantFuture)
    }

    private mutating func deliver(_ frame: EncodedFrame) -> EncodedFrame? {
        if frame.isKeyFrame {
            needsKeyFrame = false
            nextKeyFrameRequest = nil
            counts.keyFrames &+= 1
        } else if needsKeyFrame {
            counts.droppedFrames &+= 1
            return nil
        }
        counts.frames &+= 1
        return frame
    }

    private mutating func loseReference(at now: Instant) {
        guard !needsKeyFrame else { return }
        needsKeyFrame = true
        nextKeyFrameRequest = now
    }
}
