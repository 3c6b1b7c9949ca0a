import Glibc
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
    private let talk = Locked<BackChannelTalk?>(nil)
    private let gate = SpeakerGate()

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

    public func play(_ samples: UnsafeBufferPointer<Int16>) {
        talk.withLock { $0 }?.play(samples)
    }

    public func end() {
        talk.withLock { $0 }?.control.requestStop()
    }

    public func silence() {
        gate.silence()
        end()
    }

    public var delivery: SpeakerDelivery {
        talk.withLock { $0 }?.delivery ?? SpeakerDelivery()
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

/// One talk: the state that the speaker's owner and the talk's thread share.
final class BackChannelTalk: Sendable {
    private struct State {
        var queue: TalkQueue
        var gain: SpeechGain
        var delivery = SpeakerDelivery(state: .opening)
        var louder: [Int16] = []
    }

    /// Stops the thread and wakes it.
    let control: SourceControl
    private let state: Locked<State>
    private let gate: SpeakerGate
    private let number: UInt64
    private let report: @Sendable (SpeakerState) -> Void

    init(
        control: SourceControl, limits: TalkQueue.Limits, decibels: Double, gate: SpeakerGate = SpeakerGate(),
        report: @escaping @Sendable (SpeakerState) -> Void
    ) {
        self.control = control
        self.report = report
        self.gate = gate
        number = gate.admit()
        state = Locked(State(queue: TalkQueue(limits: limits), gain: SpeechGain(decibels: decibels)))
    }

    // MARK: The talker's side

    /// Queues the talker's sound.
    func play(_ samples: UnsafeBufferPointer<Int16>) {
        state.withLock { state in
            state.louder.removeAll(keepingCapacity: true)
            state.louder.append(contentsOf: samples)
            state.louder.withUnsafeMutableBufferPointer { state.gain.apply(to: $0) }
            state.louder.withUnsafeBufferPointer { state.queue.push($0) }
        }
    }

    /// What has been delivered so far.
    var delivery: SpeakerDelivery {
        state.withLock { state in
            var delivery = state.delivery
            let queue = state.queue
            delivery.millisecondsReceived = Double(queue.received) / TalkQueue.samplesPerMillisecond
            delivery.millisecondsQueued = queue.milliseconds
            delivery.millisecondsDropped = Double(queue.dropped) / TalkQueue.samplesPerMillisecond
            delivery.millisecondsOfSilence = Double(queue.filled) / TalkQueue.samplesPerMillisecond
            return delivery
        }
    }

    // MARK: The thread's side

    /// The path is open: drops earlier sound that is too old by now.
    func open(codec: String, after duration: Duration) {
        let isNew = state.withLock { state in
            state.queue.restart()
            state.delivery.codec = codec
            state.delivery.millisecondsToOpen = duration.inMilliseconds
            guard state.delivery.state == .opening else { return false }
            state.delivery.state = .open
            return true
        }
        if isNew { report(.open) }
    }

    /// The camera does not accept the talk.
    func refuse(_ refusal: SpeakerRefusal) {
        state.withLock { $0.delivery.state = .refused(refusal) }
        report(.refused(refusal))
    }

    /// The talk is over; a refusal can still be read.
    func close() {
        state.withLock { state in
            if case .refused = state.delivery.state { return }
            state.delivery.state = .closed
        }
    }

    /// Fills a frame with the talker's sound.
    func pull(into frame: UnsafeMutableBufferPointer<Int16>) {
        state.withLock { state in _ = state.queue.pull(into: frame) }
    }

    /// Whether the camera was switched off, and nothing more may be sent to it.
    var isSilenced: Bool { gate.isSilenced(number) }

    /// Runs `send` unless the camera was switched off. The caller that switches it off waits for `send` to return.
    func unlessSilenced<Failure: Error>(_ send: () throws(Failure) -> Void) throws(Failure) {
        try gate.pass(number, send)
    }

    /// The talker has ended: lets the remaining sound go out. Returns whether any is left.
    func drain() -> Bool {
        state.withLock { state in
            state.queue.finish()
            return state.queue.count > 0
        }
    }

    /// Records what the stream has sent.
    func record(_ stream: borrowing BackChannelStream) {
        let (frames, packets) = (stream.framesSent, stream.packetsSent)
        let (bytes, dropped) = (stream.bytesSent, stream.packetsDropped)
        state.withLock { state in
            state.delivery.millisecondsSent = Double(frames) * 20
            state.delivery.packetsSent = packets
            state.delivery.bytesSent = bytes
            state.delivery.packetsDropped = dropped
        }
    }
}

/// What a speaker's talks pass on their way to the camera, so that a camera that is switched off receives nothing more
/// from the moment at which the command returns. Talks have threads of their own, and send their last words after
/// their end.
final class SpeakerGate: Sendable {
    private struct State {
        var latest: UInt64 = 0
        var silenced: UInt64 = 0
    }

    private let state = Locked(State())

    /// Admits another talk; returns its number.
    func admit() -> UInt64 {
        state.withLock { state in
            state.latest += 1
            return state.latest
        }
    }

    /// Stops all talks that were admitted. Waits for a talk that is sending at this moment: it never waits for the
    /// camera while it does.
    func silence() { state.withLock { $0.silenced = $0.latest } }

    /// Whether a talk may no longer send.
    func isSilenced(_ talk: UInt64) -> Bool { state.withLock { talk <= $0.silenced } }

    /// Runs `send` unless the talk may no longer send.
    func pass<Failure: Error>(_ talk: UInt64, _ send: () throws(Failure) -> Void) throws(Failure) {
        try state.withLock { state throws(Failure) in
            guard talk > state.silenced else { return }
            try send()
        }
    }
}

/// Makes a talker louder or softer, and keeps peaks below full scale.
struct SpeechGain: Sendable {
    /// Peaks stay below this part of full scale: a small speaker at its limit distorts.
    private static let ceiling: Float = 0.9 * 32_767
    /// How much of the limiter's reduction is released per sample: half of it in 50 ms at 48 kHz.
    private static let release: Float = 1 - 0.000_289

    private let gain: Float
    private var reduction: Float = 1

    /// - Parameter decibels: -40 to 40; values beyond are clamped.
    init(decibels: Double) {
        gain = Float(pow(10, min(max(decibels, -40), 40) / 20))
    }

    /// Changes `samples` in place.
    mutating func apply(to samples: UnsafeMutableBufferPointer<Int16>) {
        for index in samples.indices {
            let wanted = Float(samples[index]) * gain
            let magnitude = abs(wanted)
            // The gain goes down at once and up slowly: a peak never passes, and the sound does not pump.
            if magnitude * reduction > Self.ceiling {
                reduction = Self.ceiling / magnitude
            } else {
                reduction = 1 - (1 - reduction) * Self.release
            }
            samples[index] = Int16(max(-32_767, min(32_767, (wanted * reduction).rounded())))
        }
    }
}
