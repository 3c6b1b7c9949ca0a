import RTP
import Transport

/// Reports of a running view. Events come from the loop's thread, in order.
public enum ViewingEvent: Sendable {
    /// ICE has a path.
    case pathFound(at: Instant)
    /// DTLS is done.
    case connected(at: Instant)
    /// The first RTP packet has arrived.
    case firstPacket(at: Instant)
    /// The first key frame is whole: a picture can be decoded.
    case firstKeyFrame(at: Instant)
    /// A whole frame; only if frames were requested.
    case frame(EncodedFrame)
    /// An audio packet; only if frames were requested.
    case audio(ReceivedSound)
    /// The connection has ended, and why.
    case ended(reason: String)
}

/// An audio packet of a view.
public struct ReceivedSound: Sendable {
    /// The encoded sound.
    public var payload: [UInt8]
    /// Its encoding, by the negotiated payload types.
    public var payloadType: UInt8
    /// The RTP timestamp.
    public var timestamp: UInt32
    /// The RTP sequence number.
    public var sequenceNumber: UInt16
    /// When it arrived.
    public var arrival: Instant
    /// How old it was then by the sender's wall clock, from the sender reports; nil before the first of them.
    public var age: Duration?
}

/// What one view has received so far.
public struct ViewingStatistics: Sendable {
    /// The counts of one track.
    public struct Track: Sendable {
        /// `video` or `audio`.
        public var kind: String
        /// The codec's encoding name.
        public var codec: String
        /// Packets received.
        public var packets: UInt64
        /// Payload bytes received.
        public var bytes: UInt64
        /// Packets that never arrived, by the sequence numbers.
        public var lost: UInt64
        /// Packets that arrived by retransmission.
        public var retransmitted: UInt64
        /// Frames that were whole.
        public var frames: UInt64
        /// Key frames among them.
        public var keyFrames: UInt64
    }

    /// The tracks in the order of the offer.
    public var tracks: [Track] = []
    /// The ages of pictures when their last packets arrived, by the sender's wall clock, in nanoseconds. Empty before the
    /// sender's first report, and then one for each of ``pictureCount``.
    public var pictureAges: [Int64] = []
    /// How many last packets of pictures have arrived, without retransmissions; at most 100,000.
    public var pictureCount = 0
    /// When the first frames of the video arrived.
    public var frameArrivals = FrameArrivals()
    /// Whether media can flow.
    public var isConnected = false

    /// Nothing has been received.
    public init() {}
}
