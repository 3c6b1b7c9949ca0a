import Glibc
import RTP
import RTSP
import SDP
import Transport

/// One RTSP connection on the source's thread: moves bytes between the socket and the client, sorts packets into
/// tracks, reports to the camera, and notices when the media stop.
struct RTSPSession: ~Copyable {
    var client: RTSPClient
    let socket: CameraSocket
    let url: RTSPURL
    let configuration: RTSPSource.Configuration
    let control: SourceControl
    /// The synchronization source of the session's own reports.
    let ssrc: UInt32

    /// What an interleaved channel carries.
    private enum Channel {
        case none
        case media(track: Int)
        case control(track: Int)
    }

    private struct TrackState {
        var reportChannel: UInt8
        var lastPacket: Instant?
        var lastKeyFrameRequest: Instant?
        /// The description says which H.264 profile comes, or the stream has said it.
        var hasProfile = false
    }

    private var channels = [Channel](repeating: .none, count: 256)
    private var states: [TrackState?] = []
    /// Which described track each SETUP was for.
    private var requested: [CameraDescription.Track] = []
    private var refused: Set<Int> = []
    private var described: CameraDescription?
    private var pendingChannels: [(track: Int, media: UInt8, control: UInt8)] = []
    private var playingSince: Instant?
    private var flowingSince: Instant?
    private var nextReport: Instant = .distantFuture
    private var ending: SessionEnding?

    /// How many bytes one wake-up may read before the source looks at its other duties.
    private static let readBudget = 1024 * 1024
    private static let reportInterval: Duration = .seconds(5)

    init(
        client: consuming RTSPClient, socket: consuming CameraSocket, url: RTSPURL,
        configuration: RTSPSource.Configuration, control: SourceControl, ssrc: UInt32
    ) {
        self.client = client
        self.socket = socket
        self.url = url
        self.configuration = configuration
        self.control = control
        self.ssrc = ssrc
    }

    /// Runs until the connection ends or the owner stops the source.
    mutating func run(output: inout SourceOutput, random: inout RandomSource) -> SessionEnding {
        output.tell(.describing)
        client.start(at: monotonicNow())
        while true {
            if control.isStopping {
                farewell()
                return .stopped
            }
            writeOutput()
            if let ending { return finish(ending) }
            let requests = wait() ? control.takeKeyFrameRequests() : 0
            readInput(&output, &random)
            let now = monotonicNow()
            do throws(RTSPError) {
                try client.handleTimeout(at: now)
                try drainEvents(&output, &random, at: now)
            } catch {
                fail(error)
            }
            if ending == nil { checkLiveness(&output, at: now) }
            if playingSince != nil, ending == nil {
                sendReports(output, at: now)
                if requests != 0 { requestKeyFrames(requests, output, at: now) }
            }
        }
    }

    // MARK: Bytes

    /// Waits for the socket, the next deadline or the owner; answers whether the owner wants something.
    private mutating func wait() -> Bool {
        var deadline = client.nextDeadline() ?? .distantFuture
        deadline = min(deadline, nextReport)
        if let liveness = livenessDeadline() { deadline = min(deadline, liveness) }
        var events = Int16(POLLIN)
        if client.hasOutput { events |= Int16(POLLOUT) }
        return withUnsafeTemporaryAllocation(of: pollfd.self, capacity: 2) { waiting in
            waiting[0] = pollfd(fd: socket.descriptor, events: events, revents: 0)
            waiting[1] = pollfd(fd: control.wakeUp, events: Int16(POLLIN), revents: 0)
            let count = poll(waiting.baseAddress, 2, pollTimeout(deadline - monotonicNow()))
            return count > 0 && waiting[1].revents != 0
        }
    }

    private mutating func writeOutput() {
        guard ending == nil else { return }
        var failure: Int32?
        var isBlocked = false
        while client.hasOutput, !isBlocked, failure == nil {
            // Taken apart, so that the client can be written from while the socket is used.
            let descriptor = socket.descriptor
            client.write { bytes in
                let count = Glibc.send(descriptor, bytes.baseAddress, bytes.count, Int32(MSG_NOSIGNAL))
                if count >= 0 { return count }
                if errno == EAGAIN || errno == EWOULDBLOCK {
                    isBlocked = true
                } else if errno != EINTR {
                    failure = errno
                }
                return 0
            }
        }
        if let failure { fail(CameraUnreachable("the connection broke", errorNumber: failure).description) }
    }

    private mutating func readInput(_ output: inout SourceOutput, _ random: inout RandomSource) {
        var budget = Self.readBudget
        var outcome = CameraSocket.Outcome.wouldBlock
        let now = monotonicNow()
        repeat {
            let descriptor = socket.descriptor
            client.receive { buffer in
                outcome = CameraSocket.receive(descriptor, buffer)
                if case .bytes(let count) = outcome { return count }
                return 0
            }
            guard case .bytes(let count) = outcome else { break }
            budget -= count
            do throws(RTSPError) {
                try drainEvents(&output, &random, at: now)
            } catch {
                fail(error)
            }
        } while budget > 0 && ending == nil
        for box in output.tracks { box.track.flush(at: now) }
        guard ending == nil else { return }
        switch outcome {
        case .bytes, .wouldBlock: break
        case .closed: fail("the camera closed the connection", wasClosed: true)
        case .failed(let number):
            fail(CameraUnreachable("the connection broke", errorNumber: number).description, wasClosed: true)
        }
    }

