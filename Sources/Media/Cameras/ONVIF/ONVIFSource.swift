import DatagramPort
import HTTPMedia
import Intake
import ONVIF
import RTP
import RTSP
import Transport

/// A camera that is named by its ONVIF device service. The source asks it for the RTSP address of its stream, and an
/// inner source pulls the stream from there. When the inner source fails repeatedly, the camera is asked again, since a
/// firmware update or a change of its settings may have moved the stream.
public final class ONVIFSource: CameraSource {
    /// Which of the camera's profiles is pulled.
    public enum Stream: Sendable {
        /// The best one that browsers play, where only one stream of the camera is pulled.
        case best
        /// The largest video stream, H.264 or H.265, where another source pulls the smaller one.
        case main
        /// Of the video streams that are smaller than ``main`` and show the same picture, the smallest of those that
        /// browsers play best. If the camera has none, nothing is pulled.
        case sub
    }

    private struct Shared {
        var control: SourceControl?
        var sink: (any CameraSink)?
        var inner: (any CameraSource)?
        var isCoalescing = false
    }

    private let device: HTTPAddress
    private let credentials: RTSPCredentials?
    private let stream: Stream
    private let answerTimeout: Duration
    private let makeSource: @Sendable (RTSPURL) -> any CameraSource
    /// Where the smaller stream is. The sources of both streams have the same one.
    private let place: SubstreamPlace
    private let shared = Locked(Shared())

    /// A source for a camera's address, `onvif://user:password@host:port`.
    /// - Parameters:
    ///   - address: the address.
    ///   - stream: which of the camera's profiles is pulled.
    ///   - answerTimeout: how long the camera may take for each answer.
    ///   - makeSource: makes the source that pulls the stream.
    public init(
        address: String, stream: Stream = .best, answerTimeout: Duration = .seconds(10),
        makeSource: @escaping @Sendable (RTSPURL) -> any CameraSource = { RTSPSource(url: $0) }
    ) throws(ONVIFError) {
        (device, credentials) = try HTTPAddress.parse(onvif: address)
        self.stream = stream
        self.answerTimeout = answerTimeout
        self.makeSource = makeSource
        self.place = SubstreamPlace()
    }

    /// A source for the smaller stream of the camera whose ``Stream/main`` stream another source pulls. That one asks the
    /// camera for both addresses, so the camera is asked once and a wrong password counts once. This one asks only when
    /// its stream keeps failing.
    /// - Parameters:
    ///   - main: the source of the main stream. It is not started yet, and is always started before this one.
    ///   - makeSource: makes the source that pulls the stream.
    public init(
        substreamOf main: ONVIFSource,
        makeSource: @escaping @Sendable (RTSPURL) -> any CameraSource = { RTSPSource(url: $0) }
    ) {
        (device, credentials) = (main.device, main.credentials)
        self.stream = .sub
        self.answerTimeout = main.answerTimeout
        self.makeSource = makeSource
        self.place = main.place
        main.place.want()
    }

    deinit {
        _ = shared.withLock { $0.control }?.stop()
    }

    /// Lets the camera be asked for its smaller stream although nothing pulls that, before the main stream is pulled.
    /// Called before ``start(sink:)``.
    func lookForSubstream() { place.want(beforeMain: true) }

    /// Whether the camera has a smaller stream; nil while it has not answered, and where nobody wants to know.
    var hasSubstream: Bool? { place.hasSubstream }

    /// The source that pulls the stream; nil while the camera is asked where the stream is.
    public var current: (any CameraSource)? { shared.withLock { $0.inner } }

    public var speaker: (any CameraSpeaker)? { current?.speaker }

    public var report: CameraReport? { current?.report }

    public func requestKeyFrame(track: Int) {
        current?.requestKeyFrame(track: track)
    }

    public func setCoalescing(_ isCoalescing: Bool) {
        // Under the lock, so that a source that is found meanwhile does not miss it.
        shared.withLock { shared in
            shared.isCoalescing = isCoalescing
            shared.inner?.setCoalescing(isCoalescing)
        }
    }

