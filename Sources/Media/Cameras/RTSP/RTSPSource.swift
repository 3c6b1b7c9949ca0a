import RTP
import RTSP
import Transport

/// A camera that is pulled by RTSP (RFC 2326): over TCP, UDP, TLS or a tunnel in HTTP.
///
/// It runs on a thread of its own from ``start(sink:)`` to ``stop()``, watches that the video flows, and connects again
/// with growing, jittered pauses when it does not. To the sink a reconnection is a pause: sequence numbers and
/// timestamps go on.
public final class RTSPSource: CameraSource {
    /// How patient the source is.
    public struct Configuration: Sendable {
        /// How long a connection may take to open, for each address of the host.
        public var connectTimeout: Duration = .seconds(5)
        /// How long an answer may take.
        public var answerTimeout: Duration = .seconds(10)
        /// How long the answer may take to the question whether there is a back channel, which some cameras never answer.
        public var featureTimeout: Duration = .seconds(4)
        /// How long after PLAY the first packet may take. Some cameras wake an encoder up first.
        public var firstPacketTimeout: Duration = .seconds(10)
        /// How long the video may be silent before the source starts again.
        public var stallTimeout: Duration = .seconds(5)
        /// How long a track other than the first may be silent before it counts as silent. Nothing starts again for it.
        public var silenceTimeout: Duration = .seconds(10)
        /// How long packets over UDP wait for one that is missing.
        public var reorderDelay: Duration = .milliseconds(80)
        /// The longest payload that is handed out, in bytes; longer ones are cut anew.
        public var maximumPayloadLength: Int = PayloadLimit.standard
        /// What carries the packets.
        public var transport = CameraTransport.auto
        /// The keep-alive to use whatever the camera says; nil finds one that it takes.
        public var keepAlive: RTSPKeepAlive?
        /// The SHA-256 fingerprint that the camera's certificate must have, in hexadecimal; nil takes any, and tells of
        /// a change.
        public var certificateFingerprint: String?
        /// Whether the password itself is never sent without TLS (Basic), whatever is known of the camera.
        public var refusesBasic = false
        /// Whether the camera is asked if it has a speaker.
        public var looksForBackChannel = true
        /// How the camera's speaker is reached, where it has one.
        public var speaker = BackChannelSpeaker.Configuration()
        /// What is known of the camera from earlier.
        public var profile = CameraProfile()

        /// The usual patience.
        public init() {}
    }

    /// The camera's address; prints without credentials.
    public let url: RTSPURL
    /// The address that is asked: the camera's, but for what the gateway cannot take.
    private let target: RTSPURL
    private let configuration: Configuration
    private let shared = Locked(Shared())
    private let findings: SourceFindings
    private let backChannelSpeaker: BackChannelSpeaker
    private let sharedSpeaker: SharedSpeaker

    private struct Shared {
        var control: SourceControl?
        var sink: (any CameraSink)?
    }

    /// A source for a camera. `profileChanged` is called on the source's thread with each new state of the profile.
    public init(
        url: RTSPURL, configuration: Configuration = Configuration(),
        profileChanged: (@Sendable (CameraProfile) -> Void)? = nil
    ) {
        self.url = url
        self.configuration = configuration
        findings = SourceFindings(profile: configuration.profile, profileChanged: profileChanged)
        // TLS protects the packets already. Without it the address stays, so that nothing is sent in the clear that the
        // owner wants encrypted; the description then says why nothing comes.
        if url.isSecure, let plain = url.withoutSRTP {
            target = plain
            findings.noteAddress(
                "the address asks for SRTP (enableSrtp), which is left out: the connection is encrypted as a whole")
        } else {
            target = url
        }
        var speaker = configuration.speaker
        speaker.isTunnelled = configuration.transport == .http
        speaker.certificateFingerprint = configuration.certificateFingerprint
        speaker.refusesBasic = configuration.refusesBasic && !url.isSecure
        sharedSpeaker = SharedSpeaker(findings: findings)
        backChannelSpeaker = BackChannelSpeaker(url: target, configuration: speaker, shared: sharedSpeaker)
    }

    /// A source for a camera's address, `rtsp://user:password@host:port/path`.
    public convenience init(
        address: String, configuration: Configuration = Configuration(),
        profileChanged: (@Sendable (CameraProfile) -> Void)? = nil
    ) throws(RTSPError) {
        self.init(url: try RTSPURL(parsing: address), configuration: configuration, profileChanged: profileChanged)
    }

    deinit {
        _ = shared.withLock { $0.control }?.stop()
    }

    /// Logs in as `other` does, where both have the same credentials for the same camera: a wrong password then counts
    /// once for both.
    func shareLogins(of other: RTSPSource) {
        guard url.host == other.url.host, url.credentials != nil, url.credentials == other.url.credentials else {
            return
        }
        findings.share(other.findings.logins)
    }

    /// In words, what of the camera's description is not pulled and why.
    public var notes: [String] { findings.notes }

    /// What has been learnt of the camera so far.
    public var profile: CameraProfile { findings.profile }

    /// The speaker that the camera describes; nil before it has, and where it has none.
    public var backChannel: BackChannelDescription? { findings.backChannel }

    /// How the camera is reached.
    public var transportInUse: RTSPTransportInUse { findings.transport }

    /// The tracks that have gone silent while the first one goes on.
    public var silentTracks: Set<Int> { findings.silentTracks }

    /// The camera's speaker, once the camera has described one.
    public var speaker: (any CameraSpeaker)? { backChannel == nil ? nil : backChannelSpeaker }

    public func start(sink: any CameraSink) {
        shared.withLock { shared in
            guard shared.control == nil else { return }
            guard let control = SourceControl() else {
                sink.handle(.state(.backingOff(seconds: 0, reason: "the process has no file descriptor left")))
                return
            }
            shared.control = control
            shared.sink = sink
            let (url, configuration) = (target, configuration)
            let (findings, speaker) = (findings, sharedSpeaker)
            let isRunning = startDetachedThread {
                RTSPSupervisor.run(
                    url: url, configuration: configuration, sink: sink, control: control, findings: findings,
                    speaker: speaker)
            }
            if !isRunning {
                shared.control = nil
                sink.handle(.state(.backingOff(seconds: 0, reason: "the process has no thread left")))
            }
        }
    }

    public func stop() {
        let (control, sink) = shared.withLock { shared in
            defer {
                shared.control = nil
                shared.sink = nil
            }
            return (shared.control, shared.sink)
        }
        guard let control else { return }
        // A thread that was left behind in a look-up says nothing any more, so the last word is said here.
        if !control.stop() { sink?.handle(.state(.stopped)) }
    }

    public func requestKeyFrame(track: Int) {
        shared.withLock { $0.control }?.requestKeyFrame(track: track)
    }
}

/// What shall carry a camera's packets. The raw values are those of the config's `transport`.
public enum CameraTransport: String, Sendable, Hashable, CaseIterable {
    /// What worked the last time, TCP at first, and the other of TCP and UDP where the camera refuses it or sends
    /// nothing.
    case auto
    /// The connection of the requests.
    case tcp
    /// UDP.
    case udp
    /// The connection of the requests, inside HTTP; with an `rtsps` address inside HTTPS.
    case http
}
