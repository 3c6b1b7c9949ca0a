/// In which form a receiver takes a recording (Matter `CMAFInterfaceEnum`; DASH-IF Live Media Ingest Protocol).
public enum UploadInterface: String, Codable, Sendable, CaseIterable {
    /// Initialization and media segments, without manifests.
    case interface1
    /// The same with a DASH manifest before, and its complete form at the end.
    case dash
    /// The same with HLS playlists before, and their complete forms at the end.
    case hls
}

/// Where the recordings of a connection go.
public struct UploadDestination: Codable, Hashable, Sendable {
    /// The TLS endpoint, by its id. 0 is the local store, to which nothing is uploaded.
    public var endpoint: UInt16
    /// The address that paths are appended to. It ends with a slash, and has neither a query nor a fragment.
    public var url: String
    /// The form.
    public var interface: UploadInterface
    /// How long segments usually are, in milliseconds.
    public var segmentDuration: Int
    /// Whether a segment is uploaded while it is still being recorded. HLS does not allow that, because the header with a
    /// segment's duration precedes the segment; a store that wants to know the length first does not either.
    public var uploadsWhileRecording: Bool

    /// Describes a destination.
    public init(
        endpoint: UInt16, url: String, interface: UploadInterface, segmentDuration: Int = 4_000,
        uploadsWhileRecording: Bool = false
    ) {
        self.endpoint = endpoint
        self.url = url
        self.interface = interface
        self.segmentDuration = segmentDuration
        self.uploadsWhileRecording = uploadsWhileRecording
    }
}

/// A recording that is to be uploaded.
public struct UploadSession: Codable, Equatable, Sendable {
    /// One of its tracks: what manifests say of it.
    public struct Track: Codable, Equatable, Sendable {
        /// Its name in paths.
        public var name: String
        /// Whether it is video.
        public var isVideo: Bool
        /// The codec as in RFC 6381.
        public var codec: String
        /// Ticks of the track's times in a second.
        public var timescale: Int
        /// Width and height in pixels; nil for sound.
        public var width: Int?
        public var height: Int?
        /// The length of its CMAF header in bytes.
        public var headerByteCount: Int
    }

    /// The recording.
    public var id: RecordingSession.ID
    /// The connection that it belongs to; nil in a queue of an earlier version.
    public var connection: UInt16?
    /// The number of the CMAF session.
    public var number: UInt64
    /// The recording's folder on disk, below the folder of all recordings.
    public var folder: String
    /// Where it goes. It stays the same when the connection is changed later.
    public var destination: UploadDestination
    /// Its tracks.
    public var tracks: [Track]

    /// Describes the upload of a recording.
    public init(_ session: RecordingSession, folder: String, destination: UploadDestination) {
        id = session.id
        connection = session.connection
        number = session.number
        self.folder = folder
        self.destination = destination
        tracks = session.tracks.map {
            Track(
                name: $0.name, isVideo: $0.isVideo, codec: $0.codec, timescale: $0.timescale, width: $0.width,
                height: $0.height, headerByteCount: $0.initializationSegment.count)
        }
    }
}

/// A segment of it.
public struct UploadSegment: Codable, Hashable, Sendable {
    /// The index of its track.
    public var track: Int
    /// Its number in the track, from 1.
    public var number: UInt32
    /// The decode time of its first sample, and how long it lasts, in the track's timescale.
    public var decodeTime: Int64
    public var duration: Int64
    /// When its first sample was captured, in microseconds since 1970, UTC.
    public var capturedAt: Int64
    /// Its length in bytes.
    public var byteCount: Int

    /// A segment of the local store.
    public init(_ stored: StoredSegment) {
        self.init(
            track: stored.track, number: stored.number, decodeTime: stored.decodeTime, duration: stored.duration,
            capturedAt: stored.wallTime, byteCount: Int(clamping: stored.byteCount))
    }

    /// Describes a segment.
    public init(
        track: Int, number: UInt32, decodeTime: Int64, duration: Int64, capturedAt: Int64, byteCount: Int
    ) {
        self.track = track
        self.number = number
        self.decodeTime = decodeTime
        self.duration = duration
        self.capturedAt = capturedAt
        self.byteCount = byteCount
    }
}
