import PushAvStreamTransport
import Stations

/// The cameras as players see them that do not speak WebRTC: live streams of fragmented MP4.
public struct LiveCameras: Sendable {
    /// The streams.
    public var streams: LiveStreams
    /// Where a device's media is; nil for a device that is not a camera, or does not run.
    public var station: @Sendable (_ device: String) async -> CameraStation?

    /// Names the parts.
    public init(streams: LiveStreams, station: @escaping @Sendable (_ device: String) async -> CameraStation?) {
        self.streams = streams
        self.station = station
    }
}
