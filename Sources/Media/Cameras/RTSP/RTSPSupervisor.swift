import RTP
import RTSP
import SDP
import Transport

/// Keeps one camera's media coming, on the source's thread: connects, watches, and tries again.
struct RTSPSupervisor: ~Copyable {
    let url: RTSPURL
    let configuration: RTSPSource.Configuration
    let control: SourceControl
    /// A talk that has to go over the source's session.
    let speaker: SharedSpeaker
    var output: SourceOutput
    var random = RandomSource.system
    /// What is tried instead of what the profile says, after that has failed.
    var trial: CameraProfile.Carriage?
    /// The camera did not answer when it was asked for its back channel, and is asked without it.
    var doubtsFeature = false
    /// Sessions with the talk that failed before it was open.
    var failedTalks = 0
    /// How old sessions became.
    private var ages = SessionAges()

    private static let maximumRedirections = 5
    /// A source that has played this long has recovered: its next failure is a first one.
    private static let recovery: Duration = .seconds(10)

    /// Runs until the source is stopped.
    static func run(
        url: RTSPURL, configuration: RTSPSource.Configuration, sink: any CameraSink, control: SourceControl,
        findings: SourceFindings, speaker: SharedSpeaker
    ) {
        var supervisor = RTSPSupervisor(
            url: url, configuration: configuration, control: control, speaker: speaker,
            output: SourceOutput(sink: sink, findings: findings))
        speaker.attach(control)
        supervisor.loop()
        speaker.detach(control)
        control.markEnded()
    }

    private mutating func loop() {
        var target = url
        // The source was stopped and started again meanwhile, which makes a wrong password no better.
        let (open, last) = (output.findings.circuit.withLock { $0.openUntil }, output.findings.lastSurrender)
        if let open, open > monotonicNow(), let last { wait(until: open, telling: last) }
        var redirections = 0
        while !control.isStopping {
            let ending = attempt(target)
            if case .abandoned = ending { return }
            if case .redirected(let next) = ending, redirections < Self.maximumRedirections {
                redirections += 1
                target = next
                continue
            }
            if case .restarted = ending, !control.isStopping { continue }
            guard !control.isStopping, case .failed(let failure) = ending.asFailure else { break }
            if failure.playedFor >= Self.recovery { output.findings.circuit.withLock { $0.succeed() } }
            let repeated = ages.note(failure.age)
            if let blamed = failure.failedKeepAlive ?? repeated { blame(blamed) }
            // Another way to the same camera is tried at once, once for each failure.
            if tryOtherwise(after: failure) { continue }
            target = url
            redirections = 0
            pause(after: failure)
        }
        output.tell(.stopped)
    }

    private mutating func pause(after failure: SessionFailure) {
        let now = monotonicNow()
        // Drawn outside of the lock, and cheap to draw in vain.
        var random = random
        let verdict = output.findings.circuit.withLock { $0.fail(failure.asCircuitFailure, at: now, random: &random) }
        self.random = random
        switch verdict {
        case .retry(let pause):
            wait(until: now + pause, telling: .backingOff(seconds: pause.inSeconds, reason: failure.reason))
        case .giveUp(let end, let failures):
            let surrender = SourceState.givenUp(until: end, failures: failures, reason: failure.reason)
            output.findings.surrender(surrender)
            wait(until: end, telling: surrender)
        }
    }

    /// Waits until then or until the source is stopped.
    private mutating func wait(until end: Instant, telling state: SourceState) {
        output.tell(state)
        while !control.isStopping {
            let left = end - monotonicNow()
            if left <= .zero { break }
            control.wait(left)
            _ = control.takeKeyFrameRequests()
        }
    }

    // MARK: Learning

    /// The camera ended a session in spite of this keep-alive, or because of it.
    private func blame(_ keepAlive: RTSPKeepAlive) {
        guard configuration.keepAlive == nil else { return }
        output.findings.learn { profile in
            profile.keepAlive = nil
            profile.avoidedKeepAlives.insert(keepAlive)
            // When none is left the camera does not end its sessions for want of one: all are tried anew.
            if profile.avoidedKeepAlives.isSuperset(of: RTSPKeepAlive.ladder) { profile.avoidedKeepAlives = [] }
        }
    }

    /// Whether there is another way to try, without a pause, after this failure.
    private mutating func tryOtherwise(after failure: SessionFailure) -> Bool {
        switch failure.kind {
        case .featureSuspected where !doubtsFeature:
            doubtsFeature = true
            return true
        case .carriageRefused, .nothingCame, .tracksRefused:
            guard configuration.transport == .auto else { return false }
            guard trial == nil else {
                // Both have failed: the next attempt begins with what worked the last time.
                trial = nil
                return false
            }
            trial = carriage == .udp ? .tcp : .udp
            return true
        default:
            return false
        }
    }

