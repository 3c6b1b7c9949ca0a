import Glibc
import Intake
import RTP
import RTSP
import SDP
import Transport

/// One RTSP session on the source's thread: moves bytes between the sockets and the client, sorts packets into tracks,
/// reports to the camera, and notices when the media stops.
struct RTSPSession: ~Copyable {
    var client: RTSPClient
    let connection: CameraConnection
    let url: RTSPURL
    let configuration: RTSPSource.Configuration
    let control: SourceControl
    /// The transport to use for the packets.
    let carriage: CameraProfile.Carriage
    /// Whether the session description is requested with the back channel.
    let asksForBackChannel: Bool
    /// The synchronization source of the session's own reports.
    let ssrc: UInt32
    /// Holds talks that wait for a session.
    let speaker: SharedSpeaker
    /// The talk that this session carries.
    var talk: SharedTalk?

    /// What an interleaved channel carries.
    enum Channel {
        case none
        case media(track: Int)
        case control(track: Int)
    }

    /// What carries a track's packets.
    enum Carrier {
        case channels(media: UInt8, control: UInt8)
        case datagrams(DatagramPair)
    }

    struct TrackState {
        var carrier: Carrier
        var lastPacket: Instant?
        var lastKeyFrameRequest: Instant?
        /// The session description or the stream has stated the H.264 profile.
        var hasProfile = false
        /// The track has been silent for a while, though the first track flows.
        var isSilent = false
    }

    var channels = [Channel](repeating: .none, count: 256)
    /// Several tracks share one channel.
    var sharesChannels = false
    var states: [TrackState] = []
    /// Which described track each SETUP was for.
    var requested: [CameraDescription.Track] = []
    /// The requested channels; empty for the usual ones.
    var requestedChannels: [UInt8] = []
    var pairs: [DatagramPair] = []
    var described: CameraDescription?
    var agreed: [(track: Int, carrier: Carrier)] = []
    /// The status with which the camera refused the question for its back channel.
    var featureRefusal: Int?
    var playingSince: Instant?
    var flowingSince: Instant?
    var nextReport: Instant = .distantFuture
    var ending: SessionEnding?
    private var hasMoreInput = false
    private var datagram: DatagramBuffer?

    /// How many bytes one wake-up may read before the source looks at its other duties.
    private static let readBudget = 1024 * 1024
    static let reportInterval: Duration = .seconds(5)