    private mutating func drainEvents(
        _ output: inout SourceOutput, _ random: inout RandomSource, at now: Instant
    ) throws(RTSPError) {
        while ending == nil, let event = try client.nextEvent(at: now) {
            switch event {
            case .interleaved(let channel, let range):
                receive(channel, range, &output, at: now)
            case .authenticating:
                output.tell(.authenticating)
            case .described(let text, let baseURI):
                describe(text, baseURI: baseURI, &output, at: now)
            case .trackSetUp(let track, let media, let control, _):
                pendingChannels.append((track, media, control))
            case .trackRefused(let track, let reason):
                refused.insert(track)
                described?.notes.append("\(requested[track].description.kind) is left out: \(reason)")
            case .playing:
                beginPlaying(&output, &random, at: now)
            case .redirected(let target):
                ending = .redirected(target)
            case .tornDown:
                fail("the camera ended the session", wasClosed: true)
            }
        }
    }

    // MARK: Set-up

    private mutating func describe(_ text: String, baseURI: String, _ output: inout SourceOutput, at now: Instant) {
        do throws(SDPError) {
            let camera = try CameraDescription(parsing: text, baseURI: baseURI, address: url)
            output.note(camera.notes)
            guard !camera.tracks.isEmpty else {
                fail("the camera offers nothing that can be played: " + camera.notes.joined(separator: "; "))
                return
            }
            requested = camera.tracks
            described = camera
            output.tell(.settingUp)
            client.setUp(camera.tracks.map(\.controlURI), presentationURI: camera.presentationURI, at: now)
        } catch {
            fail("the camera's description cannot be read: \(error)")
        }
    }

    private mutating func beginPlaying(_ output: inout SourceOutput, _ random: inout RandomSource, at now: Instant) {
        // Tracks are numbered as they are announced: those that the camera refused do not count.
        let accepted = pendingChannels.filter { !refused.contains($0.track) }
        for (index, channel) in accepted.enumerated() {
            channels[Int(channel.media)] = .media(track: index)
            channels[Int(channel.control)] = .control(track: index)
        }
        states = accepted.map { TrackState(reportChannel: $0.control) }
        output.announce(
            accepted.map { requested[$0.track] }, limit: configuration.maximumPayloadLength, random: &random, at: now)
        for index in states.indices where output.descriptions.indices.contains(index) {
            let codec = output.descriptions[index].codec
            states[index]?.hasProfile =
                !codec.isNamed("H264") || codec.formatParameters["profile-level-id"] != nil
        }
        if let described { output.note(described.notes) }
        output.tell(.playing)
        playingSince = now
        nextReport = now + Self.reportInterval
    }

    // MARK: Media

    private mutating func receive(
        _ channel: UInt8, _ range: Range<Int>, _ output: inout SourceOutput, at now: Instant
    ) {
        switch channels[Int(channel)] {
        case .none:
            break
        case .media(let index):
            guard output.tracks.indices.contains(index),
                output.tracks[index].track.receive(client.bytes(in: range), at: now)
            else { return }
            let isFirst = states[index]?.lastPacket == nil
            states[index]?.lastPacket = now
            if index == 0, flowingSince == nil {
                flowingSince = now
                output.tell(.flowing)
            }
            if isFirst { beginTrack(index, output, at: now) }
            learnProfile(index, &output)
        case .control(let index):
            guard output.tracks.indices.contains(index) else { return }
            receiveControl(client.bytes(in: range), index, output, at: now)
        }
    }

    /// A stream that does not begin with a key frame is asked for one, so that no viewer waits for the camera's next.
    private mutating func beginTrack(_ index: Int, _ output: SourceOutput, at now: Instant) {
        guard output.descriptions[index].kind == .video, output.tracks[index].track.frame?.isKeyFrame != true else {
            return
        }
        requestKeyFrames(1 << UInt64(index), output, at: now)
    }

    private mutating func learnProfile(_ index: Int, _ output: inout SourceOutput) {
        guard states[index]?.hasProfile == false, output.tracks[index].track.frame?.isKeyFrame == true,
            let profile = output.tracks[index].track.parameterSets.profileLevel
        else { return }
        states[index]?.hasProfile = true
        output.learnProfile(profile, track: index)
    }

    private mutating func receiveControl(
        _ bytes: UnsafeRawBufferPointer, _ index: Int, _ output: SourceOutput, at now: Instant
    ) {
        let box = output.tracks[index]
        for packet in RTCPPackets(bytes) {
            switch packet {
            case .senderReport(let report, _):
                box.track.noteSenderReport(report.ntp, at: now)
                guard report.ssrc == box.track.timeline.ssrc, report.ntp.rawValue != 0 else { continue }
                output.sink.handle(
                    .senderReport(
                        track: index, ntp: report.ntp.rawValue,
                        rtpTimestamp: box.track.timeline.outgoing(report.rtpTimestamp)))
            case .goodbye(let goodbye):
                if index == 0, let ssrc = box.track.timeline.ssrc, goodbye.contains(ssrc) {
                    fail("the camera says goodbye", wasClosed: true)
                }
            default:
                break
            }
        }
    }

