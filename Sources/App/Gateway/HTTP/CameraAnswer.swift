import HomeTypes

/// A camera as `GET /v1/cameras/{camera}` shows it: its settings with every secret masked, and how it is doing.
struct CameraAnswer: Codable, Sendable, Equatable {
    /// The ONVIF service of the camera.
    struct ONVIFDevice: Codable, Sendable, Equatable {
        var url: String
        var username: String?
        /// A mask if there is a password.
        var password: String?
    }

    /// The key in the config.
    var id: String
    /// The identifier of the device; missing for a camera that is not in the home.
    var deviceID: String?
    var name: String
    var type: String
    var source: String
    var substream: String?
    var transport: String
    var keepAlive: String
    /// Missing where the source chooses.
    var framesPerSecond: Double?
    var pull: String
    var battery: Bool
    var pullWhileOff: Bool
    var talkback: String
    /// `auto`, `always` or `never`.
    var transcodeVideo: String
    var onvif: ONVIFDevice?
    var webhook: Bool
    /// What the owner knows about it; missing if nothing.
    var information: Matter.BasicInformationTrait.Attributes?
    /// Where the settings come from: `file`, `overridden`, `api` or `builtin`.
    var origin: ConfigurationKeeper.Origin
    var connectivityState: ConnectivityState
    var status: CameraSourceStatus
    /// What was found out about the camera; missing if there is nothing to find out.
    var findings: CameraFindings?

    init(_ entry: ConfigurationKeeper.Entry, device: DeviceSnapshot?, findings: CameraFindings? = nil) {
        let camera = entry.camera
        self.id = camera.id
        self.deviceID = device?.id
        self.name = camera.name
        self.type = camera.kind == .doorbell ? "doorbell" : "camera"
        self.source = CameraAddress(text: camera.sourceText).masked
        self.substream = camera.substream.map { CameraAddress(text: $0).masked }
        self.transport = camera.transport.rawValue
        self.keepAlive = camera.keepAlive.rawValue
        self.framesPerSecond = camera.framesPerSecond
        self.pull = camera.pull.rawValue
        self.battery = camera.isOnBattery
        self.pullWhileOff = camera.pullsWhileOff
        self.talkback = camera.talkback.rawValue
        self.transcodeVideo = camera.transcodesVideo.rawValue
        self.onvif = camera.onvif.map { onvif in
            ONVIFDevice(
                url: CameraAddress(text: onvif.url).masked, username: onvif.username,
                password: onvif.password.map { _ in CameraAddress.mask })
        }
        self.webhook = camera.acceptsWebhook
        self.information = camera.information == .init() ? nil : camera.information
        self.origin = entry.origin
        self.connectivityState = device?.connectivityState ?? .unknown
        self.findings = findings
        self.status = device?.source ?? CameraSourceStatus(state: .idle)
    }
}