    /// What shall carry the packets this time.
    private var carriage: CameraProfile.Carriage {
        switch configuration.transport {
        case .tcp: .tcp
        case .udp: .udp
        case .http: .http
        case .auto: trial ?? (output.findings.profile.carriage == .udp ? .udp : .tcp)
        }
    }

    /// Whether the camera is asked for its back channel this time.
    private var asksForBackChannel: Bool {
        configuration.looksForBackChannel && !doubtsFeature
            && output.findings.mayAskForBackChannel(at: monotonicNow())
    }

    // MARK: Connecting

    /// One connection from its beginning to its end.
    private mutating func attempt(_ target: RTSPURL) -> SessionEnding {
        output.tell(.resolving)
        let port = carriage == .http ? RTSPTunnel.port(of: target) : target.port
        let addresses: [SocketAddress]
        switch control.resolve({ CameraSocket.lookUp(host: target.host, port: port) }) {
        case .notBegun: return .stopped
        case .abandoned: return .abandoned
        case .found(.failure(let error)): return .failed(SessionFailure(error.description))
        case .found(.success(let list)): addresses = list
        }
        output.tell(.connecting)
        var failure = SessionFailure("no address")
        for address in addresses where !control.isStopping {
            do throws(CameraUnreachable) {
                let connection = try connect(target, at: address)
                return play(target, over: connection)
            } catch {
                failure = SessionFailure(error.description)
                if error.isRefused { failure.kind = .credentialsRefused }
            }
        }
        return control.isStopping ? .stopped : .failed(failure)
    }

    private mutating func connect(
        _ target: RTSPURL, at address: SocketAddress
    ) throws(CameraUnreachable) -> CameraConnection {
        let (pin, findings) = (configuration.certificateFingerprint, output.findings)
        findings.use { $0.isSecure = target.isSecure }
        return try CameraConnection.open(
            target, at: address, isTunnelled: carriage == .http, timeout: configuration.connectTimeout,
            control: control, random: &random
        ) { (fingerprint: String?) throws(CameraUnreachable) in
            guard let fingerprint else { return }
            if let pin, !pin.isSameFingerprint(as: fingerprint) {
                throw CameraUnreachable(
                    "the camera's certificate is another than the config names; it has \(fingerprint)")
            }
            if let earlier = findings.profile.certificateFingerprint, earlier != fingerprint {
                findings.use { $0.earlierCertificateFingerprint = earlier }
            }
            findings.learn { $0.certificateFingerprint = fingerprint }
        }
    }

    private mutating func play(_ target: RTSPURL, over connection: CameraConnection) -> SessionEnding {
        let profile = output.findings.profile
        var clientConfiguration = RTSPClient.Configuration()
        clientConfiguration.answerTimeout = configuration.answerTimeout
        clientConfiguration.keepAlive = configuration.keepAlive ?? profile.keepAlive
        clientConfiguration.isKeepAlivePinned = configuration.keepAlive != nil
        clientConfiguration.avoidedKeepAlives = profile.avoidedKeepAlives
        let asks = asksForBackChannel
        let talk = speaker.waitingTalk().map { SharedTalk($0, of: speaker, at: monotonicNow()) }
        if talk != nil {
            clientConfiguration.require = RTSPFeature.backChannel
        } else if asks {
            clientConfiguration.require = RTSPFeature.backChannel
            clientConfiguration.requiresOnlyDescription = true
            clientConfiguration.featureTimeout = configuration.featureTimeout
            output.findings.inquire { inquiry, _ in
                inquiry.ask(at: monotonicNow())
                return nil
            }
        }
        let client = RTSPClient(url: target, configuration: clientConfiguration, random: random)
        var session = RTSPSession(
            client: client, connection: connection, url: target, configuration: configuration, control: control,
            carriage: carriage, asksForBackChannel: asks && talk == nil,
            ssrc: UInt32.random(in: 1...UInt32.max, using: &random), speaker: speaker, talk: talk)
        let ending = session.run(output: &output, random: &random)
        if let talk { settle(talk, ending) }
        // Only a camera that describes itself when it is not asked for the back channel has shown that this was it.
        if talk == nil, doubtsFeature, session.described != nil {
            output.findings.inquire { $0.suspect($1) }
        }
        doubtsFeature = false
        if session.flowingSince != nil { trial = nil }
        return ending
    }
}

