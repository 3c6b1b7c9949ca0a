import RTP
import RTSP
import SDP
import Transport

/// A camera that is pulled by RTSP (RFC 2326): over TCP, UDP, TLS or a tunnel in HTTP.
///
/// It runs on its own thread from ``start(sink:)`` to ``stop()``. It watches that the video flows, and connects again
/// with growing, jittered pauses when it does not. For the sink a reconnection is a pause: sequence numbers and
/// timestamps continue.
public final class RTSPSource: CameraSource {
    /// The source's timeouts and options.
    public struct Configuration: Sendable {
        /// How long a connection may take to open, for each address of the host.
        public var connectTimeout: Duration = .seconds(5)
        /// How long an answer may take.
        public var answerTimeout: Duration = .seconds(10)
        /// How long the answer to the question for a back channel may take. Some cameras never answer it.
        public var featureTimeout: Duration = .seconds(4)
        /// How long after PLAY the first packet may take. Some cameras wake an encoder up first.
        public var firstPacketTimeout: Duration = .seconds(10)
        /// How long the video may be silent before the source restarts.
        public var stallTimeout: Duration = .seconds(5)
        /// How long a track other than the first may pause before it is treated as silent. Nothing restarts for it.
        public var silenceTimeout: Duration = .seconds(10)
        /// How long packets over UDP wait for a missing one.
        public var reorderDelay: Duration = .milliseconds(80)
        /// How late the source reads while nobody watches and the packets come over TCP. A camera that sends a lot is read
        /// sooner.
        public var coalescingTime: Duration = .milliseconds(200)
        /// How often receiver reports are sent to the camera.
        var reportInterval: Duration = .seconds(5)
        /// The longest payload that is handed out, in bytes; longer ones are cut.
        public var maximumPayloadLength: Int = PayloadLimit.everyPath
        /// The transport of the packets.
        public var transport = CameraTransport.auto
        /// The keep-alive to use whatever the camera says; nil finds one that it accepts.
        public var keepAlive: RTSPKeepAlive?
        /// The SHA-256 fingerprint that the camera's certificate must have, in hexadecimal; nil accepts any, and
        /// reports a change.
        public var certificateFingerprint: String?
        /// Whether the password itself is never sent without TLS (Basic), whatever is known about the camera.
        public var refusesBasic = false
        /// Whether to ask the camera if it has a speaker.
        public var looksForBackChannel = true
        /// How the camera's speaker is reached, where it has one.
        public var speaker = BackChannelSpeaker.Configuration()
        /// What is known about the camera from earlier.
        public var profile = CameraProfile()

        /// The usual settings.
        public init() {}
    }

    /// The camera's address; its text never shows credentials.
    public let url: RTSPURL
    /// The address that is requested: the camera's, except for what the gateway does not support.
    private let target: RTSPURL
    private let configuration: Configuration
    private let shared = Locked(Shared())
    private let findings: SourceFindings
    private let backChannelSpeaker: BackChannelSpeaker
    private let sharedSpeaker: SharedSpeaker

    private struct Shared {
        var control: SourceControl?
        var sink: (any CameraSink)?
        var isCoalescing = false
    }

    /// A source for a camera. `profileChanged` is called on the source's thread with each new state of the profile.
    public init(
        url: RTSPURL, configuration: Configuration = Configuration(),
        profileChanged: (@Sendable (CameraProfile) -> Void)? = nil
    ) {
        self.url = url
        self.configuration = configuration
        findings = SourceFindings(profile: configuration.profile, profileChanged: profileChanged)
        // TLS protects the packets already. Without it the address stays, so that packets that the owner wants
        // encrypted are not sent in the clear. The session description then shows why nothing comes.
        if url.isSecure, let plain = url.withoutSRTP {
            target = plain
            findings.recordAddress(.srtpNotRequested)
        } else {
            target = url
        }
        var speaker = configuration.speaker
        speaker.isTunnelled = configuration.transport == .http
        speaker.certificateFingerprint = configuration.certificateFingerprint
        speaker.keepAlive = configuration.keepAlive
        speaker.refusesBasic = configuration.refusesBasic
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

    public var logins: CameraLogins? {
        CameraLogins(host: url.host, credentials: url.credentials, ledger: findings.logins)
    }

    public func share(_ logins: CameraLogins) {
        guard url.host == logins.host, url.credentials != nil, url.credentials == logins.credentials else { return }
        findings.share(logins.ledger)
    }

    public var report: CameraReport? {
        var report = CameraReport()
        report.profile = profile.fields
        report.transport = transportInUse.kind?.rawValue
        report.keepAlive = transportInUse.keepAlive?.rawValue
        report.speaker = backChannel?.payloads.map { "\($0.codec.name)/\($0.codec.clockRate)" } ?? []
        report.notes = notes
        return report
    }

    /// Which parts of the camera's session description are not pulled, and why.
    public var notes: [CameraNote] { findings.notes }

    /// What has been learnt about the camera so far.
    public var profile: CameraProfile { findings.profile }

    /// The speaker that the camera describes; nil before it has, and where it has none.
    public var backChannel: BackChannelDescription? { findings.backChannel }

    /// How the camera is reached.
    public var transportInUse: RTSPTransportInUse { findings.transport }

    /// The tracks that have gone silent while the first one continues.
    public var silentTracks: Set<Int> { findings.silentTracks }

    /// The camera's speaker, once the camera has described one.
    public var speaker: (any CameraSpeaker)? { backChannel == nil ? nil : backChannelSpeaker }

    public func start(sink: any CameraSink) {
        shared.withLock { shared in
            guard shared.control == nil else { return }
            guard let control = SourceControl() else {
                sink.handle(.state(.backingOff(seconds: 0, reason: .noFileDescriptor)))
                return
            }
            shared.control = control
            shared.sink = sink
            control.setCoalescing(shared.isCoalescing)
            let (url, configuration) = (target, configuration)
            let (findings, speaker) = (findings, sharedSpeaker)
            let isRunning = startDetachedThread(name: "camera") {
                RTSPSupervisor.run(
                    url: url, configuration: configuration, sink: sink, control: control, findings: findings,
                    speaker: speaker)
            }
            if !isRunning {
                shared.control = nil
                sink.handle(.state(.backingOff(seconds: 0, reason: .noThread)))
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
        // A thread that was left behind in a look-up no longer reports, so the final state is reported here.
        if !control.stop() { sink?.handle(.state(.stopped)) }
    }

    public func requestKeyFrame(track: Int) {
        shared.withLock { $0.control }?.requestKeyFrame(track: track)
    }

    public func setCoalescing(_ isCoalescing: Bool) {
        let control = shared.withLock { shared in
            shared.isCoalescing = isCoalescing
            return shared.control
        }
        control?.setCoalescing(isCoalescing)
    }
}

/// The transport to use for a camera's packets. The raw values are those of the config's `transport`.
public enum CameraTransport: String, Sendable, Hashable, CaseIterable {
    /// What worked the last time, at first TCP. If the camera refuses that or sends nothing, the other of TCP and
    /// UDP.
    case auto
    /// The connection of the requests.
    case tcp
    /// UDP.
    case udp
    /// The connection of the requests, inside HTTP; with an `rtsps` address inside HTTPS.
    case http
}
