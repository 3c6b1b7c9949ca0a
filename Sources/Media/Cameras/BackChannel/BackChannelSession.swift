import Codecs
import Glibc
import RTP
import RTSP
import SDP
import Transport

/// One RTSP session that carries a talk to a camera, on the talk's thread: OPTIONS, DESCRIBE, SETUP of the speaker's
/// track only, PLAY, packets, TEARDOWN.
struct BackChannelSession: ~Copyable {
    private enum Ending {
        case finished
        case redirected(RTSPURL)
        case refused(SpeakerRefusal)
    }

    private static let maximumRedirections = 5
    /// How long queued sound may still play after the talk.
    static let lastWords: Duration = .milliseconds(250)

    private let url: RTSPURL
    private let talk: BackChannelTalk
    private let connection: CameraConnection
    private var encoder: (any AudioEncoder)?
    private let begun: Instant
    private var client: RTSPClient
    private var random: RandomSource
    private var codec: BackChannelCodec?
    private var stream: BackChannelStream?
    private var channel: (media: UInt8, control: UInt8) = (0, 1)
    private var lastRefusal: RTSPError?
    private var ending: Ending?
    private var finishBy: Instant?

    /// Runs a talk from beginning to end. `previous` is the talk before. Its session must have ended first: cameras
    /// have one speaker, and many accept one session for it.
    static func run(
        url: RTSPURL, configuration: BackChannelSpeaker.Configuration, talk: BackChannelTalk,
        after previous: SourceControl?, orElse shared: SharedSpeaker? = nil
    ) {
        var isHandedOver = false
        defer {
            if !isHandedOver {
                talk.close()
                talk.control.markEnded()
            }
        }
        let begun = monotonicNow()
        if let previous { talk.control.wait(forEndOf: previous, upTo: .seconds(2)) }
        var target = url
        var home: SocketAddress?
        for _ in 0...maximumRedirections where !talk.control.isStopping {
            switch attempt(target, from: url, at: &home, configuration: configuration, talk: talk, begun: begun) {
            case .finished: return
            case .refused(.sessionRefused(let reason)):
                // A camera that serves only one client already serves the source: the talk goes over that session.
                isHandedOver = shared?.take(talk) ?? false
                if !isHandedOver { talk.refuse(.sessionRefused(reason)) }
                return
            case .refused(let refusal): return talk.refuse(refusal)
            case .redirected(let next): target = next
            }
        }
        if !talk.control.isStopping { talk.refuse(.unreachable("the camera redirects in a circle")) }
    }

    private static func attempt(
        _ url: RTSPURL, from origin: RTSPURL, at home: inout SocketAddress?,
        configuration: BackChannelSpeaker.Configuration, talk: BackChannelTalk, begun: Instant
    ) -> Ending {
        let addresses: [SocketAddress]
        let port = configuration.isTunnelled ? RTSPTunnel.port(of: url) : url.port
        switch talk.control.resolve({ CameraSocket.lookUp(host: url.host, port: port) }) {
        case .notBegun, .abandoned: return .finished
        case .found(.failure(let error)): return .refused(.unreachable(error.description))
        case .found(.success(let list)): addresses = Redirection.followed(list, to: url, from: origin, at: home)
        }
        if addresses.isEmpty { return .refused(.unreachable(Redirection.refusedReason(url))) }
        var refusal = SpeakerRefusal.unreachable("no address")
        var random = RandomSource.system
        for address in addresses where !talk.control.isStopping {
            do throws(CameraUnreachable) {
                let connection = try CameraConnection.open(
                    url, at: address, isTunnelled: configuration.isTunnelled, timeout: configuration.connectTimeout,
                    control: talk.control, random: &random, refusesBasic: { configuration.refusesBasic }
                ) { (fingerprint: String?) throws(CameraUnreachable) in
                    guard let fingerprint, let pin = configuration.certificateFingerprint else { return }
                    guard pin.isSameFingerprint(as: fingerprint) else {
                        throw CameraUnreachable(
                            "the camera's certificate is not the one that the config names; its fingerprint is "
                                + "\(fingerprint)"
                        )
                    }
                }
                if url.host == origin.host { home = address }
                var session = BackChannelSession(
                    url, over: connection, configuration: configuration, talk: talk, begun: begun)
                return session.run()
            } catch {
                refusal = error.isRefused ? .unauthorized(error.description) : .unreachable(error.description)
            }
        }
        return talk.control.isStopping ? .finished : .refused(refusal)
    }

