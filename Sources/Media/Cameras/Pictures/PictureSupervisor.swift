import Codecs
import DatagramPort
import HTTPMedia
import Intake
import RTP
import Transport

/// Keeps one camera's pictures flowing, on the source's thread: requests them, encodes them, and tries again.
struct PictureSupervisor: AttemptingSource, ~Copyable {
    /// A key frame that was requested is made of the newest picture where the next one takes longer than this.
    private static let repetition: Duration = .milliseconds(250)
    /// So many pictures in a row that cannot be decoded are a failure.
    private static let maximumDamaged = 20

    private let configuration: PictureSource.Configuration
    let control: SourceControl
    let findings: SourceFindings
    private let sink: any CameraSink
    private var client: CameraHTTPClient
    private var scanner: JPEGStreamScanner
    private var encoding: PictureEncoding?
    var random = RandomSource.system
    private var lastState: SourceState?
    private var session = PictureSession()
    /// The track, once its first picture has been encoded.
    private var description: TrackDescription?

    private init(_ client: CameraHTTPClient, _ configuration: PictureSource.Configuration, sink: any CameraSink) {
        self.client = client
        self.configuration = configuration
        self.sink = sink
        control = client.control
        findings = client.findings
        scanner = JPEGStreamScanner(maximumLength: configuration.maximumLength)
    }

    /// Runs until the source is stopped.
    static func run(
        _ client: CameraHTTPClient, _ configuration: PictureSource.Configuration, sink: any CameraSink
    ) {
        var supervisor = PictureSupervisor(client, configuration, sink: sink)
        supervisor.loop()
        client.control.markEnded()
    }

    mutating func report(_ state: SourceState) {
        guard state != lastState else { return }
        lastState = state
        sink.handle(.state(state))
    }

    // MARK: An attempt

    func age(at now: Instant) -> Duration { session.age(at: now) }

    func circuitFailure(of reason: CameraFailure) -> CircuitBreaker.Failure { reason.asPictureCircuitFailure }

    /// Requests pictures until something fails.
    mutating func attempt() -> AttemptEnding {
        session = PictureSession()
        report(.resolving)
        while !control.isStopping {
            let begun = MonotonicClock.now
            var isConnecting = false
            var (client, random) = (client, random)
            let outcome = client.request(until: begun + configuration.pictureTimeout, random: &random) {
                isConnecting = true
            }
            (self.client, self.random) = (client, random)
            if isConnecting, session.inlet == nil { report(.describing) }
            switch outcome {
            case .stopped: return .stopped
            case .abandoned: return .abandoned
            case .failed(let reason): return .failed(reason)
            case .answered(let response):
                do throws(CameraFailure) {
                    try play(response)
                    guard !response.isSeries, session.pictures > 0 else { throw CameraFailure.connectionClosed }
                    // An answer may be complete and hold no picture. A slow camera gets another request first.
                    let interval = interval(isSeries: false)
                    if session.silence(at: MonotonicClock.now) >= configuration.pictureTimeout + interval {
                        throw silence()
                    }
                    try pause(until: begun + interval)
                } catch {
                    return control.isStopping ? .stopped : .failed(error)
                }
            }
        }
        return .stopped
    }

    /// Takes the pictures of an answer: all of a series, or the only one.
    private mutating func play(_ response: CameraHTTPResponse) throws(CameraFailure) {
        if let type = response.otherType { throw .pictures(.notPictures(contentType: String(type.prefix(80)))) }
        if session.inlet == nil { report(.playing) }
        scanner.reset()
        var deadline = MonotonicClock.now + configuration.pictureTimeout
        while !control.isStopping {
            switch try response.receive(until: min(deadline, session.repetition ?? deadline), &scanner) {
            case .picture(let jpeg):
                deadline = MonotonicClock.now + configuration.pictureTimeout
                try take(jpeg, isSeries: response.isSeries)
                if !response.isSeries { return }
            case .woken: try answerRequests()
            case .ended: return
            case .timedOut where MonotonicClock.now < deadline: try answerRequests()
            case .timedOut: throw silence()
            }
        }
    }

    /// Reports that no picture comes, and returns the failure.
    private mutating func silence() -> CameraFailure {
        if session.pictures > 0 { report(.stalled(track: 0)) }
        return .pictures(.silent(seconds: Int(configuration.pictureTimeout.components.seconds)))
    }

    /// Waits until the next picture is to be requested.
    private mutating func pause(until end: Instant) throws(CameraFailure) {
        while !control.isStopping {
            let now = MonotonicClock.now
            if now >= end { return }
            control.wait(min(end, session.repetition ?? end) - now)
            try answerRequests()
        }
    }

    /// The shortest time from picture to picture.
    private func interval(isSeries: Bool) -> Duration {
        .milliseconds(Int64(1000 / rate(isSeries: isSeries)))
    }

