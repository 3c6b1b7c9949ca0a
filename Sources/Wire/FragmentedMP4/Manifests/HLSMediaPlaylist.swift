import Transport

/// A media playlist of HTTP Live Streaming (RFC 8216, section 4.3.3): the segments of one track, or of one file that
/// holds several.
public struct HLSMediaPlaylist: Equatable, Sendable {
    /// Whether the list may change.
    public enum Kind: Equatable, Sendable {
        /// Segments are added, and old ones may leave: no `EXT-X-PLAYLIST-TYPE`.
        case live
        /// Segments are only added (`EVENT`).
        case event
        /// Nothing more changes (`VOD`).
        case complete
    }

    /// A part of a file (section 4.3.2.2).
    public struct ByteRange: Equatable, Sendable {
        /// The first byte, and how many.
        public var offset: Int
        public var length: Int

        /// Describes a part of a file.
        public init(offset: Int, length: Int) {
            self.offset = offset
            self.length = length
        }
    }

    /// What a player needs before the segments that follow (`EXT-X-MAP`, section 4.3.2.5): the CMAF header.
    public struct Initialization: Equatable, Sendable {
        /// Where it is.
        public var uri: String
        /// The part of the file that it is; nil for the whole.
        public var byteRange: ByteRange?

        /// Describes an initialization segment.
        public init(uri: String, byteRange: ByteRange? = nil) {
            self.uri = uri
            self.byteRange = byteRange
        }
    }

    /// One segment.
    public struct Segment: Equatable, Sendable {
        /// Where it is.
        public var uri: String
        /// How long it lasts, in seconds.
        public var duration: Double
        /// The part of the file that it is; nil for the whole.
        public var byteRange: ByteRange?
        /// When it was captured; nil to leave that out. Players count on from one to the next.
        public var capturedAt: WallTime?
        /// Whether its times or its format do not continue those of the segment before (`EXT-X-DISCONTINUITY`).
        public var isDiscontinuous: Bool
        /// Another initialization segment than before; nil when it stays.
        public var initialization: Initialization?

        /// Describes a segment.
        public init(
            uri: String, duration: Double, byteRange: ByteRange? = nil, capturedAt: WallTime? = nil,
            isDiscontinuous: Bool = false, initialization: Initialization? = nil
        ) {
            self.uri = uri
            self.duration = duration
            self.byteRange = byteRange
            self.capturedAt = capturedAt
            self.isDiscontinuous = isDiscontinuous
            self.initialization = initialization
        }
    }

    /// Whether the list may change.
    public var kind: Kind
    /// Whether no segment follows (`EXT-X-ENDLIST`).
    public var isEnded: Bool
    /// The longest duration that a segment is expected to have, in seconds. The text names a longer one when a segment
    /// of the list needs it, because a player may refuse the list otherwise (section 4.3.3.1).
    public var targetDuration: Double
    /// The number of the first segment (section 4.3.3.2).
    public var mediaSequence: Int
    /// How many discontinuities left the list (section 4.3.3.3).
    public var discontinuitySequence: Int
    /// What a player needs before the first segment.
    public var initialization: Initialization?
    /// The segments in their order.
    public var segments: [Segment]

    /// Describes a playlist.
    public init(
        kind: Kind, isEnded: Bool, targetDuration: Double, mediaSequence: Int = 0, discontinuitySequence: Int = 0,
        initialization: Initialization? = nil, segments: [Segment] = []
    ) {
        self.kind = kind
        self.isEnded = isEnded
        self.targetDuration = targetDuration
        self.mediaSequence = mediaSequence
        self.discontinuitySequence = discontinuitySequence
        self.initialization = initialization
        self.segments = segments
    }

    /// The media type of playlists (RFC 8216, section 10).
    public static let contentType = "application/vnd.apple.mpegurl"

    /// The playlist, to be served as UTF-8.
    public var text: String {
        let longest = segments.reduce(targetDuration) { max($0, $1.duration) }
        // Version 7 allows EXT-X-MAP in any playlist (section 7).
        var text = "#EXTM3U\n#EXT-X-VERSION:7\n"
        text += "#EXT-X-TARGETDURATION:\(max(1, Int(min(longest, 1e6).rounded(.up))))\n"
        text += "#EXT-X-MEDIA-SEQUENCE:\(max(0, mediaSequence))\n"
        if discontinuitySequence > 0 { text += "#EXT-X-DISCONTINUITY-SEQUENCE:\(discontinuitySequence)\n" }
        switch kind {
        case .live: break
        case .event: text += "#EXT-X-PLAYLIST-TYPE:EVENT\n"
        case .complete: text += "#EXT-X-PLAYLIST-TYPE:VOD\n"
        }
        if let initialization { text += Self.map(initialization) }
        for segment in segments {
            if segment.isDiscontinuous { text += "#EXT-X-DISCONTINUITY\n" }
            if let initialization = segment.initialization { text += Self.map(initialization) }
            if let capturedAt = segment.capturedAt { text += "#EXT-X-PROGRAM-DATE-TIME:\(capturedAt.iso8601)\n" }
            text += "#EXTINF:\(ManifestText.decimal(segment.duration)),\n"
            if let range = segment.byteRange { text += "#EXT-X-BYTERANGE:\(range.length)@\(range.offset)\n" }
            text += ManifestText.line(segment.uri) + "\n"
        }
        if isEnded { text += "#EXT-X-ENDLIST\n" }
        return text
    }

    private static func map(_ initialization: Initialization) -> String {
        let range = initialization.byteRange.map { ",BYTERANGE=\"\($0.length)@\($0.offset)\"" } ?? ""
        return "#EXT-X-MAP:URI=\(ManifestText.quoted(initialization.uri))\(range)\n"
    }
}

extension HLSMediaPlaylist {
    /// A duration in seconds as playlists write it, exact to the microsecond.
    public static func decimal(seconds: Double) -> String { ManifestText.decimal(seconds) }
}
