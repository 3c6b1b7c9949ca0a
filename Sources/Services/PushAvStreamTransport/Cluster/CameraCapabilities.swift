import HomeTypes

/// What connections of a camera can be, besides what the cluster says.
public struct CameraCapabilities: Sendable, Hashable {
    /// The TLS endpoints that exist, besides 0, which is the gateway's own store.
    public var endpoints: Set<UInt16> = []
    /// The formats that can be recorded.
    public var formats: [Google.PushAvStreamTransportTrait.SupportedFormatStruct] = [
        .init(containerFormat: .cmaf, ingestMethod: .cmafIngest)
    ]
    /// The camera's zones.
    public var zones: Set<UInt16> = []
    /// How many zones a connection may name.
    public var maximumZones = 10
    /// Whether each zone has its own sensitivity (the feature PERZONESENS).
    public var hasZoneSensitivity = false
    /// Whether metadata can be recorded (the feature METADATA).
    public var hasMetadata = false
    /// How many connections a camera can have.
    public var maximumConnections = 16

    /// What this gateway can do for every camera.
    public init() {}

    /// Whether an endpoint exists.
    public func hasEndpoint(_ id: UInt16) -> Bool { id == 0 || endpoints.contains(id) }
}

/// A stream of a camera that connections can use. The gateway gives each camera its streams: the main picture, the
/// smaller one and the sound. They are never allocated or deallocated by clients.
public struct AllocatedStream: Codable, Hashable, Sendable {
    /// Its number among the camera's pictures or sounds.
    public var id: UInt16
    /// What it is for.
    public var usage: StreamUsage
    /// The codec as in SDP; empty until the camera has described itself.
    public var codec: String
    /// Milliseconds between the key frames of a picture, where the camera keeps a steady interval; nil otherwise.
    public var keyFrameInterval: UInt16?

    /// Describes a stream.
    public init(id: UInt16, usage: StreamUsage, codec: String = "", keyFrameInterval: UInt16? = nil) {
        self.id = id
        self.usage = usage
        self.codec = codec
        self.keyFrameInterval = keyFrameInterval
    }
}

/// The streams of a camera.
public struct AllocatedStreams: Codable, Hashable, Sendable {
    /// The camera's main picture.
    public static let mainVideo: UInt16 = 1
    /// Its smaller picture.
    public static let subVideo: UInt16 = 2
    /// Its sound.
    public static let audio: UInt16 = 1

    /// The pictures and the sounds, by their ids. Empty until the camera has described itself.
    public var video: [AllocatedStream] = []
    public var audio: [AllocatedStream] = []

    /// Nothing is known of the camera.
    public init(video: [AllocatedStream] = [], audio: [AllocatedStream] = []) {
        self.video = video
        self.audio = audio
    }

    /// The picture that a usage gets: for analysis the smallest, for others the main one.
    func chosenVideo(for usage: StreamUsage) -> UInt16? {
        (usage == .analysis ? video.last : video.first)?.id
    }
}
