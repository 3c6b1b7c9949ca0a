import Cameras
import HomeTypes
import RTSP
import Stations

extension CameraSettings {
    /// A camera of the config.
    init(_ camera: GatewayConfiguration.Camera) {
        let source: Source =
            switch camera.source {
            case .builtInDoorbell: .builtInDoorbell
            case .builtInSilent: .builtInSilent
            case .rtsp(let url): .rtsp(url)
            case .onvif(let url): .onvif(url)
            case .pictures(let url): .pictures(url)
            case .stream(let url): .stream(url)
            case .videoDevice(let text): .videoDevice(text)
            case .publisher: .published
            }
        self.init(id: camera.deviceID, name: camera.name, isDoorbell: camera.kind == .doorbell, source: source)
        if camera.asksForSubstream {
            self.substream = .ofDevice
        } else if let url = camera.substreamURL {
            self.substream = .rtsp(url)
        }
        // Both enumerations use the config's words; `auto` leaves the choice to the source.
        self.transport = CameraTransport(rawValue: camera.transport.rawValue) ?? .auto
        self.keepAlive = RTSPKeepAlive(rawValue: camera.keepAlive.rawValue)
        self.framesPerSecond = camera.framesPerSecond
        self.looksForSpeaker = camera.talkback != .off
        self.pull = camera.pull == .onDemand ? .onDemand : .always
        self.pullsWhileOff = camera.pullsWhileOff
        self.transcodesVideo = TranscodingMode(camera.transcodesVideo)
        self.events = camera.onvif.map { EventDevice(url: $0.url, user: $0.username, password: $0.password) }
        self.acceptsReports = camera.acceptsWebhook
    }
}

extension TranscodingMode {
    /// The config.
    init(_ choice: GatewayConfiguration.Camera.TranscodeVideo) {
        switch choice {
        case .automatic: self = .automatic
        case .always: self = .always
        case .never: self = .never
        }
    }
}
