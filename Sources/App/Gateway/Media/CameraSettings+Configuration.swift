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
            substream = .ofDevice
        } else if let url = camera.substreamURL {
            substream = .rtsp(url)
        }
        // Both enumerations use the config's words; `auto` leaves the choice to the source.
        transport = CameraTransport(rawValue: camera.transport.rawValue) ?? .auto
        keepAlive = RTSPKeepAlive(rawValue: camera.keepAlive.rawValue)
        framesPerSecond = camera.framesPerSecond
        looksForSpeaker = camera.talkback != .off
        pull = camera.pull == .onDemand ? .onDemand : .always
        pullsWhileOff = camera.pullsWhileOff
        transcodesVideo = TranscodingMode(camera.transcodesVideo)
        events = camera.onvif.map { EventDevice(url: $0.url, user: $0.username, password: $0.password) }
        acceptsReports = camera.acceptsWebhook
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