    private mutating func sendReports(_ output: SourceOutput, at now: Instant) {
        guard nextReport <= now else { return }
        nextReport = now + Self.reportInterval
        for index in states.indices where states[index]?.lastPacket != nil {
            sendControl(track: index, output, at: now, keyFrame: false)
        }
    }

    private mutating func requestKeyFrames(_ tracks: UInt64, _ output: SourceOutput, at now: Instant) {
        for index in states.indices where index < 64 && tracks & (1 << UInt64(index)) != 0 {
            if let last = states[index]?.lastKeyFrameRequest, now - last < .milliseconds(300) { continue }
            states[index]?.lastKeyFrameRequest = now
            sendControl(track: index, output, at: now, keyFrame: true)
        }
    }

    /// Sends a receiver report, with a picture loss indication where a key frame is wanted (RFC 4585, section 6.3.1).
    /// RTSP has no request of its own for a key frame; a server that does not know the indication passes over it.
    private mutating func sendControl(track: Int, _ output: SourceOutput, at now: Instant, keyFrame: Bool) {
        guard output.tracks.indices.contains(track), let state = states[track],
            let source = output.tracks[track].track.timeline.ssrc
        else { return }
        let block = output.tracks[track].track.receptionBlock(ssrc: source, at: now)
        withUnsafeTemporaryAllocation(byteCount: 128, alignment: 8) { buffer in
            var writer = ByteWriter(buffer)
            writer.writeReceiverReport(ssrc: ssrc, blocks: [block])
            writer.writeSourceDescription(ssrc: ssrc, canonicalName: "gatehouse")
            if keyFrame { writer.writePictureLossIndication(senderSSRC: ssrc, mediaSSRC: source) }
            guard !writer.overflowed else { return }
            client.sendInterleaved(
                channel: state.reportChannel, UnsafeRawBufferPointer(rebasing: buffer[..<writer.count]))
        }
    }

    // MARK: Liveness

    /// The first track decides: the video where there is one. A camera may well send no sound while nothing sounds.
    private func livenessDeadline() -> Instant? {
        guard let playingSince, let first = states.first else { return nil }
        if let last = first?.lastPacket { return last + configuration.stallTimeout }
        return playingSince + configuration.firstPacketTimeout
    }

    private mutating func checkLiveness(_ output: inout SourceOutput, at now: Instant) {
        guard let deadline = livenessDeadline(), deadline <= now else { return }
        output.tell(.stalled(track: 0))
        let kind = output.descriptions.first?.kind == .audio ? "audio" : "video"
        fail(
            flowingSince == nil
                ? "the camera agreed to play and sent no \(kind)"
                : "the \(kind) has stalled")
    }

    // MARK: Ending

    private mutating func fail(_ error: RTSPError) {
        guard ending == nil else { return }
        var failure = SessionFailure(error.description)
        if case .unauthorized = error { failure.isRefused = true }
        ending = .failed(failure)
    }

    private mutating func fail(_ reason: String, wasClosed: Bool = false) {
        guard ending == nil else { return }
        var failure = SessionFailure(reason)
        // A session that the camera ends about when its timeout runs out was not kept alive by what was sent.
        if wasClosed, let playingSince, let timeout = client.sessionTimeout, let used = client.keepAliveInUse {
            let played = (monotonicNow() - playingSince).inSeconds
            if played > Double(timeout) * 0.8, played < Double(timeout) * 2 + 10 { failure.nextKeepAlive = used.next }
        }
        ending = .failed(failure)
    }

    private func finish(_ ending: SessionEnding) -> SessionEnding {
        guard case .failed(var failure) = ending, let flowingSince else { return ending }
        failure.playedFor = monotonicNow() - flowingSince
        return .failed(failure)
    }

    /// Ends the session, so that the camera has its place free at once. Nothing more goes to the sink.
    private mutating func farewell() {
        guard ending == nil else { return }
        client.tearDown(at: monotonicNow())
        let deadline = monotonicNow() + .milliseconds(500)
        var isOver = false
        while !isOver, ending == nil, monotonicNow() < deadline {
            writeOutput()
            var waiting = pollfd(fd: socket.descriptor, events: Int16(POLLIN), revents: 0)
            if client.hasOutput { waiting.events |= Int16(POLLOUT) }
            _ = poll(&waiting, 1, pollTimeout(deadline - monotonicNow()))
            let descriptor = socket.descriptor
            client.receive { buffer in
                switch CameraSocket.receive(descriptor, buffer) {
                case .bytes(let count): return count
                case .wouldBlock: return 0
                case .closed, .failed:
                    isOver = true
                    return 0
                }
            }
            do throws(RTSPError) {
                while let event = try client.nextEvent(at: monotonicNow()) {
                    if event == .tornDown { isOver = true }
                }
            } catch {
                isOver = true
            }
        }
    }
}
