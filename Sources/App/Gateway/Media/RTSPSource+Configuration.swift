import Cameras
import RTSP

extension RTSPSource.Configuration {
    /// What the config says of an RTSP camera. The words of both enumerations are those of the config; `auto` is the
    /// source's own choice.
    init(_ camera: GatewayConfiguration.Camera) {
        self.init()
        transport = CameraTransport(rawValue: camera.transport.rawValue) ?? .auto
        keepAlive = RTSPKeepAlive(rawValue: camera.keepAlive.rawValue)
        looksForBackChannel = camera.talkback != .off
    }
}