    private func rate(isSeries: Bool) -> Double {
        min(max(configuration.framesPerSecond ?? (isSeries ? 15 : 1), 0.1), 30)
    }

    // MARK: Pictures

    private mutating func take(_ jpeg: [UInt8], isSeries: Bool) throws(CameraFailure) {
        let now = MonotonicClock.now
        session.count(at: now)
        // A tenth of the interval is forgiven, so that a camera with exactly this rate loses no picture.
        if let last = session.lastTaken, now - last < interval(isSeries: isSeries) * 9 / 10 { return }
        session.lastTaken = now
        if encoding == nil {
            encoding = PictureEncoding(
                framesPerSecond: rate(isSeries: isSeries), keyFrameInterval: configuration.keyFrameInterval, start: now,
                random: &random)
        }
        if session.inlet == nil { encoding?.requestKeyFrame() }
        do throws(CodecError) {
            guard let made = try encoding?.encode(jpeg: jpeg, at: now) else { return }
            session.damagedInARow = 0
            session.repetition = nil
            deliver(made.batch, made.description, isSeries: isSeries)
        } catch {
            session.damagedInARow += 1
            if session.damagedInARow >= Self.maximumDamaged || session.inlet == nil && !isSeries {
                throw .pictures(.damaged(error))
            }
        }
    }

    private mutating func deliver(_ batch: PacketBatch?, _ new: TrackDescription?, isSeries: Bool) {
        guard let batch else { return }
        if let new { description = new }
        guard let description else { return }
        if new != nil || session.inlet == nil { session.inlet = sink.open([description]).first }
        if session.isReportDue(at: batch.arrival) {
            report(isSeries: isSeries, at: batch.arrival)
        }
        session.inlet?.deliver(batch)
        report(.flowing)
    }

    /// Reports the clock, and what the camera sends.
    private func report(isSeries: Bool, at now: Instant) {
        guard let last = encoding?.last, let size = encoding?.size else { return }
        let ntp = NTPTimestamp(unixNanoseconds: WallClock.now - (MonotonicClock.now - last.time).wholeNanoseconds)
        sink.handle(.senderReport(track: 0, ntp: ntp.rawValue, rtpTimestamp: last.timestamp))
        let tenths = session.picturesPerSecond(at: now).map { Int(($0 * 10).rounded()) }
        findings.record([
            .pictures(
                isSeries: isSeries, width: size.width, height: size.height, tenthsPerSecond: tenths,
                cutOff: scanner.damaged)
        ])
    }

    /// Makes the key frame that was requested: of the next picture, or of the newest where the next is not near.
    private mutating func answerRequests() throws(CameraFailure) {
        if control.takeKeyFrameRequests() != 0, session.inlet != nil, let last = encoding?.last?.time {
            encoding?.requestKeyFrame()
            session.repetition = last + Self.repetition
        }
        let now = MonotonicClock.now
        guard let repetition = session.repetition, now >= repetition else { return }
        session.repetition = nil
        do throws(CodecError) {
            if let batch = try encoding?.repeatPicture(at: now) { session.inlet?.deliver(batch) }
        } catch {
            throw .pictures(.damaged(error))
        }
    }
}

/// What one attempt has brought.
private struct PictureSession {
    /// Where the packets go, once the track has been reported.
    var inlet: (any PacketInlet)?
    var pictures = 0
    var damagedInARow = 0
    /// When the newest picture came that was not left out.
    var lastTaken: Instant?
    /// When the newest picture is sent again as a key frame that was requested, unless another picture comes first.
    var repetition: Instant?
    private var first: Instant?
    private var newest: Instant?
    private var nextReport: Instant?

    mutating func count(at now: Instant) {
        pictures += 1
        if first == nil { first = now }
        newest = now
    }

    /// How long ago the newest picture came.
    func silence(at now: Instant) -> Duration { newest.map { now - $0 } ?? .zero }

    /// How long pictures have been coming.
    func age(at now: Instant) -> Duration { first.map { now - $0 } ?? .zero }

    /// How many pictures come; nil before that can be said.
    func picturesPerSecond(at now: Instant) -> Double? {
        let seconds = age(at: now).inSeconds
        return seconds >= 1 ? Double(pictures - 1) / seconds : nil
    }

    /// Whether to report now: once per second.
    mutating func isReportDue(at now: Instant) -> Bool {
        if let nextReport, now < nextReport { return false }
        nextReport = now + .seconds(1)
        return true
    }
}

extension CameraFailure {
    /// The failure as the circuit of a camera that sends pictures counts it.
    fileprivate var asPictureCircuitFailure: CircuitBreaker.Failure {
        switch self {
        case .pictures(let failure): failure.asCircuitFailure
        case .stream(let failure): failure.asCircuitFailure
        case .passwordWithheld, .redirectionCircle: .mediaRefused
        default: .unreachable
        }
    }
}
