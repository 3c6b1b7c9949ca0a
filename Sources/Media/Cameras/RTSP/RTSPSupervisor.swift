import DatagramPort
import RTSP
import SDP
import Transport

/// Keeps one camera's media flowing, on the source's thread: connects, watches, and tries again.
struct RTSPSupervisor: ~Copyable {
    let url: RTSPURL
    let configuration: RTSPSource.Configuration
    let control: SourceControl
    /// Holds a talk that has to go over the source's session.
    let speaker: SharedSpeaker
    var output: SourceOutput
    var dialer: CameraDialer
    var random = RandomSource.system
    /// The transport to try instead of the profile's, after that one has failed.
    var trial: CameraProfile.Transport?
    /// The camera did not answer when it was asked for its back channel, and is now asked without it.
    var doubtsFeature = false
    /// Sessions with the talk that failed before it was open.
    var failedTalks = 0
    /// How old sessions became.
    private var ages = SessionAges()

    /// A source that has played this long has recovered: its next failure is treated as the first.
    private static let recovery: Duration = .seconds(10)

    /// Runs until the source is stopped.
    static func run(
        url: RTSPURL, configuration: RTSPSource.Configuration, sink: any CameraSink, control: SourceControl,
        findings: SourceFindings, speaker: SharedSpeaker
    ) {
        var supervisor = RTSPSupervisor(
            url: url, configuration: configuration, control: control, speaker: speaker,
            output: SourceOutput(sink: sink, findings: findings),
            dialer: CameraDialer(url, settings: configuration.dialing, findings: findings))
        speaker.attach(control)
        supervisor.loop()
        speaker.detach(control)
        control.markEnded()
    }

    private mutating func loop() {
        var target = url
        // The source was stopped and started again in the meantime, but that does not correct a wrong password.
        let (open, last) = (output.findings.circuit.withLock { $0.openUntil }, output.findings.lastSurrender)
        if let open, open > MonotonicClock.now, let last { wait(until: open, telling: last) }
        awaitLogin()
        var redirections = 0
        while !control.isStopping {
            let ending = attempt(target)
            if case .abandoned = ending { return }
            if case .redirected(let next) = ending, redirections < CameraDialer.maximumRedirections {
                redirections += 1
                target = next
                continue
            }
            if case .restarted = ending, !control.isStopping { continue }
            guard !control.isStopping, case .failed(var failure) = ending.asFailure else { break }
            if failure.kind == .credentialsRefused {
                failure.reason = dialer.reason(failure.reason, ofRefusalAt: target)
                if failure.reason.isPasswordWithheld { failure.kind = .passwordWithheld }
            }
            if failure.playedFor >= Self.recovery { output.findings.circuit.withLock { $0.succeed() } }
            let repeated = ages.record(failure.age)
            if let blamed = failure.failedKeepAlive ?? repeated { blame(blamed) }
            // An alternative for the same camera is tried at once, once for each failure.
            if tryOtherwise(after: failure) { continue }
            target = url
            redirections = 0
            pause(after: failure)
            awaitLogin()
        }
        output.report(.stopped)
    }

    /// Waits while another attempt with the same credentials would only help to lock the account.
    private mutating func awaitLogin() {
        while !control.isStopping, let closed = output.findings.logins.withLock({ $0.admit(at: MonotonicClock.now) }) {
            wait(until: closed.until, telling: closed.state)
        }
    }

    private mutating func pause(after failure: SessionFailure) {
        let next = output.findings.pause(
            after: failure.asCircuitFailure, failure.reason, at: MonotonicClock.now, random: &random)
        wait(until: next.until, telling: next.state)
    }

    /// Waits until then or until the source is stopped.
    private mutating func wait(until end: Instant, telling state: SourceState) {
        output.report(state)
        control.wait(until: end)
    }

    // MARK: Learning

    /// Records that the camera ended a session in spite of this keep-alive, or because of it.
    private func blame(_ keepAlive: RTSPKeepAlive) {
        guard configuration.keepAlive == nil else { return }
        output.findings.learn { profile in
            profile.keepAlive = nil
            profile.avoidedKeepAlives.insert(keepAlive)
            // When none is left, the camera does not end its sessions for lack of a keep-alive: all are tried again.
            if profile.avoidedKeepAlives.isSuperset(of: RTSPKeepAlive.ladder) { profile.avoidedKeepAlives = [] }
        }
    }

