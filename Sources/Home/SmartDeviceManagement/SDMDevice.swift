public import HomeTypes

/// A device as the Smart Device Management API describes it.
///
/// Source: Device Access reference, `enterprises.devices`, and the pages of the camera traits.
public struct SDMDevice: Encodable, Sendable, Equatable {
    /// `enterprises/PROJECT/devices/DEVICE`.
    public var name: String
    /// `sdm.devices.types.CAMERA` or `sdm.devices.types.DOORBELL`.
    public var type: String
    /// The traits, by their names.
    public var traits: SDMTraits
    /// The room or the structure of the device.
    public var parentRelations: [SDMParent]

    /// Describes a device of the home; nil for one of a kind that the API does not have.
    /// - Parameter place: the structure or the room that the device is in.
    public init?(_ device: DeviceSnapshot, project: String, place: SDMParent? = nil) {
        guard device.traits.contains(Google.WebRtcLiveViewTrait.self) else { return nil }
        self.name = Self.name(of: device.id, project: project)
        let isDoorbell = device.traits.contains(Google.DoorbellPressTrait.self)
        self.type = isDoorbell ? "sdm.devices.types.DOORBELL" : "sdm.devices.types.CAMERA"
        self.traits = SDMTraits(device, isDoorbell: isDoorbell)
        self.parentRelations = place.map { [$0] } ?? []
    }

    /// The resource name of a device.
    public static func name(of id: String, project: String) -> String { "enterprises/\(project)/devices/\(id)" }
}

/// Where a device is.
public struct SDMParent: Encodable, Sendable, Equatable {
    /// `enterprises/PROJECT/structures/STRUCTURE`, perhaps with `/rooms/ROOM`.
    public var parent: String
    /// What people call it.
    public var displayName: String

    /// Names a place.
    public init(parent: String, displayName: String) {
        self.parent = parent
        self.displayName = displayName
    }
}

/// The traits of a camera or doorbell in the Smart Device Management API.
public struct SDMTraits: Encodable, Sendable, Equatable {
    /// A trait without fields.
    public struct Empty: Encodable, Sendable, Equatable {}

    /// `sdm.devices.traits.Info`.
    public struct Info: Encodable, Sendable, Equatable {
        /// The name that people gave the device.
        public var customName: String
    }

    /// `sdm.devices.traits.Connectivity`.
    public struct Connectivity: Encodable, Sendable, Equatable {
        /// `ONLINE` or `OFFLINE`.
        public var status: String

        /// Describes a connectivity. The API does not have a state between the two.
        public init(_ state: ConnectivityState) {
            self.status = state == .online || state == .partiallyOnline ? "ONLINE" : "OFFLINE"
        }
    }

    /// `sdm.devices.traits.CameraLiveStream`.
    public struct LiveStream: Encodable, Sendable, Equatable {
        /// The names of the codecs in capital letters, for example `H264`.
        public var videoCodecs: [String]
        public var audioCodecs: [String]
        /// Only `WEB_RTC`. An RTSP stream needs a token of the file, and the API does not have a field for one.
        public var supportedProtocols = ["WEB_RTC"]
    }

    public var info: Info
    public var connectivity: Connectivity
    public var liveStream: LiveStream
    public var chime: Empty?
    /// Whether recordings of its events become clips.
    public var clips: Empty?

    init(_ device: DeviceSnapshot, isDoorbell: Bool) {
        self.info = Info(customName: device.name)
        self.connectivity = Connectivity(device.connectivityState)
        func codecs(_ kind: String) -> [String] {
            let names = (device.source?.tracks ?? []).filter { "\($0.kind)" == kind }.map { $0.codec.uppercased() }
            return Array(Set(names)).sorted()
        }
        self.liveStream = LiveStream(videoCodecs: codecs("video"), audioCodecs: codecs("audio"))
        self.chime = isDoorbell ? Empty() : nil
        let connections = device.traits[Google.PushAvStreamTransportTrait.self]?.currentConnections ?? []
        let records = connections.contains {
            $0.transportStatus == .active
                && ($0.transportOptions.map { $0.triggerOptions.triggerType == .motion } ?? true)
        }
        self.clips = records ? Empty() : nil
    }

    private enum CodingKeys: String, CodingKey {
        case info = "sdm.devices.traits.Info"
        case connectivity = "sdm.devices.traits.Connectivity"
        case liveStream = "sdm.devices.traits.CameraLiveStream"
        case image = "sdm.devices.traits.CameraImage"
        case eventImage = "sdm.devices.traits.CameraEventImage"
        case clips = "sdm.devices.traits.CameraClipPreview"
        case motion = "sdm.devices.traits.CameraMotion"
        case person = "sdm.devices.traits.CameraPerson"
        case sound = "sdm.devices.traits.CameraSound"
        case chime = "sdm.devices.traits.DoorbellChime"
    }

    /// Every camera of the home can report these events: its own detection does, or an automation for it.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(info, forKey: .info)
        try container.encode(connectivity, forKey: .connectivity)
        try container.encode(liveStream, forKey: .liveStream)
        for key in [CodingKeys.image, .eventImage, .motion, .person, .sound] {
            try container.encode(Empty(), forKey: key)
        }
        try container.encodeIfPresent(chime, forKey: .chime)
        try container.encodeIfPresent(clips, forKey: .clips)
    }
}
