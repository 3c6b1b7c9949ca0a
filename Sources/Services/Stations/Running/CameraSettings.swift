import Cameras
import RTSP

/// What is wanted of a camera: where its media and its events come from, and when it is pulled.
///
/// The config is translated to this where the process is composed, so that the stations do not know how it is written.
public struct CameraSettings: Sendable, Equatable {
    /// Where the pictures come from.
    public enum Source: Sendable, Equatable {
        /// The built-in doorbell with its test picture.
        case builtInDoorbell
        /// The built-in camera with only a picture: no sound, button or speaker.
        case builtInSilent
        /// An `rtsp://` or `rtsps://` URL, which may hold a password: never print it.
        case rtsp(String)
        /// `onvif://user:password@host:port`: the device is asked for its RTSP URLs and its events. Never print it.
        case onvif(String)
        /// An `http://` or `https://` URL of JPEG pictures, which may hold a password: never print it.
        case pictures(String)
        /// The address of a stream that is not RTP (``StreamAddress``), which may hold a password: never print it.
        case stream(String)
        /// A camera of this machine, for example `v4l2:/dev/video0`.
        case videoDevice(String)
        /// A publisher sends its media.
        case published
    }

    /// Where the pictures of a smaller stream come from.
    public enum Substream: Sendable, Equatable {
        /// An RTSP URL, which may hold a password: never print it.
        case rtsp(String)
        /// The device names the URL by ONVIF, if it has a smaller stream.
        case ofDevice
    }

    /// An ONVIF service that sends a camera's events.
    public struct EventDevice: Sendable, Equatable {
        /// The device service, an `http://` or `https://` URL.
        public var url: String
        /// The user name, or nil for a device that asks for none.
        public var user: String?
        /// Never print it.
        public var password: String?

        /// Names a device service.
        public init(url: String, user: String? = nil, password: String? = nil) {
            self.url = url
            self.user = user
            self.password = password
        }
    }

    /// The device's identifier.
    public var id: String
    /// The name that people read.
    public var name: String
    /// Whether it is a doorbell: a contact on its ONVIF device is then the button.
    public var isDoorbell: Bool
    /// Where the pictures come from.
    public var source: Source
    /// Where those of a smaller stream come from; nil where only one stream is wanted.
    public var substream: Substream?
    /// How RTP travels from an RTSP camera.
    public var transport = CameraTransport.auto
    /// How an RTSP session is kept from timing out; nil for the first way that the camera accepts and survives.
    public var keepAlive: RTSPKeepAlive?
    /// How many pictures per second are taken of a camera that sends JPEG; nil for the source's choice.
    public var framesPerSecond: Double?
    /// Whether the camera is asked for a speaker.
    public var looksForSpeaker = true
    /// When the camera is pulled.
    public var pull = PullMode.always
    /// Whether it is pulled while it is off or private too.
    public var pullsWhileOff = false
    /// Whether VP8 is made of video that a viewer cannot play.
    public var transcodesVideo = TranscodingMode.automatic
    /// The ONVIF service that sends its events; nil for that of an ONVIF source, or none.
    public var events: EventDevice?
    /// Whether others may report events of the camera.
    public var acceptsReports = false

    /// Describes a camera with the defaults of all optional settings.
    public init(id: String, name: String, isDoorbell: Bool = false, source: Source) {
        self.id = id
        self.name = name
        self.isDoorbell = isDoorbell
        self.source = source
    }
}
