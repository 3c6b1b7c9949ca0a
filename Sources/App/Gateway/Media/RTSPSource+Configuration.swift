import Cameras
import RTSP

extension RTSPSource.Configuration {
    /// The config's settings for an RTSP camera. Both enumerations use the config's words; `auto` leaves the choice to
    /// the source.
    init(_ camera: GatewayConfiguration.Camera) {
        self.init()
        transport = CameraTransport(rawValue: camera.transport.rawValue) ?? .auto
        keepAlive = RTSPKeepAlive(rawValue: camera.keepAlive.rawValue)
        looksForBackChannel = camera.talkback != .off
    }
}