    private init(
        _ url: RTSPURL, over connection: CameraConnection, configuration: BackChannelSpeaker.Configuration,
        talk: BackChannelTalk, begun: Instant
    ) {
        var clientConfiguration = RTSPClient.Configuration()
        clientConfiguration.answerTimeout = configuration.answerTimeout
        clientConfiguration.require = RTSPFeature.backChannel
        clientConfiguration.prefersBasic = configuration.prefersBasic
        clientConfiguration.refusesBasic = configuration.refusesBasic || connection.hasTakenDigest && !url.isSecure
        self.url = url
        self.talk = talk
        self.connection = connection
        self.begun = begun
        random = .system
        client = RTSPClient(url: url, configuration: clientConfiguration, random: random)
    }

    private mutating func run() -> Ending {
        client.start(at: monotonicNow())
        while true {
            let now = monotonicNow()
            if talk.control.isStopping, !mayGoOn(at: now) {
                farewell(at: now)
                return .finished
            }
            sendSound(at: now)
            writeOutput()
            if let ending { return ending }
            wait()
            readInput()
            do throws(RTSPError) {
                try client.handleTimeout(at: monotonicNow())
                try drainEvents(at: monotonicNow())
            } catch {
                fail(error)
            }
        }
    }

    /// After the talk's end: whether queued sound must still be sent.
    private mutating func mayGoOn(at now: Instant) -> Bool {
        guard stream != nil else { return false }
        let deadline = finishBy ?? now + Self.lastWords
        finishBy = deadline
        return talk.drain() && now < deadline
    }

    // MARK: Bytes

    private mutating func wait() {
        var deadline = client.nextDeadline() ?? .distantFuture
        if let next = stream?.nextFrame { deadline = min(deadline, next) }
        waitForConnection(until: deadline)
    }

    private func waitForConnection(until deadline: Instant) {
        withUnsafeTemporaryAllocation(of: pollfd.self, capacity: 4) { waiting in
            var count = 0
            connection.watch(hasOutput: client.hasOutput) { entry in
                waiting[count] = entry
                count += 1
            }
            // Once the owner has requested a stop, the pipe stays readable and carries no more information.
            if !talk.control.isStopping {
                waiting[count] = pollfd(fd: talk.control.wakeUp, events: Int16(POLLIN), revents: 0)
                count += 1
            }
            _ = poll(waiting.baseAddress, nfds_t(count), pollTimeout(deadline - monotonicNow()))
        }
    }

    private mutating func writeOutput() {
        guard ending == nil else { return }
        let connection = connection
        var outcome = connection.flush()
        while client.hasOutput, !connection.hasPendingOutput {
            client.write { bytes in
                outcome = connection.send(bytes)
                if case .bytes(let count) = outcome { return count }
                return 0
            }
            guard case .bytes = outcome else { break }
        }
        if case .failed(let number) = outcome {
            breakOff(CameraUnreachable("the connection was lost", errorNumber: number).description)
        }
    }

    private mutating func readInput() {
        // On this session the camera sends answers and reports only: a few reads are plenty.
        for _ in 0..<16 {
            guard read() else { return }
            do throws(RTSPError) {
                try drainEvents(at: monotonicNow())
            } catch {
                return fail(error)
            }
        }
    }

    /// Reads what has come; returns false when nothing has.
    private mutating func read() -> Bool {
        var outcome = CameraSocket.Outcome.wouldBlock
        let connection = connection
        client.receive { buffer in
            outcome = connection.receive(buffer)
            if case .bytes(let count) = outcome { return count }
            return 0
        }
        switch outcome {
        case .bytes: return true
        case .wouldBlock: return false
        case .closed: breakOff("the camera closed the connection")
        case .failed(let number):
            breakOff(CameraUnreachable("the connection was lost", errorNumber: number).description)
        }
        return false
    }

    // MARK: Events

    private mutating func drainEvents(at now: Instant) throws(RTSPError) {
        while ending == nil, let event = try client.nextEvent(at: now) {
            switch event {
            case .described(let text, let baseURI):
                describe(text, baseURI: baseURI, at: now)
            case .trackSetUp(_, let media, let control, _):
                channel = (media, control)
            case .trackRefused(_, let reason):
                lastRefusal = reason
            case .playing:
                open(at: now)
            case .redirected(let target):
                ending = .redirected(target)
            case .tornDown:
                breakOff("the camera ended the session")
            default:
                // Receiver reports, and anything else on the interleaved channels.
                break
            }
        }
    }

