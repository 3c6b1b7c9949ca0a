import DatagramPort
import Glibc
import HTTPMedia
import RTP
import StreamFormats
import Transport

/// Keeps one camera's stream flowing, on the source's thread: connects, takes the stream apart, and tries again.
struct StreamSupervisor: AttemptingSource, ~Copyable {
    let control: SourceControl
    let findings: SourceFindings
    var random = RandomSource.system
    private let address: StreamAddress
    private let configuration: StreamSource.Configuration
    private var output: StreamOutput
    /// When the attempt is treated as silent.
    private var silence = Instant.zero
    /// What was left out when it was last recorded; nil before that.
    private var recordedLeftOut: [UnsupportedPart]?

    private init(
        _ address: StreamAddress, _ configuration: StreamSource.Configuration, findings: SourceFindings,
        control: SourceControl, sink: any CameraSink
    ) {
        self.address = address
        self.configuration = configuration
        self.findings = findings
        self.control = control
        output = StreamOutput(sink: sink, findings: findings, random: .system)
    }

    /// Runs until the source is stopped.
    static func run(
        _ address: StreamAddress, _ configuration: StreamSource.Configuration, findings: SourceFindings,
        control: SourceControl, sink: any CameraSink
    ) {
        var supervisor = StreamSupervisor(address, configuration, findings: findings, control: control, sink: sink)
        supervisor.loop()
        control.markEnded()
    }

    mutating func report(_ state: SourceState) { output.report(state) }

    func age(at now: Instant) -> Duration { output.flowingSince.map { now - $0 } ?? .zero }

    func circuitFailure(of reason: CameraFailure) -> CircuitBreaker.Failure {
        switch reason {
        case .pictures(let failure): failure.asCircuitFailure
        case .stream(let failure): failure.asCircuitFailure
        case .passwordWithheld, .redirectionCircle, .nothingToPlay: .mediaRefused
        default: .unreachable
        }
    }

    // MARK: An attempt

    mutating func attempt() -> AttemptEnding {
        output.restart()
        report(.resolving)
        do throws(CameraFailure) {
            switch address.carrier {
            case .playlist(let place): try playPlaylist(place)
            case .transportStream(let place): return try playContent(place, TransportStreamDemuxer(), "video/mp2t")
            case .flash(let place): return try playContent(place, FLVDemuxer(), "video/x-flv")
            case .rtmp(let place):
                guard let hosts = try lookUp(place.host, place.port, place.mayHoldPassword) else { return .abandoned }
                try playRTMP(place, at: hosts)
            case .tcp(let host, let port):
                guard let hosts = try lookUp(host, port) else { return .abandoned }
                let stream = try connect(hosts, serverName: nil)
                try play(stream, TransportStreamDemuxer())
            case .udp(let host, let port):
                guard let hosts = try lookUp(host, port) else { return .abandoned }
                try playDatagrams(on: hosts)
            }
        } catch {
            return control.isStopping ? .stopped : .failed(error)
        }
        return control.isStopping ? .stopped : .failed(.connectionClosed)
    }

    /// The addresses of a host; nil when the owner no longer waits for the thread.
    private func lookUp(
        _ host: String, _ port: UInt16, _ mayHoldPassword: Bool = false
    ) throws(CameraFailure) -> [TransportAddress]? {
        switch control.resolve({ CameraSocket.lookUp(host: host, port: port, mayHoldPassword: mayHoldPassword) }) {
        case .notBegun: throw .connectionClosed
        case .abandoned: return nil
        case .found(.failure(let error)): throw .unreachable(error)
        case .found(.success(let list)): return list
        }
    }

    private mutating func connect(
        _ hosts: [TransportAddress], serverName: String?
    ) throws(CameraFailure) -> StreamSocket {
        report(.connecting)
        var failure = CameraUnreachable("no address")
        for host in hosts where !control.isStopping {
            do throws(CameraUnreachable) {
                let stream = try StreamSocket.open(
                    host, serverName: serverName, timeout: configuration.connectTimeout, control: control)
                findings.recordCertificate(stream.certificateFingerprint, isSecure: serverName != nil)
                expectMedia()
                return stream
            } catch {
                failure = error
            }
        }
        throw .unreachable(failure)
    }

    private mutating func expectMedia() {
        silence = MonotonicClock.now + configuration.silenceTimeout
        report(.playing)
    }

