import RTSP
import Transport

/// The speaker of an RTSP camera, reached by ONVIF's back channel (ONVIF Streaming Specification, section 5.3).
///
/// A talk has a separate RTSP session, with its own connection and thread, from ``begin(_:)`` to ``end()``. A camera
/// whose speaker is always in use does not ring, and some cameras send no sound during that time.
public final class BackChannelSpeaker: CameraSpeaker {
    /// The speaker's timeouts and its loudness.
    public struct Configuration: Sendable {
        /// How long a connection may take to open, for each address of the host.
        public var connectTimeout: Duration = .seconds(5)
        /// How long an answer may take.
        public var answerTimeout: Duration = .seconds(5)
        /// Whether the camera is reached by RTSP inside HTTP.
        public var isTunnelled = false
        /// The SHA-256 fingerprint that the camera's certificate must have, in hexadecimal; nil accepts any.
        public var certificateFingerprint: String?
        /// How much the talker is amplified, in decibels; peaks are kept below full scale.
        public var gain: Double = 0
        /// The most of the talker's sound that waits; the excess is dropped.
        public var longestQueue: Duration = .milliseconds(200)

        /// The keep-alive to use whatever the camera says; nil finds one that it accepts.
        var keepAlive: RTSPKeepAlive?
        /// Whether the password itself is never sent without TLS (Basic), whatever is known about the camera.
        var refusesBasic = false

        /// The usual timeouts, with the talker's loudness unchanged.
        public init() {}
    }

    /// The camera's address; its text never shows credentials.
    public let url: RTSPURL
    private let configuration: Configuration
    /// Carries a talk over the source's session, where the camera accepts no second one.
    private let shared: SharedSpeaker?
    /// What is known about the camera.
    private let findings: SourceFindings
    /// The talk that plays, or the last one.
    let talk = Locked<BackChannelTalk?>(nil)
    let gate = SpeakerGate()

    /// A speaker of the camera at `url`.
    public convenience init(url: RTSPURL, configuration: Configuration = Configuration()) {
        self.init(url: url, configuration: configuration, shared: nil)
    }

    init(url: RTSPURL, configuration: Configuration, shared: SharedSpeaker?) {
        self.url = url
        self.configuration = configuration
        self.shared = shared
        findings = shared?.findings ?? SourceFindings(profile: CameraProfile(), profileChanged: nil)
    }

    deinit {
        talk.withLock { $0 }?.control.requestStop()
    }

    public func begin(_ report: @escaping @Sendable (SpeakerState) -> Void) {
        guard let control = SourceControl() else {
            report(.refused(.gatewayFault(.noFileDescriptor)))
            return
        }
        var limits = TalkQueue.Limits()
        limits.most = max(limits.target, Int(configuration.longestQueue.inMilliseconds * 48))
        let talk = BackChannelTalk(
            control: control, limits: limits, decibels: configuration.gain, gate: gate, report: report)
        let previous = self.talk.withLock { current in
            defer { current = talk }
            return current
        }
        previous?.control.requestStop()
        if let shared, shared.isNeeded, shared.take(talk) { return }
        let dialer = CameraDialer(url, settings: configuration.dialing, findings: findings)
        let (isTunnelled, shared) = (configuration.isTunnelled, shared)
        let isRunning = startDetachedThread(name: "back-channel") {
            BackChannelSession.run(
                dialer, isTunnelled: isTunnelled, talk: talk, after: previous?.control, orElse: shared)
        }
        if !isRunning {
            control.markEnded()
            talk.refuse(.gatewayFault(.noThread))
        }
    }
}

extension BackChannelSpeaker.Configuration {
    /// What concerns the connections.
    fileprivate var dialing: CameraDialer.Settings {
        CameraDialer.Settings(
            connectTimeout: connectTimeout, answerTimeout: answerTimeout, keepAlive: keepAlive,
            certificateFingerprint: certificateFingerprint, refusesBasic: refusesBasic)
    }
}
