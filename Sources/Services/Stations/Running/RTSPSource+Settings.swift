import Cameras

extension RTSPSource.Configuration {
    /// The settings of an RTSP camera.
    init(_ camera: CameraSettings) {
        self.init()
        transport = camera.transport
        keepAlive = camera.keepAlive
        looksForBackChannel = camera.looksForSpeaker
    }
}