    /// Whether to try an alternative after this failure, without a pause.
    private mutating func tryOtherwise(after failure: SessionFailure) -> Bool {
        switch failure.kind {
        case .featureSuspected where !doubtsFeature:
            doubtsFeature = true
            return true
        case .credentialsRefused:
            return output.findings.logins.withLock { $0.refuse(failure.refusedLogin) }
        case .transportRefused, .nothingCame, .tracksRefused:
            guard configuration.transport == .auto else { return false }
            guard trial == nil else {
                // Both have failed: the next attempt begins with what worked the last time.
                trial = nil
                return false
            }
            trial = transport == .udp ? .tcp : .udp
            return true
        default:
            return false
        }
    }

    /// The transport to use this time.
    private var transport: CameraProfile.Transport {
        switch configuration.transport {
        case .tcp: .tcp
        case .udp: .udp
        case .http: .http
        case .auto: trial ?? (output.findings.profile.transport == .udp ? .udp : .tcp)
        }
    }

    /// Whether to ask the camera for its back channel this time.
    private var asksForBackChannel: Bool {
        configuration.looksForBackChannel && !doubtsFeature
            && output.findings.mayAskForBackChannel(at: MonotonicClock.now)
    }

    // MARK: Connecting

    /// One connection from its beginning to its end.
    private mutating func attempt(_ target: RTSPURL) -> SessionEnding {
        output.report(.resolving)
        let findings = output.findings
        // These are copied out, so that they can be used while the dialer is.
        var (dialer, random) = (dialer, random)
        let outcome = dialer.connect(target, isTunnelled: transport == .http, control: control, random: &random) {
            findings.use { $0.isSecure = target.isSecure }
            output.report(.connecting)
        }
        (self.dialer, self.random) = (dialer, random)
        switch outcome {
        case .connected(let connection): return play(target, over: connection)
        case .stopped: return .stopped
        case .abandoned: return .abandoned
        case .failed(let error):
            let kind = error.authenticationFailure == nil ? SessionFailure.Kind.other : .credentialsRefused
            return .failed(SessionFailure(.unreachable(error), kind: kind))
        }
    }

    private mutating func play(_ target: RTSPURL, over connection: CameraConnection) -> SessionEnding {
        var clientConfiguration = dialer.clientConfiguration(for: target)
        let asks = asksForBackChannel
        let talk = speaker.waitingTalk().map { SharedTalk($0, of: speaker, at: MonotonicClock.now) }
        if talk != nil {
            clientConfiguration.require = RTSPFeature.backChannel
        } else if asks {
            clientConfiguration.require = RTSPFeature.backChannel
            clientConfiguration.requiresOnlyDescription = true
            clientConfiguration.featureTimeout = configuration.featureTimeout
            output.findings.inquire { inquiry, _ in
                inquiry.ask(at: MonotonicClock.now)
                return nil
            }
        }
        let driver = RTSPDriver(target, over: connection, configuration: clientConfiguration, random: random)
        var session = RTSPSession(
            driver: driver, url: target, configuration: configuration, control: control, transport: transport,
            asksForBackChannel: asks && talk == nil, ssrc: UInt32.random(in: 1...UInt32.max, using: &random),
            speaker: speaker, talk: talk)
        let ending = session.run(output: &output, random: &random)
        if let talk { settle(talk, ending) }
        // Only if a camera describes itself without the question for the back channel was that question the cause.
        if talk == nil, doubtsFeature, session.progress >= .described {
            output.findings.inquire { $0.suspect($1) }
        }
        doubtsFeature = false
        if session.progress == .flowing { trial = nil }
        return ending
    }
}

extension RTSPSupervisor {
    /// Handles the end of a session with a talk. A camera may need a moment before it accepts the next session, so one
    /// failure before the talk is open is forgiven.
    private mutating func settle(_ talk: SharedTalk, _ ending: SessionEnding) {
        guard case .failed(let failure) = ending.asFailure, !talk.breakOff(failure.reason) else {
            failedTalks = 0
            return
        }
        failedTalks += 1
        guard failedTalks > 1 else { return }
        failedTalks = 0
        talk.refuse(.sessionRefused(failure.reason))
    }
}

extension RTSPSource.Configuration {
    /// What concerns the connections.
    var dialing: CameraDialer.Settings {
        CameraDialer.Settings(
            connectTimeout: connectTimeout, answerTimeout: answerTimeout, keepAlive: keepAlive,
            certificateFingerprint: certificateFingerprint, refusesBasic: refusesBasic)
    }
}