    public func start(sink: any CameraSink) {
        let control = shared.withLock { shared -> SourceControl? in
            guard shared.control == nil, let control = SourceControl() else { return nil }
            shared.control = control
            shared.sink = sink
            return control
        }
        guard let control else { return }
        let (device, credentials, stream, makeSource) = (device, credentials, stream, makeSource)
        let (place, answerTimeout) = (place, answerTimeout)
        // What the camera answered before it was stopped may be out of date.
        if stream == .main { place.forget() }
        let isRunning = startDetachedThread(name: "camera-onvif") { [weak self] in
            var finder = StreamFinder(
                device: device, credentials: credentials, stream: stream, place: place, answerTimeout: answerTimeout,
                control: control)
            // The inner source is kept where requests find it. This source itself may be gone by then.
            let publish: @Sendable ((any CameraSource)?) -> Void = { [weak self] inner in
                self?.shared.withLock { shared in
                    shared.inner = inner
                    inner?.setCoalescing(shared.isCoalescing)
                }
            }
            ONVIFSource.run(&finder, sink: sink, control: control, makeSource: makeSource, publish: publish)
        }
        if !isRunning {
            shared.withLock { $0.control = nil }
            sink.handle(.state(.backingOff(seconds: 0, reason: .noThread)))
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

    /// The thread's work: find the stream, pull it, and start over when it keeps failing.
    private static func run(
        _ finder: inout StreamFinder, sink: any CameraSink, control: SourceControl,
        makeSource: @Sendable (RTSPURL) -> any CameraSource, publish: @Sendable ((any CameraSource)?) -> Void
    ) {
        var circuit = CircuitBreaker()
        var random = RandomSource.system
        // The source is kept as long as the camera names the same stream. It knows how often that has failed, and its
        // pauses grow.
        var known: (url: RTSPURL, source: any CameraSource)?
        var lacksStream = false
        while !control.isStopping {
            // A camera without the stream stays in that state until it has been asked again.
            if !lacksStream { sink.handle(.state(.describing)) }
            lacksStream = false
            switch finder.find() {
            case .abandoned: return
            case .failed(.noSecondProfile) where finder.waitsForMain:
                lacksStream = true
                sink.handle(.state(.givenUp(until: .distantFuture, failures: 1, reason: .onvif(.noSecondProfile))))
            case .failed(let error):
                if error == .stopped { break }
                let now = MonotonicClock.now
                switch circuit.fail(error.asCircuitFailure, at: now, random: &random) {
                case .retry(let pause):
                    sink.handle(.state(.backingOff(seconds: pause.inSeconds, reason: .onvif(error))))
                    wait(until: now + pause, control)
                case .giveUp(let end, let failures):
                    sink.handle(.state(.givenUp(until: end, failures: failures, reason: .onvif(error))))
                    wait(until: end, control)
                }
            case .found(let url):
                // The stream has been found. The inner source judges whether it plays.
                circuit.succeed()
                if known?.url != url { known = (url, makeSource(url)) }
                guard let inner = known?.source else { break }
                if finder.place.isAskedFirst, !finder.passOnSubstream(logins: inner.logins) { return }
                if let logins = finder.logins { inner.share(logins) }
                let watch = FailureWatch(sink: sink, control: control)
                publish(inner)
                inner.start(sink: watch)
                // The main stream does not wait for what the camera answers about the smaller one.
                guard finder.passOnSubstream(logins: inner.logins) else {
                    publish(nil)
                    return inner.stop()
                }
                while !control.isStopping, watch.nextQuestion > MonotonicClock.now {
                    wait(until: watch.nextQuestion, control)
                }
                publish(nil)
                inner.stop()
            }
        }
        sink.handle(.state(.stopped))
        control.markEnded()
    }

    /// Waits until then, or until a request comes.
    private static func wait(until end: Instant, _ control: SourceControl) {
        let left = end - MonotonicClock.now
        guard left > .zero, !control.isStopping else { return }
        control.wait(left)
        _ = control.takeKeyFrameRequests()
    }
}

extension ONVIFError {
    /// The failure as the camera's circuit counts it.
    var asCircuitFailure: CircuitBreaker.Failure {
        if isRefusal { return .credentialsRefused }
        // A feature that the camera lacks will not appear within a minute.
        switch self {
        case .unsupported, .noSecondProfile: return .mediaRefused
        default: return .unreachable
        }
    }
}

/// Passes on the inner source's packets and events, and notices when it keeps failing.
final class FailureWatch: CameraSink {
    /// After this many failures in a row the stream may be elsewhere.
    private static let limit = 4

    private let sink: any CameraSink
    private let control: SourceControl
    private struct State {
        var failures = 0
        /// When the camera is asked again.
        var nextQuestion = Instant.distantFuture
    }

    private let state = Locked(State())

    init(sink: any CameraSink, control: SourceControl) {
        self.sink = sink
        self.control = control
    }

    /// When to ask the camera again where its stream is.
    var nextQuestion: Instant { state.withLock { $0.nextQuestion } }

    func open(_ tracks: [TrackDescription]) -> [any PacketInlet] { sink.open(tracks) }

    func handle(_ event: CameraEvent) {
        switch event {
        case .state(.flowing): state.withLock { $0 = State() }
        case .state(.backingOff):
            state.withLock { state in
                state.failures += 1
                if state.failures >= Self.limit { state.nextQuestion = .zero }
            }
            // Wakes the thread, which looks at ``nextQuestion``.
            control.wake()
        case .state(.givenUp(let end, _, _)):
            // The camera is asked once more before the next attempt.
            state.withLock { $0.nextQuestion = end }
            control.wake()
        // The inner source stops when it is replaced. The outer one reports its own stop.
        case .state(.stopped): return
        default: break
        }
        sink.handle(event)
    }
}
