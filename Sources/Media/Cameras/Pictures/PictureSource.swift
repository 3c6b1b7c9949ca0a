import ONVIF
import RTSP
import Transport

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
    private let shared = Locked(Shared())

    private struct Shared {
        var control: SourceControl?
        var sink: (any CameraSink)?
    }

    /// A source for a camera's address, `http://user:password@host:port/path` or `https://`.
    ///
    /// `profileChanged` is called on the source's thread with each new state of the profile.
    public init(
        address: String, configuration: Configuration = Configuration(),
        profileChanged: (@Sendable (CameraProfile) -> Void)? = nil
    ) throws(ONVIFError) {
        (self.address, credentials) = try HTTPAddress.parse(address, defaultPath: "/")
        self.configuration = configuration
        findings = SourceFindings(profile: configuration.profile, profileChanged: profileChanged)
    }

    deinit {
        _ = shared.withLock { $0.control }?.stop()
    }

    public var speaker: (any CameraSpeaker)? { nil }

    public var logins: CameraLogins? {
        CameraLogins(host: address.host, credentials: credentials, ledger: findings.logins)
    }

    public func share(_ logins: CameraLogins) {
        guard address.host == logins.host, credentials != nil, credentials == logins.credentials else { return }
        findings.share(logins.ledger)
    }

    public var report: CameraReport? {
        var report = CameraReport()
        report.profile = profile.fields
        report.notes = notes
        return report
    }

    /// In words: what the camera sends.
    public var notes: [String] { findings.notes }

    /// What has been learned about the camera so far.
    public var profile: CameraProfile { findings.profile }

    public func start(sink: any CameraSink) {
        shared.withLock { shared in
            guard shared.control == nil else { return }
            guard let control = SourceControl() else {
                sink.handle(.state(.backingOff(seconds: 0, reason: .noFileDescriptor)))
                return
            }
            let (address, credentials, configuration) = (address, credentials, configuration)
            let findings = findings
            let isRunning = startDetachedThread(name: "camera") {
                PictureSupervisor.run(
                    PictureClient(
                        home: address, credentials: credentials, connectTimeout: configuration.connectTimeout,
                        findings: findings, control: control), configuration, sink: sink)
            }
            guard isRunning else {
                sink.handle(.state(.backingOff(seconds: 0, reason: .noThread)))
                return
            }
            shared.control = control
            shared.sink = sink
        }
    }

    public func stop() {
        let (control, sink) = shared.withLock { shared in
            defer { shared = Shared() }
            return (shared.control, shared.sink)
        }
        guard let control else { return }
        // A thread that was left behind in a look-up no longer reports, so the final state is reported here.
        if !control.stop() { sink?.handle(.state(.stopped)) }
    }

    public func requestKeyFrame(track: Int) {
        shared.withLock { $0.control }?.requestKeyFrame(track: track)
    }
}