    private mutating func describe(_ text: String, baseURI: String, at now: Instant) {
        let session: SessionDescription
        do throws(SDPError) {
            session = try SessionDescription(parsing: text)
        } catch {
            ending = .refused(.sessionRefused("its description cannot be read: \(error)"))
            return
        }
        do throws(SpeakerRefusal) {
            let choice = try BackChannelChoice(from: session, baseURI: baseURI, url: url)
            (codec, encoder) = (choice.codec, choice.encoder)
            client.setUp(
                [choice.codec.controlURI], presentationURI: url.controlURI(session.control, base: baseURI), at: now)
        } catch {
            ending = .refused(error)
        }
    }

    private mutating func open(at now: Instant) {
        guard let codec, let encoder, stream == nil else { return }
        stream = BackChannelStream(codec, encoder: encoder, random: &random, at: now)
        talk.open(codec: codec.name, after: now - begun)
    }

    // MARK: Sound

    private mutating func sendSound(at now: Instant) {
        guard ending == nil, var stream = stream.take() else { return }
        let waiting = client.waitingOutput + connection.unacknowledgedBytes
        let backlog = Duration.milliseconds(Int(Double(waiting) / stream.bytesPerSecond * 1000))
        let (talk, channel) = (talk, channel)
        do {
            try stream.run(
                at: now, ntp: NTPTimestamp(unixNanoseconds: wallClockNanoseconds()), backlog: backlog,
                pull: { talk.pull(into: $0) },
                send: { output, packet in
                    client.sendInterleaved(channel: output == .media ? channel.media : channel.control, packet)
                })
        } catch {
            ending = .refused(.gatewayFault("\(error)"))
        }
        talk.note(stream)
        self.stream = consume stream
    }

    // MARK: Ending

    private mutating func fail(_ error: RTSPError) {
        guard ending == nil else { return }
        if stream != nil {
            ending = .refused(.brokenOff(error.description))
            return
        }
        // The client throws before it has reported why the track was refused.
        if case .noTrack = error, let event = try? client.nextEvent(at: monotonicNow()) {
            if case .trackRefused(_, let reason) = event { lastRefusal = reason }
        }
        ending = .refused(SpeakerRefusal(error, trackRefusal: lastRefusal))
    }

    private mutating func breakOff(_ reason: String) {
        guard ending == nil else { return }
        ending = .refused(stream != nil ? .brokenOff(reason) : .sessionRefused(reason))
    }

    /// Sends an RTCP goodbye and ends the session, so that the camera's speaker is free at once.
    private mutating func farewell(at now: Instant) {
        let channel = channel
        if var stream = stream.take() {
            stream.finish(ntp: NTPTimestamp(unixNanoseconds: wallClockNanoseconds())) { _, packet in
                client.sendInterleaved(channel: channel.control, packet)
            }
        }
        client.tearDown(at: now)
        let deadline = now + .milliseconds(500)
        while ending == nil, monotonicNow() < deadline {
            writeOutput()
            waitForConnection(until: deadline)
            guard read() else { continue }
            do throws(RTSPError) {
                while let event = try client.nextEvent(at: monotonicNow()) {
                    if event == .tornDown { return }
                }
            } catch {
                return
            }
        }
    }
}

extension SpeakerRefusal {
    /// Makes a refusal from the RTSP client's error before the camera plays. `trackRefusal` says why the speaker's
    /// track was refused.
    init(_ error: RTSPError, trackRefusal: RTSPError?) {
        switch (error, trackRefusal) {
        case (.unauthorized(let reason), _):
            self = .unauthorized(reason)
        // 461 is "unsupported transport"; a success that names UDP means the same.
        case (.noTrack, .refused(_, let status, _)?) where status == 461 || status < 300:
            self = .needsDatagrams
        case (.carriageRefused, _), (.noTrack, .carriageRefused?):
            self = .needsDatagrams
        // 551 is "option not supported" (RFC 2326, section 11.3.14).
        case (.refused(.describe, 551, _), _), (.noDescription, _):
            self = .noBackChannel
        case (.noAnswer, _), (.framingLost, _), (.malformedMessage, _), (.tooLarge, _), (.invalidURL, _),
            (.redirectionRefused, _):
            self = .unreachable(error.description)
        case (_, let reason):
            self = .sessionRefused((reason ?? error).description)
        }
    }
}

/// Nanoseconds since 1970, for sender reports.
func wallClockNanoseconds() -> Int64 {
    var time = timespec()
    clock_gettime(CLOCK_REALTIME, &time)
    return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
}