    /// The failure of a wait, which may have been for media that did not come.
    private func failure(of error: CameraUnreachable) -> CameraFailure {
        guard MonotonicClock.now >= silence else { return .unreachable(error) }
        return .stream(.silent(seconds: Int(configuration.silenceTimeout.components.seconds)))
    }

    // MARK: What carries the stream

    /// One answer over HTTP, without end.
    private mutating func playContent(
        _ place: HTTPAddress, _ demuxer: some StreamDemuxer, _ type: String
    ) throws(CameraFailure) -> AttemptEnding {
        var client = CameraHTTPClient(
            home: place, credentials: address.credentials, connectTimeout: configuration.connectTimeout,
            findings: findings, control: control)
        client.accepts = "\(type), */*;q=0.1"
        let deadline = MonotonicClock.now + configuration.silenceTimeout
        switch client.request(until: deadline, random: &random, connecting: {}) {
        case .stopped: return .stopped
        case .abandoned: return .abandoned
        case .failed(let reason): throw reason
        case .answered(let response):
            if let other = response.otherType { throw .stream(.notStream(contentType: String(other.prefix(80)))) }
            expectMedia()
            var demuxer = demuxer
            var isOpen = true
            while isOpen, !control.isStopping {
                var pieces: [[UInt8]] = []
                do throws(CameraFailure) {
                    isOpen = try response.receiveContent(until: silence) { pieces.append(Array($0)) }
                } catch {
                    guard case .unreachable(let reason) = error else { throw error }
                    throw failure(of: reason)
                }
                for piece in pieces { try take(piece[...], &demuxer) }
            }
            return control.isStopping ? .stopped : .failed(.stream(.ended))
        }
    }

    private mutating func play(_ stream: StreamSocket, _ demuxer: some StreamDemuxer) throws(CameraFailure) {
        var demuxer = demuxer
        var buffer = [UInt8](repeating: 0, count: 64 * 1024)
        while let count = try receive(stream, &buffer) { try take(buffer[..<count], &demuxer) }
    }

    /// Waits for bytes. Returns how many have come; nil at the end of the connection.
    private func receive(_ stream: StreamSocket, _ buffer: inout [UInt8]) throws(CameraFailure) -> Int? {
        let outcome: CameraSocket.Outcome
        do throws(CameraUnreachable) {
            outcome = try stream.receive(&buffer, until: silence, control: control, for: "the camera's stream")
        } catch {
            throw failure(of: error)
        }
        switch outcome {
        case .bytes(let count): return count
        case .wouldBlock: return 0
        case .closed: return nil
        case .failed(let number): throw .connectionBroken(errorNumber: number)
        }
    }

    private mutating func playRTMP(_ place: RTMPAddress, at hosts: [TransportAddress]) throws(CameraFailure) {
        let stream = try connect(hosts, serverName: place.isSecure ? place.host : nil)
        var client = RTMPClient(place, random: &random)
        var buffer = [UInt8](repeating: 0, count: 64 * 1024)
        while true {
            let bytes = client.takeOutput()
            if !bytes.isEmpty {
                do throws(CameraUnreachable) {
                    try stream.sendAll(bytes, until: silence, control: control)
                } catch {
                    throw failure(of: error)
                }
            }
            guard let count = try receive(stream, &buffer) else { return }
            var units: [StreamUnit] = []
            do throws(StreamFormatError) {
                try buffer.withUnsafeBufferPointer { (bytes: UnsafeBufferPointer<UInt8>) throws(StreamFormatError) in
                    try client.handle(UnsafeRawBufferPointer(UnsafeBufferPointer(rebasing: bytes[..<count]))) {
                        units.append($0)
                    }
                }
            } catch {
                throw .stream(.format(error))
            }
            pass(units, client.tracks, awaitsTracks: client.awaitsTracks, client.leftOut)
        }
    }

    private mutating func playDatagrams(on hosts: [TransportAddress]) throws(CameraFailure) {
        guard let host = hosts.first else { return }
        var receiver: DatagramReceiver
        do throws(CameraUnreachable) {
            receiver = try DatagramReceiver(on: host)
        } catch {
            throw .stream(.cannotListen(error))
        }
        expectMedia()
        var demuxer = TransportStreamDemuxer()
        var buffer = [UInt8](repeating: 0, count: 64 * 1024)
        while !control.isStopping {
            do throws(CameraUnreachable) {
                guard let count = try receiver.receive(&buffer, until: silence, control: control) else { continue }
                // Some senders put each datagram into an RTP packet (RFC 2250, section 2).
                let start = count > 12 && buffer[0] >> 6 == 2 && buffer[12] == 0x47 ? 12 : 0
                let bytes = buffer[start..<count]
                // Anybody may send a datagram, so one that is not of the format ends nothing. If no other comes, the
                // attempt ends as silent.
                try? take(bytes, &demuxer)
            } catch {
                throw failure(of: error)
            }
        }
    }

