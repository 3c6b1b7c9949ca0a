import HTTPMedia
import RTSP

/// A camera that sends JPEG pictures over HTTP: a series in one answer (`multipart/x-mixed-replace`, known as MJPEG), or
/// one for each request. The pictures are encoded as H.264, so that the camera is like any other for its viewers and
/// recordings.
///
/// It runs on its own thread from ``start(sink:)`` to ``stop()``, connects again with growing pauses, and encodes only
/// while it runs. For the sink a reconnection is a pause: sequence numbers and timestamps continue.
public final class PictureSource: CameraSource {
    /// The source's timeouts and options.
    public struct Configuration: Sendable {
        /// How long a connection may take to open, for each address of the host.
        public var connectTimeout: Duration = .seconds(5)
        /// How long the first picture may take, and the next one.
        public var pictureTimeout: Duration = .seconds(15)
        /// The longest picture, in bytes.
        public var maximumLength = 4 << 20
        /// How many pictures are taken per second at most, 0.1 to 30; nil for 15 of a series, and for one where each has
        /// to be requested.
        public var framesPerSecond: Double?
        /// The time from key frame to key frame.
        public var keyFrameInterval: Duration = .seconds(2)
        /// What is known about the camera from earlier.
        public var profile = CameraProfile()

        /// The usual settings.
        public init() {}
    }

    /// The camera's address, without credentials.
    public let address: HTTPAddress
    private let credentials: RTSPCredentials?
    private let configuration: Configuration
    private let findings: SourceFindings
    private let thread = SourceThread()

    /// A source for a camera's address, `http://user:password@host:port/path` or `https://`.
    ///
    /// `profileChanged` is called on the source's thread with each new state of the profile.
    public init(
        address: String, configuration: Configuration = Configuration(),
        profileChanged: (@Sendable (CameraProfile) -> Void)? = nil
    ) throws(HTTPAddressError) {
        (self.address, credentials) = try HTTPAddress.parse(address, defaultPath: "/")
        self.configuration = configuration
        findings = SourceFindings(profile: configuration.profile, profileChanged: profileChanged)
    }

    public var speaker: (any CameraSpeaker)? { nil }

    public var logins: CameraLogins? { findings.logins(at: address.host, credentials) }

    public func share(_ logins: CameraLogins) { findings.share(logins, at: address.host, credentials) }

    public var report: CameraReport? { findings.report }

    /// What the camera sends.
    public var notes: [CameraNote] { findings.notes }

    /// What has been learned about the camera so far.
    public var profile: CameraProfile { findings.profile }

    public func start(sink: any CameraSink) {
        let (address, credentials, configuration) = (address, credentials, configuration)
        let findings = findings
        thread.start(sink: sink) { control in
            PictureSupervisor.run(
                CameraHTTPClient(
                    home: address, credentials: credentials, connectTimeout: configuration.connectTimeout,
                    findings: findings, control: control), configuration, sink: sink)
        }
    }

    public func stop() { thread.stop() }

    public func requestKeyFrame(track: Int) { thread.requestKeyFrame(track: track) }
}
