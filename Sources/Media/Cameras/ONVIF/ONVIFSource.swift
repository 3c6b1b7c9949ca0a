import DatagramPort
import HTTPMedia
import Intake
import ONVIF
import RTP
import RTSP
import Transport
import XML

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
    private let makeSource: @Sendable (RTSPURL) -> any CameraSource
    /// Where the smaller stream is. The sources of both streams have the same one.
    private let place: SubstreamPlace
    private let shared = Locked(Shared())

    /// A source for a camera's address, `onvif://user:password@host:port`.
    /// - Parameters:
    ///   - address: the address.
    ///   - stream: which of the camera's profiles is pulled.
    ///   - makeSource: makes the source that pulls the stream.
    public init(
        address: String, stream: Stream = .best,
        makeSource: @escaping @Sendable (RTSPURL) -> any CameraSource = { RTSPSource(url: $0) }
    ) throws(ONVIFError) {
        (device, credentials) = try HTTPAddress.parse(onvif: address)
        self.stream = stream
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
        self.makeSource = makeSource
        self.place = main.place
        main.place.want()
    }

    deinit {
        _ = shared.withLock { $0.control }?.stop()
    }

    /// Lets the camera be asked for its smaller stream although nothing pulls that. Called before ``start(sink:)``.
    func lookForSubstream() { place.want() }

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
        let place = place
        // What the camera answered before it was stopped may be out of date.
        if stream == .main { place.forget() }
        let isRunning = startDetachedThread(name: "camera-onvif") { [weak self] in
            var finder = StreamFinder(
                device: device, credentials: credentials, stream: stream, place: place, control: control)
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
            case .found(let url, let substream):
                // The stream has been found. The inner source judges whether it plays.
                circuit.succeed()
                if known?.url != url { known = (url, makeSource(url)) }
                guard let inner = known?.source else { break }
                if let substream { finder.place.put(substream, logins: inner.logins) }
                if let logins = finder.logins { inner.share(logins) }
                let watch = FailureWatch(sink: sink, control: control)
                publish(inner)
                inner.start(sink: watch)
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

/// Asks a device where its stream is.
private struct StreamFinder {
    enum Finding {
        /// The address of the stream and, where the source of the smaller stream waits for it, what the camera answers
        /// about that one.
        case found(RTSPURL, substream: Result<RTSPURL, ONVIFError>?)
        case failed(ONVIFError)
        case abandoned
    }

    private struct Abandoned: Error {}

    let device: HTTPAddress
    let credentials: RTSPCredentials?
    let stream: ONVIFSource.Stream
    let place: SubstreamPlace
    let control: SourceControl
    /// The logins of the main stream, with which those of the smaller one count.
    private(set) var logins: CameraLogins?
    /// Whether the source of the main stream has passed on an address.
    private var hasAddress = false

    init(
        device: HTTPAddress, credentials: RTSPCredentials?, stream: ONVIFSource.Stream, place: SubstreamPlace,
        control: SourceControl
    ) {
        self.device = device
        self.credentials = credentials
        self.stream = stream
        self.place = place
        self.control = control
    }

    /// Whether the source of the main stream asks the camera for this stream, too.
    var waitsForMain: Bool { stream == .sub && place.isWanted }

    mutating func find() -> Finding {
        if waitsForMain, let answer = answerOfMain() {
            switch answer {
            case .success(let url): return .found(url, substream: nil)
            case .failure(let error): return .failed(error)
            }
        }
        var client = ONVIFClient(credentials: credentials, control: control, random: .system)
        do {
            return try find(&client)
        } catch let error as ONVIFError {
            if error == .noSecondProfile { hasAddress = false }
            return .failed(error)
        } catch {
            return .abandoned
        }
    }

    /// What the source of the main stream has passed on; waits for the first answer. Nil once that has been used up.
    private mutating func answerOfMain() -> Result<RTSPURL, ONVIFError>? {
        while !control.isStopping {
            if let answer = place.take(waking: control) {
                logins = answer.logins
                // There is nothing to ask a camera with one stream for, until its other source has asked again.
                if case .failure(.noSecondProfile) = answer.substream { hasAddress = false } else { hasAddress = true }
                return answer.substream
            }
            if hasAddress { return nil }
            control.wait(.seconds(3_600))
            _ = control.takeKeyFrameRequests()
        }
        return .failure(.stopped)
    }

    private func find(_ client: inout ONVIFClient) throws -> Finding {
        if let answer = try optional(DeviceService.getSystemDateAndTime(device), &client),
            let time = try? DeviceService.systemDateAndTime(answer)
        {
            client.clockOffset = time.millisecondsSince1970 &- WallTime.now.millisecondsSince1970
        }
        var media: HTTPAddress?
        if let answer = try optional(DeviceService.getServices(device), &client) {
            media = DeviceService.services(answer, given: device).media
        }
        if media == nil, let answer = try optional(DeviceService.getCapabilities(device), &client) {
            media = DeviceService.capabilities(answer, given: device).media
        }
        let service = media ?? device
        let ranked = MediaProfile.ranked(MediaService.profiles(try call(MediaService.getProfiles(service), &client)))
        let chosen = try stream.choose(among: ranked)
        let url = try address(of: chosen, at: service, &client)
        guard stream == .main, place.isWanted else { return .found(url, substream: nil) }
        do {
            let smaller = try ONVIFSource.Stream.sub.choose(among: ranked)
            let smallerURL = try address(of: smaller, at: service, &client)
            return .found(url, substream: .success(smallerURL))
        } catch let error as ONVIFError {
            if error == .stopped { throw error }
            return .found(url, substream: .failure(error))
        }
    }

    /// The RTSP address of a profile's stream.
    private func address(
        of profile: MediaProfile, at service: HTTPAddress, _ client: inout ONVIFClient
    ) throws -> RTSPURL {
        let uri = try MediaService.uri(
            call(MediaService.getStreamURI(service, profile: profile.token), &client))
        do {
            let url = try RTSPURL(parsing: uri.withHost(device.host))
            return url.withCredentials(credentials ?? url.credentials)
        } catch {
            throw ONVIFError.unsupported("the camera's stream is at an address that cannot be used")
        }
    }

    /// The answer to a request that a camera may refuse without harm; nil where it refuses.
    private func optional(_ request: ONVIFRequest, _ client: inout ONVIFClient) throws -> XMLElement? {
        do {
            return try call(request, &client)
        } catch let error as ONVIFError {
            if case .fault(let fault) = error, !fault.isNotAuthorized { return nil }
            if !request.needsCredentials, error.isRefusal { return nil }
            throw error
        }
    }

    private func call(_ request: ONVIFRequest, _ client: inout ONVIFClient) throws -> XMLElement {
        switch client.call(request) {
        case .answered(let result): return try result.get()
        case .abandoned: throw Abandoned()
        }
    }
}

extension String {
    /// The RTSP address with this host, since the camera may report a former address. The port stays: RTSP and the web
    /// server have different ports, whether ports are forwarded or not.
    func withHost(_ host: String) -> String {
        guard let scheme = firstIndex(of: ":"), self[scheme...].hasPrefix("://") else { return self }
        let start = index(scheme, offsetBy: 3)
        let end = self[start...].firstIndex { $0 == "/" || $0 == "?" } ?? endIndex
        let authority = self[start..<end]
        let afterUser = authority.lastIndex(of: "@").map { authority.index(after: $0) } ?? authority.startIndex
        let hostPort = authority[afterUser...]
        let port: Substring
        if hostPort.hasPrefix("[") {
            port = hostPort.firstIndex(of: "]").map { hostPort[hostPort.index(after: $0)...] } ?? ""
        } else {
            port = hostPort.firstIndex(of: ":").map { hostPort[$0...] } ?? ""
        }
        let name = host.contains(":") ? "[\(host)]" : host
        return "\(self[..<start])\(authority[..<afterUser])\(name)\(port)\(self[end...])"
    }
}
