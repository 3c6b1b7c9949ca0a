import RTP
import RTSP
import SDP
import Transport

/// Keeps one camera's media coming, on the source's thread: connects, watches, and tries again.
struct RTSPSupervisor: ~Copyable {
    let url: RTSPURL
    let configuration: RTSPSource.Configuration
    let control: SourceControl
    var output: SourceOutput
    var random = RandomSource.system
    var delay = ReconnectDelay()
    var keepAlive: RTSPKeepAlive?

    private static let maximumRedirections = 5
    /// A source that has played this long has recovered: its next failure is a first one.
    private static let recovery: Duration = .seconds(10)

    /// Runs until the source is stopped.
    static func run(
        url: RTSPURL, configuration: RTSPSource.Configuration, sink: any CameraSink, control: SourceControl,
        note: @escaping @Sendable ([String]) -> Void
    ) {
        var supervisor = RTSPSupervisor(
            url: url, configuration: configuration, control: control, output: SourceOutput(sink: sink, note: note))
        supervisor.loop()
        control.markEnded()
    }

    private mutating func loop() {
        var target = url
        var redirections = 0
        while !control.isStopping {
            let ending = attempt(target)
            if case .abandoned = ending { return }
            if case .redirected(let next) = ending, redirections < Self.maximumRedirections {
                redirections += 1
                target = next
                continue
            }
            target = url
            redirections = 0
            guard !control.isStopping, case .failed(let failure) = ending.asFailure else { break }
            if failure.playedFor >= Self.recovery { delay.reset() }
            if let next = failure.nextKeepAlive { keepAlive = next }
            let pause = delay.next(afterRefusedCredentials: failure.isRefused, random: &random)
            output.tell(.backingOff(seconds: pause.inSeconds, reason: failure.reason))
            let end = monotonicNow() + pause
            while !control.isStopping {
                let left = end - monotonicNow()
                if left <= .zero { break }
                control.wait(left)
                _ = control.takeKeyFrameRequests()
            }
        }
        output.tell(.stopped)
    }

    /// One connection from its beginning to its end.
    private mutating func attempt(_ target: RTSPURL) -> SessionEnding {
        output.tell(.resolving)
        let addresses: [SocketAddress]
        switch control.resolve({ CameraSocket.lookUp(host: target.host, port: target.port) }) {
        case .notBegun: return .stopped
        case .abandoned: return .abandoned
        case .found(.failure(let error)): return .failed(SessionFailure(error.description))
        case .found(.success(let list)): addresses = list
        }
        output.tell(.connecting)
        var reason = "no address"
        for address in addresses where !control.isStopping {
            do throws(CameraUnreachable) {
                let socket = try CameraSocket.connect(
                    address, timeout: configuration.connectTimeout, control: control)
                return play(target, over: socket)
            } catch {
                reason = error.description
            }
        }
        return control.isStopping ? .stopped : .failed(SessionFailure(reason))
    }

    private mutating func play(_ target: RTSPURL, over socket: consuming CameraSocket) -> SessionEnding {
        var clientConfiguration = RTSPClient.Configuration()
        clientConfiguration.answerTimeout = configuration.answerTimeout
        clientConfiguration.keepAlive = keepAlive
        let client = RTSPClient(url: target, configuration: clientConfiguration, random: random)
        var session = RTSPSession(
            client: client, socket: socket, url: target, configuration: configuration, control: control,
            ssrc: UInt32.random(in: 1...UInt32.max, using: &random))
        return session.run(output: &output, random: &random)
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
    case failed(SessionFailure)

    /// The same, with one redirection too many as the failure that it is.
    var asFailure: SessionEnding {
        guard case .redirected = self else { return self }
        return .failed(SessionFailure("the camera redirects in a circle"))
    }
}

/// Why a session failed, and what is to be learnt from it.
struct SessionFailure {
    var reason: String
    /// The credentials were refused or are missing.
    var isRefused = false
    /// How long packets had been coming.
    var playedFor: Duration = .zero
    /// The camera seems not to count the keep-alive that was used: what to try instead.
    var nextKeepAlive: RTSPKeepAlive?

    init(_ reason: String) { self.reason = reason }
}

/// What the source hands to its sink, and the tracks' timelines, which live longer than one connection.
struct SourceOutput {
    let sink: any CameraSink
    let note: @Sendable ([String]) -> Void
    private(set) var tracks: [IncomingTrackBox] = []
    private(set) var descriptions: [TrackDescription] = []
    private var lastState: SourceState?

    init(sink: any CameraSink, note: @escaping @Sendable ([String]) -> Void) {
        self.sink = sink
        self.note = note
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
            guard let format = IncomingTrack.Format(track.description.codec) else { continue }
            let previous = index < tracks.count ? tracks[index] : nil
            if let previous, previous.track.format == format,
                previous.clockRate == track.description.codec.clockRate
            {
                previous.track.restart(track, at: now)
                boxes.append(previous)
                continue
            }
            let sink = sink
            let incoming = IncomingTrack(
                track, format: format, firstSequenceNumber: UInt16.random(in: .min ... .max, using: &random),
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
    mutating func learnProfile(_ profile: String, track: Int) {
        guard descriptions.indices.contains(track) else { return }
        descriptions[track].codec.formatParameters.parameters.append(
            FormatParameters.Parameter(name: "profile-level-id", value: profile))
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
