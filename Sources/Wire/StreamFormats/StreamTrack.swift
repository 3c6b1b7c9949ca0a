/// One track of a stream that is not RTP, as the stream states it.
public struct StreamTrack: Sendable, Hashable {
    /// What the units of a track hold.
    public enum Codec: Sendable, Hashable {
        /// H.264 access units with start codes (ITU-T H.264, annex B). The parameter sets have none; they are empty where
        /// only the units have them.
        case h264(parameterSets: [[UInt8]])
        /// H.265 access units with start codes (ITU-T H.265, annex B), and the parameter sets likewise.
        case h265(parameterSets: [[UInt8]])
        /// Frames of AAC without headers, and the `AudioSpecificConfig` that they need (ISO/IEC 14496-3).
        case aac(config: [UInt8])
        /// G.711 µ-law.
        case pcmu(channels: Int)
        /// G.711 A-law.
        case pcma(channels: Int)
        /// Opus packets (RFC 6716).
        case opus

        /// Whether it is video.
        public var isVideo: Bool {
            switch self {
            case .h264, .h265: true
            case .aac, .pcmu, .pcma, .opus: false
            }
        }
    }

    /// What the units hold.
    public var codec: Codec

    /// Describes a track.
    public init(_ codec: Codec) { self.codec = codec }
}

/// What belongs to one moment of a track: a picture, or a frame of sound.
public struct StreamUnit: Sendable, Equatable {
    /// The position of its track in ``StreamDemuxer/tracks``.
    public var track: Int
    /// The bytes, in the form that ``StreamTrack/Codec`` says.
    public var bytes: [UInt8]
    /// When it is shown or heard, in ticks of 90 kHz on the clock of the stream, which does not wrap here.
    public var presentation: Int64
    /// When it is decoded, on the same clock.
    public var decoding: Int64

    /// Describes a unit.
    public init(track: Int, bytes: [UInt8], presentation: Int64, decoding: Int64) {
        self.track = track
        self.bytes = bytes
        self.presentation = presentation
        self.decoding = decoding
    }

    /// Ticks of ``presentation`` and ``decoding`` per second.
    public static let clockRate: Int64 = 90_000
    /// The longest unit, in bytes. A longer one is left out.
    public static let maximumLength = 4 << 20
    /// About the memory that a unit takes besides its bytes.
    public static let overhead = 128
    /// About the memory that it takes, in bytes. What keeps units bounds this sum, since a camera may send millions of
    /// units of one byte.
    public var footprint: Int { bytes.count + Self.overhead }
}

/// Takes a stream of bytes apart. It does no I/O, and holds a bounded number of bytes.
public protocol StreamDemuxer: Sendable {
    /// The tracks that have been found so far. Their positions stay.
    var tracks: [StreamTrack] { get }
    /// Whether the stream has announced tracks that it has not described yet.
    var awaitsTracks: Bool { get }
    /// What the stream has besides the tracks.
    var leftOut: [UnsupportedPart] { get }
    /// Takes bytes, and passes each unit that they complete to `body`.
    /// - Throws: when the bytes are not of this format.
    mutating func append(_ bytes: UnsafeRawBufferPointer, _ body: (StreamUnit) -> Void) throws(StreamFormatError)
    /// The bytes have ended: passes the last units to `body`.
    mutating func finish(_ body: (StreamUnit) -> Void)
}
