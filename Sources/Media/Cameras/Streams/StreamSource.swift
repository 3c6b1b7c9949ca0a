import HTTPMedia
import RTSP

/// A camera that sends a stream other than RTP: HTTP Live Streaming, MPEG-TS over HTTP, TCP or UDP, FLV over HTTP, or RTMP.
///
/// It runs on its own thread from ``start(sink:)`` to ``stop()``, and connects again with growing pauses. For the sink a
/// reconnection is a pause: sequence numbers and timestamps continue.
public final class StreamSource: CameraSource {
    /// The source's timeouts.
    public struct Configuration: Sendable {
        /// How long a connection may take to open, for each address of the host.
        public var connectTimeout: Duration = .seconds(5)
        /// How long the first picture or sound may take, and the next one.
        public var silenceTimeout: Duration = .seconds(15)
        /// The same for playlists, whose segments come one at a time.
        public var segmentTimeout: Duration = .seconds(45)
        /// What is known about the camera from earlier.
        public var profile = CameraProfile()

        /// The usual settings.
        public init() {}
    }

    /// The camera's address. Its description has no credentials.
    public let address: StreamAddress
    private let configuration: Configuration
    private let findings: SourceFindings
    private let thread = SourceThread()

    /// A source for a camera's address; see ``StreamAddress``.
    ///
    /// `profileChanged` is called on the source's thread with each new state of the profile.
    public init(
        address: String, configuration: Configuration = Configuration(),
        profileChanged: (@Sendable (CameraProfile) -> Void)? = nil
    ) throws(HTTPAddressError) {
        self.address = try StreamAddress(address)
        self.configuration = configuration
        findings = SourceFindings(profile: configuration.profile, profileChanged: profileChanged)
    }

    public var speaker: (any CameraSpeaker)? { nil }

    public var logins: CameraLogins? { findings.logins(at: address.host, address.credentials) }

    public func share(_ logins: CameraLogins) { findings.share(logins, at: address.host, address.credentials) }

    public var report: CameraReport? { findings.report }

    /// What the camera sends, and what of it is left out.
    public var notes: [CameraNote] { findings.notes }

    /// What has been learned about the camera so far.
    public var profile: CameraProfile { findings.profile }

    /// Whether the connection goes through TLS.
    public var isSecure: Bool { address.isSecure }

    public func start(sink: any CameraSink) {
        let (address, configuration, findings) = (address, configuration, findings)
        thread.start(sink: sink) { control in
            StreamSupervisor.run(address, configuration, findings: findings, control: control, sink: sink)
        }
    }

    public func stop() { thread.stop() }

    /// These cameras cannot be asked for a key frame.
    public func requestKeyFrame(track: Int) {}
}