    /// Segments that a playlist names.
    private mutating func playPlaylist(_ place: HTTPAddress) throws(CameraFailure) {
        guard let fetcher = PlaylistFetcher(owner: control) else { throw .noFileDescriptor }
        var client = CameraHTTPClient(
            home: place, credentials: address.credentials, connectTimeout: configuration.connectTimeout,
            findings: findings, control: fetcher.control)
        client.accepts = "application/vnd.apple.mpegurl, */*;q=0.1"
        client.followsToOtherHosts = true
        let (finalClient, random) = (client, self.random)
        guard startDetachedThread(name: "playlist", { fetcher.run(finalClient, at: place, random: random) }) else {
            throw .noThread
        }
        defer { _ = fetcher.control.stop() }
        report(.describing)
        silence = MonotonicClock.now + configuration.segmentTimeout
        var epoch: Int?
        while !control.isStopping {
            let now = MonotonicClock.now
            let step = fetcher.fetched.withLock { $0.step(at: now) }
            for entry in step.due {
                if let known = epoch, known != entry.epoch { output.beginEpoch() }
                epoch = entry.epoch
                pass([entry.unit], step.tracks, awaitsTracks: step.awaitsTracks, step.leftOut)
            }
            guard step.due.isEmpty else {
                silence = now + configuration.segmentTimeout
                continue
            }
            if let end = step.end { throw end }
            guard now < silence else {
                throw .stream(.silent(seconds: Int(configuration.segmentTimeout.components.seconds)))
            }
            control.wait(min(step.nextDue.map { $0 - now } ?? .seconds(1), .seconds(1)))
            _ = control.takeKeyFrameRequests()
        }
    }

    // MARK: Units

    private mutating func take(
        _ bytes: ArraySlice<UInt8>, _ demuxer: inout some StreamDemuxer
    ) throws(CameraFailure) {
        var units: [StreamUnit] = []
        do throws(StreamFormatError) {
            try bytes.withUnsafeBufferPointer { (bytes: UnsafeBufferPointer<UInt8>) throws(StreamFormatError) in
                try demuxer.append(UnsafeRawBufferPointer(bytes)) { units.append($0) }
            }
        } catch {
            throw .stream(.format(error))
        }
        pass(units, demuxer.tracks, awaitsTracks: demuxer.awaitsTracks, demuxer.leftOut)
    }

    private mutating func pass(
        _ units: [StreamUnit], _ tracks: [StreamTrack], awaitsTracks: Bool, _ leftOut: [UnsupportedPart]
    ) {
        record(leftOut)
        guard !units.isEmpty else { return }
        let now = MonotonicClock.now
        silence = now + configuration.silenceTimeout
        for unit in units {
            output.take(unit, of: tracks, awaitsTracks: awaitsTracks, at: now, wallClock: WallClock.now)
        }
    }

    private mutating func record(_ leftOut: [UnsupportedPart]) {
        guard leftOut != recordedLeftOut else { return }
        recordedLeftOut = leftOut
        findings.record([CameraNote.stream(address.form)] + leftOut.map(CameraNote.unsupportedPart))
    }
}

extension PlaylistFetcher.Fetched {
    /// What is to be done now.
    struct Step {
        var due: [PacedUnits.Entry] = []
        var tracks: [StreamTrack]
        var awaitsTracks: Bool
        var leftOut: [UnsupportedPart]
        /// When the next unit is due; nil while none is there.
        var nextDue: Instant?
        /// Why nothing will follow, once everything has been taken.
        var end: CameraFailure?
    }

    /// Takes the units that are due.
    mutating func step(at now: Instant) -> Step {
        var step = Step(tracks: tracks, awaitsTracks: awaitsTracks, leftOut: leftOut)
        guard isPrimed else { return step }
        while step.due.count < 64, let entry = paced.next(at: now) { step.due.append(entry) }
        step.nextDue = paced.nextDue
        if paced.isEmpty { step.end = end }
        return step
    }
}