extension RTSPSupervisor {
    /// A session with a talk has ended. A camera may need a moment before it takes the next session, so that one failure
    /// before the talk is open is forgiven.
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

extension String {
    /// Whether two fingerprints are the same, with or without colons and in either case.
    func isSameFingerprint(as other: String) -> Bool {
        let digits = { (text: String) in text.lowercased().filter { $0 != ":" && $0 != " " } }
        return digits(self) == digits(other)
    }
}

/// How a session ended.
enum SessionEnding {
    /// The owner wanted it.
    case stopped
    /// The owner has stopped waiting for the thread: the sink must not be touched again.
    case abandoned
    /// The camera's media are elsewhere.
    case redirected(RTSPURL)
    /// Somebody begins to talk or has ended: the next session has the speaker or does without it.
    case restarted
    case failed(SessionFailure)

    /// The same, with one redirection too many as the failure that it is.
    var asFailure: SessionEnding {
        guard case .redirected = self else { return self }
        return .failed(SessionFailure("the camera redirects in a circle"))
    }
}

/// Why a session failed, and what is to be learnt from it.
struct SessionFailure {
    /// What kind of failure it is, where that decides what comes next.
    enum Kind {
        case other
        /// The credentials were refused or are missing.
        case credentialsRefused
        /// The camera does not send in the way that was asked for.
        case carriageRefused
        /// It refused every track.
        case tracksRefused
        /// It agreed to play, and no packet came.
        case nothingCame
        /// It did not answer when it was asked for its back channel.
        case featureSuspected
        /// It answers, and has nothing to play under this address.
        case mediaRefused
    }

    var reason: String
    var kind = Kind.other
    /// How long packets had been coming.
    var playedFor: Duration = .zero
    /// The camera seems not to count the keep-alive that was used, or to end sessions because of it.
    var failedKeepAlive: RTSPKeepAlive?
    /// How old the session became, where the camera ended it in spite of a keep-alive.
    var age: SessionAge?

    init(_ reason: String, kind: Kind = .other) {
        self.reason = reason
        self.kind = kind
    }

    /// The failure as the circuit counts it.
    var asCircuitFailure: CircuitBreaker.Failure {
        switch kind {
        case .credentialsRefused: .credentialsRefused
        case .tracksRefused, .mediaRefused, .carriageRefused: .mediaRefused
        case .other, .nothingCame, .featureSuspected: .unreachable
        }
    }
}

/// What the source hands to its sink, and the tracks' timelines, which live longer than one connection.
struct SourceOutput {
    let sink: any CameraSink
    let findings: SourceFindings
    private(set) var tracks: [IncomingTrackBox] = []
    private(set) var descriptions: [TrackDescription] = []
    private var lastState: SourceState?

    init(sink: any CameraSink, findings: SourceFindings) {
        self.sink = sink
        self.findings = findings
    }

    /// Tells the sink a state, unless it is the one that it knows.
    mutating func tell(_ state: SourceState) {
        guard state != lastState else { return }
        lastState = state
        sink.handle(.state(state))
    }

    /// The camera describes its tracks. A track that is of the same kind as one before goes on where that one ended.
    mutating func announce(
        _ described: [CameraDescription.Track], limit: Int, random: inout RandomSource, at now: Instant
    ) {
        var boxes: [IncomingTrackBox] = []
        for (index, track) in described.enumerated() {
            let previous = index < tracks.count ? tracks[index] : nil
            if let previous, previous.track.format == track.format,
                previous.clockRate == track.description.codec.clockRate
            {
                previous.track.restart(track, at: now)
                boxes.append(previous)
                continue
            }
            let sink = sink
            let incoming = IncomingTrack(
                track, firstSequenceNumber: UInt16.random(in: .min ... .max, using: &random),
                limit: limit
            ) { batch in
                sink.receive(batch, track: index)
            }
            boxes.append(IncomingTrackBox(incoming, clockRate: track.description.codec.clockRate))
        }
        tracks = boxes
        descriptions = described.map(\.description)
        sink.handle(.tracks(descriptions))
    }

    /// The stream itself has told its profile, which the description left out.
    mutating func learnProfile(_ parameters: [FormatParameters.Parameter], track: Int) {
        guard descriptions.indices.contains(track) else { return }
        descriptions[track].codec.formatParameters.parameters += parameters
        sink.handle(.tracks(descriptions))
    }

    /// The stream's pictures come in another order than that of showing.
    mutating func learnReordering(track: Int) {
        guard descriptions.indices.contains(track), !descriptions[track].reordersPictures else { return }
        descriptions[track].reordersPictures = true
        sink.handle(.tracks(descriptions))
    }
}

/// Holds a track, which cannot be copied, in an array. It stays on the source's thread.
final class IncomingTrackBox {
    var track: IncomingTrack
    let clockRate: Int

    init(_ track: consuming IncomingTrack, clockRate: Int) {
        self.track = track
        self.clockRate = clockRate
    }
}
