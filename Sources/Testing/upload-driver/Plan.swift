/// What a test wants to be recorded and uploaded: JSON on the standard input.
struct Plan: Decodable {
    struct Endpoint: Decodable {
        /// PEM files.
        var root: String?
        var certificate: String?
        var key: String?
        /// A store instead.
        var accessKeyId: String?
        var secretAccessKey: String?
        var region: String?
    }

    struct Chunk: Decodable {
        var file: String
        var offset: Int
        var length: Int
        var decodeTime: Int64
        var duration: Int64
    }

    struct Segment: Decodable {
        var track: Int
        var number: UInt32
        var decodeTime: Int64
        var duration: Int64
        var chunks: [Chunk]
    }

    struct Track: Decodable {
        var name: String
        var isVideo: Bool
        var codec: String
        var timescale: Int
        var header: String
        var width: Int?
        var height: Int?
    }

    struct Recording: Decodable {
        var device: String
        var sequence: UInt32
        var url: String
        var tracks: [Track]
        /// In the order in which they begin.
        var segments: [Segment]
        /// How long the recorder waits before each chunk, in milliseconds.
        var chunkInterval: Int
        /// Whether the recording ends. Otherwise the program ends in the middle of it.
        var ends: Bool
    }

    /// The state folder, which exists.
    var state: String
    var endpoint: Endpoint
    var interface: String
    var whileRecording: Bool
    var recordings: [Recording]
    var maximumByteCount: Int?
    /// The shortest wait before another attempt, in milliseconds.
    var firstRetry: Int
    /// How long the response may be missing, in milliseconds.
    var idle: Int
    /// How long a request may take besides its body, in milliseconds.
    var patience: Int?
}