    init(
        client: consuming RTSPClient, connection: CameraConnection, url: RTSPURL,
        configuration: RTSPSource.Configuration, control: SourceControl, carriage: CameraProfile.Carriage,
        asksForBackChannel: Bool, ssrc: UInt32, speaker: SharedSpeaker, talk: SharedTalk?
    ) {
        self.speaker = speaker
        self.talk = talk
        self.client = client
        self.connection = connection
        self.url = url
        self.configuration = configuration
        self.control = control
        self.carriage = carriage
        self.asksForBackChannel = asksForBackChannel
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
            if mustRestart(at: monotonicNow()) {
                talk?.finish(to: &client)
                farewell()
                return finish(.restarted, output)
            }
            talk?.send(to: &client, unacknowledgedBytes: connection.unacknowledgedBytes, at: monotonicNow())
            writeOutput()
            if let ending { return finish(ending, output) }
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

    /// Whether a talk waits that this session does not carry, or the talk that it carries has ended.
    private mutating func mustRestart(at now: Instant) -> Bool {
        guard ending == nil else { return false }
        guard let talk else { return speaker.talk != nil }
        return talk.isOver(at: now)
    }

    // MARK: Bytes

    /// Waits for the sockets, the next deadline or the owner; returns whether the owner has a request.
    private mutating func wait() -> Bool {
        var deadline = client.nextDeadline() ?? .distantFuture
        deadline = min(deadline, nextReport)
        if let liveness = livenessDeadline() { deadline = min(deadline, liveness) }
        if let talk { deadline = min(deadline, talk.nextDeadline(at: monotonicNow())) }
        for pair in pairs {
            if let order = pair.nextDeadline { deadline = min(deadline, order) }
        }
        let timeout = hasMoreInput ? 0 : pollTimeout(deadline - monotonicNow())
        let (hasOutput, listens, pairs) = (client.hasOutput, playingSince != nil, pairs)
        return withUnsafeTemporaryAllocation(of: pollfd.self, capacity: 3 + 2 * pairs.count) { waiting in
            waiting[0] = pollfd(fd: control.wakeUp, events: Int16(POLLIN), revents: 0)
            var count = 1
            connection.watch(hasOutput: hasOutput) { entry in
                waiting[count] = entry
                count += 1
            }
            // Before the camera plays, packets wait in the sockets: it is not yet known which track they belong to.
            for pair in pairs where listens {
                for descriptor in [pair.mediaSocket, pair.controlSocket] {
                    waiting[count] = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
                    count += 1
                }
            }
            return poll(waiting.baseAddress, nfds_t(count), timeout) > 0 && waiting[0].revents != 0
        }
    }

    mutating func writeOutput() {
        guard ending == nil else { return }
        var outcome = connection.flush()
        // This is copied out, so that the client can write while the connection is used.
        let connection = connection
        while client.hasOutput, !connection.hasPendingOutput {
            client.write { bytes in
                outcome = connection.send(bytes)
                if case .bytes(let count) = outcome { return count }
                return 0
            }
            guard case .bytes = outcome else { break }
        }
        switch outcome {
        case .bytes, .wouldBlock: break
        case .closed: fail("the camera closed the connection", wasClosed: true)
        case .failed(let number):
            fail(CameraUnreachable("the connection was lost", errorNumber: number).description, wasClosed: true)
        }
    }

    private mutating func readInput(_ output: inout SourceOutput, _ random: inout RandomSource) {
        var budget = Self.readBudget
        var outcome = CameraSocket.Outcome.wouldBlock
        let now = monotonicNow()
        let connection = connection
        repeat {
            client.receive { buffer in
                outcome = connection.receive(buffer)
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
        hasMoreInput = budget <= 0
        if playingSince != nil, !pairs.isEmpty { readDatagrams(&output, at: now) }
        for box in output.tracks { box.track.flush(at: now) }
        guard ending == nil else { return }
        switch outcome {
        case .bytes, .wouldBlock: break
        case .closed: fail("the camera closed the connection", wasClosed: true)
        case .failed(let number):
            fail(CameraUnreachable("the connection was lost", errorNumber: number).description, wasClosed: true)
        }
    }

    private mutating func readDatagrams(_ output: inout SourceOutput, at now: Instant) {
        let buffer = datagram ?? DatagramBuffer()
        datagram = buffer
        for index in states.indices {
            guard case .datagrams(let pair) = states[index].carrier else { continue }
            var budget = Self.readBudget
            while budget > 0 {
                let count = pair.read(pair.mediaSocket, into: buffer.bytes)
                if count == 0 { break }
                budget -= count
                receiveDatagram(
                    UnsafeRawBufferPointer(rebasing: buffer.bytes[..<count]), pair, index, &output, at: now)
            }
            // Packets that waited for one whose time is over.
            handOut(pair, index, &output, at: now)
            for _ in 0..<64 {
                let count = pair.read(pair.controlSocket, into: buffer.bytes)
                if count == 0 { break }
                receiveControl(UnsafeRawBufferPointer(rebasing: buffer.bytes[..<count]), index, output, at: now)
            }
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
            case .trackSetUp(let track, let media, let control, _) where track == talk?.track:
                talk?.agree(media: media, control: control)
            case .trackRefused(let track, let reason) where track == talk?.track:
                talk?.refuse(SpeakerRefusal(reason, trackRefusal: reason))
            case .trackSetUp(let track, let media, let control, _):
                agree(track, media: media, control: control, output)
            case .trackSetUpForDatagrams(let track, let transport):
                agree(track, transport, output)
            case .trackRefused(let track, let reason):
                guard requested.indices.contains(track) else { continue }
                described?.notes.append("\(requested[track].description.kind) is left out: \(reason)")
            case .featureRefused(let status):
                featureRefusal = status
            case .playing:
                beginPlaying(&output, &random, at: now)
                talk?.open(random: &random, at: now)
            case .redirected(let target):
                ending = .redirected(target)
            case .tornDown:
                fail("the camera ended the session", wasClosed: true)
            }
        }
    }
}

/// Memory for the largest possible datagram.
private final class DatagramBuffer {
    let bytes = UnsafeMutableRawBufferPointer.allocate(byteCount: 65_536, alignment: 16)

    deinit { bytes.deallocate() }
}
