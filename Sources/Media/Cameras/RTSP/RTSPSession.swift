import DatagramPort
import Intake
import RTP
import RTSP
import SDP
import Transport

/// One RTSP session on the source's thread: sorts the camera's packets into tracks, reports to the camera, and notices
/// when the media stops. ``RTSPDriver`` moves the bytes.
struct RTSPSession: ~Copyable {
    /// How far the session has come. Each stage owns what exists only there.
    enum Stage {
        /// The camera is asked what it sends. `featureRefusal` is the status with which it refused the question for its
        /// back channel.
        case describing(featureRefusal: Int?)
        /// The transport of each track is agreed on.
        case settingUp(TrackAgreement)
        /// The camera plays.
        case playing(PlayingTracks)
        /// The session is over, after it had come so far.
        case ended(SessionEnding, after: Progress)
    }

    /// What a session has reached, from which the next one learns.
    enum Progress: Comparable {
        case connected
        /// The camera has described itself.
        case described
        /// Packets of the first track have come.
        case flowing
    }

    var driver: RTSPDriver
    let url: RTSPURL
    let configuration: RTSPSource.Configuration
    let control: SourceControl
    /// The transport to use for the packets.
    let transport: CameraProfile.Transport
    /// Whether the session description is requested with the back channel.
    let asksForBackChannel: Bool
    /// The synchronization source of the session's own reports.
    let ssrc: UInt32
    /// Holds talks that wait for a session.
    let speaker: SharedSpeaker
    /// The talk that this session carries.
    let talk: SharedTalk?
    var stage = Stage.describing(featureRefusal: nil)
    /// When the connection is read at the latest, while the reads are coalesced; nil while it is read at once.
    var coalescingEnds: Instant?

    /// How many bytes one wake-up may read before the source looks at its other duties.
    private static let readBudget = 1024 * 1024

    init(
        driver: consuming RTSPDriver, url: RTSPURL, configuration: RTSPSource.Configuration, control: SourceControl,
        transport: CameraProfile.Transport, asksForBackChannel: Bool, ssrc: UInt32, speaker: SharedSpeaker,
        talk: SharedTalk?
    ) {
        self.driver = driver
        self.url = url
        self.configuration = configuration
        self.control = control
        self.transport = transport
        self.asksForBackChannel = asksForBackChannel
        self.ssrc = ssrc
        self.speaker = speaker
        self.talk = talk
    }

    /// The tracks, while the camera plays.
    var playing: PlayingTracks? { if case .playing(let tracks) = stage { tracks } else { nil } }

    var hasEnded: Bool { if case .ended = stage { true } else { false } }

    /// What the session has reached.
    var progress: Progress {
        switch stage {
        case .describing: .connected
        case .settingUp: .described
        case .playing(let tracks): tracks.flowingSince == nil ? .described : .flowing
        case .ended(_, let progress): progress
        }
    }

    /// Runs until the connection ends or the owner stops the source.
    mutating func run(output: inout SourceOutput, random: inout RandomSource) -> SessionEnding {
        output.report(.describing)
        var hasMoreInput = false
        while true {
            if control.isStopping {
                if !hasEnded { driver.tearDown() }
                return .stopped
            }
            if mustRestart(at: MonotonicClock.now) {
                talk?.finish(over: &driver)
                // Sound that the connection did not accept before the camera was switched off would go out first.
                if !(talk?.isSilenced == true && driver.client.hasOutput) { driver.tearDown() }
                return finish(.restarted, output)
            }
            talk?.send(over: &driver, at: MonotonicClock.now)
            if !hasEnded, let loss = driver.writeOutput() { fail(loss) }
            if case .ended(let ending, _) = stage { return finish(ending, output) }
            let requests = wait(for: output, hasMoreInput: hasMoreInput) ? control.takeKeyFrameRequests() : 0
            hasMoreInput = readInput(&output, &random)
            let now = MonotonicClock.now
            do throws(RTSPError) {
                try driver.client.handleDeadline(at: now)
                try drainEvents(&output, &random, at: now)
            } catch {
                fail(error)
            }
            checkLiveness(&output, at: now)
            if let playing {
                sendReports(playing, output, at: now)
                if requests != 0 { requestKeyFrames(requests, playing, output, at: now) }
            }
        }
    }

    /// Whether a talk waits that this session does not carry, or the talk that it carries has ended.
    private func mustRestart(at now: Instant) -> Bool {
        if hasEnded { return false }
        return talk?.isOver(at: now) ?? (speaker.talk != nil)
    }

    // MARK: Bytes

    /// Waits for the sockets, the next deadline or the owner; returns whether the owner has a request.
    private mutating func wait(for output: SourceOutput, hasMoreInput: Bool) -> Bool {
        coalesce(output)
        var deadline = driver.client.nextDeadline ?? .distantFuture
        if let coalescingEnds { deadline = min(deadline, coalescingEnds) }
        for box in output.tracks {
            if let ends = box.track.gatheringEnds { deadline = min(deadline, ends) }
        }
        if let playing { deadline = min(deadline, playing.nextReport) }
        if let liveness = livenessDeadline() { deadline = min(deadline, liveness) }
        if let talk { deadline = min(deadline, talk.nextDeadline(at: MonotonicClock.now)) }
        if hasMoreInput { deadline = MonotonicClock.now }
        // Before the camera plays, packets wait in the sockets: it is not yet known which track they belong to.
        let pairs = playing?.pairs ?? []
        for pair in pairs {
            if let order = pair.nextDeadline { deadline = min(deadline, order) }
        }
        return driver.wait(until: deadline, or: control, orInputOf: pairs)
    }

    /// Reads what has come; returns whether there is more.
    private mutating func readInput(_ output: inout SourceOutput, _ random: inout RandomSource) -> Bool {
        var budget = Self.readBudget
        let now = MonotonicClock.now
        while budget > 0, !hasEnded, case .bytes(let count) = readOnce() {
            budget -= count
            do throws(RTSPError) {
                try drainEvents(&output, &random, at: now)
            } catch {
                fail(error)
            }
        }
        if let playing, !playing.pairs.isEmpty { readDatagrams(playing, &output, at: now) }
        for box in output.tracks {
            // The rest of a frame comes with the next coalesced read: nobody waits for it.
            let isDue = hasEnded || coalescingEnds != nil
            if isDue { box.track.flush(at: now) } else { box.track.flushUnlessGathering(at: now) }
        }
        if let playing { handOnReports(playing, output) }
        if coalescingEnds != nil { coalescingEnds = nextCoalescedRead(after: now) }
        return budget <= 0
    }

    /// Reads once from the connection. If it is lost, the session ends.
    private mutating func readOnce() -> RTSPDriver.Input {
        let input = driver.readInput()
        if case .lost(let loss) = input { fail(loss) }
        return input
    }

    private mutating func readDatagrams(_ playing: PlayingTracks, _ output: inout SourceOutput, at now: Instant) {
        guard let buffer = playing.datagram?.bytes else { return }
        for index in playing.tracks.indices {
            guard case .datagrams(let pair) = playing.tracks[index].carrier else { continue }
            var budget = Self.readBudget
            while budget > 0 {
                let count = pair.read(pair.mediaSocket, into: buffer)
                if count == 0 { break }
                budget -= count
                receiveDatagram(
                    UnsafeRawBufferPointer(rebasing: buffer[..<count]), pair, index, playing, &output, at: now)
            }
            // Packets that waited for one whose time is over.
            handOut(pair, index, playing, &output, at: now)
            for _ in 0..<64 {
                let count = pair.read(pair.controlSocket, into: buffer)
                if count == 0 { break }
                receiveControl(UnsafeRawBufferPointer(rebasing: buffer[..<count]), index, playing, output, at: now)
            }
        }
    }

    private mutating func drainEvents(
        _ output: inout SourceOutput, _ random: inout RandomSource, at now: Instant
    ) throws(RTSPError) {
        while !hasEnded, let event = try driver.client.pollEvent(at: now) {
            switch event {
            case .interleaved(let channel, let range):
                if let playing { receive(channel, range, playing, &output, at: now) }
            case .authenticating:
                output.report(.authenticating)
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
                leaveOut(track, reason)
            case .featureRefused(let status):
                if case .describing = stage { stage = .describing(featureRefusal: status) }
            case .playing:
                beginPlaying(&output, &random, at: now)
                talk?.open(random: &random, at: now)
            case .redirected(let target):
                end(.redirected(target))
            case .tornDown:
                failClosed(.sessionEnded)
            }
        }
    }

    // MARK: Packets

    /// Receives a packet on a channel of the connection.
    mutating func receive(
        _ channel: UInt8, _ range: Range<Int>, _ playing: PlayingTracks, _ output: inout SourceOutput, at now: Instant
    ) {
        switch playing.channels[Int(channel)] {
        case .none:
            break
        case .media(let index):
            let bytes = driver.client.bytes(in: range)
            if Self.isControl(bytes) {
                learnControlOnMedia(output)
                receiveControl(bytes, index, playing, output, at: now)
            } else {
                let track = playing.sharesChannels ? track(of: bytes, output) ?? index : index
                receiveMedia(bytes, track, playing, &output, at: now)
            }
        case .control(let index):
            receiveControl(driver.client.bytes(in: range), index, playing, output, at: now)
        }
    }

    /// The track with the packet's payload type.
    private func track(of bytes: UnsafeRawBufferPointer, _ output: SourceOutput) -> Int? {
        guard bytes.count > 1 else { return nil }
        return output.descriptions.firstIndex { $0.payloadType == bytes[1] & 0x7F }
    }

    /// Receives a datagram on a track's RTP port.
    mutating func receiveDatagram(
        _ bytes: UnsafeRawBufferPointer, _ pair: DatagramPair, _ index: Int, _ playing: PlayingTracks,
        _ output: inout SourceOutput, at now: Instant
    ) {
        if Self.isControl(bytes) {
            learnControlOnMedia(output)
            receiveControl(bytes, index, playing, output, at: now)
            return
        }
        guard pair.insert(bytes, at: now) else { return }
        handOut(pair, index, playing, &output, at: now)
    }

    /// Hands out the packets that are in order.
    mutating func handOut(
        _ pair: DatagramPair, _ index: Int, _ playing: PlayingTracks, _ output: inout SourceOutput, at now: Instant
    ) {
        while let packet = pair.next(at: now) { receiveMedia(packet, index, playing, &output, at: now) }
    }

    /// RTCP's packet types, 192 to 223, are in the position of RTP's marker and a payload type from 64 to 95, which no
    /// profile uses (RFC 5761, section 4).
    private static func isControl(_ bytes: UnsafeRawBufferPointer) -> Bool {
        bytes.count >= 8 && bytes[0] >> 6 == 2 && (192...223).contains(bytes[1])
    }

    private func learnControlOnMedia(_ output: SourceOutput) {
        output.findings.learn { $0.quirks.insert(.controlOnMediaPort) }
    }

    private mutating func receiveMedia(
        _ bytes: UnsafeRawBufferPointer, _ index: Int, _ playing: PlayingTracks, _ output: inout SourceOutput,
        at now: Instant
    ) {
        guard output.tracks.indices.contains(index), playing.tracks.indices.contains(index),
            output.tracks[index].track.receive(bytes, at: now)
        else { return }
        let isFirst = playing.tracks[index].lastPacket == nil
        playing.tracks[index].lastPacket = now
        if playing.tracks[index].isSilent {
            playing.tracks[index].isSilent = false
            output.findings.setSilent(index, false)
        }
        if index == 0, playing.flowingSince == nil { beginFlowing(playing, &output, at: now) }
        if isFirst { beginTrack(index, playing, output, at: now) }
        learnProfile(index, playing, &output)
    }

    /// The first packet shows that the agreed transport works. The next connection begins with it.
    private mutating func beginFlowing(_ playing: PlayingTracks, _ output: inout SourceOutput, at now: Instant) {
        playing.flowingSince = now
        let used = playing.transport
        output.findings.learn { $0.transport = used }
        learnFromPlaying(playing, output)
        output.report(.flowing)
    }

    /// If a stream does not begin with a key frame, one is requested, so that viewers need not wait for the camera's
    /// next one.
    private mutating func beginTrack(
        _ index: Int, _ playing: PlayingTracks, _ output: SourceOutput, at now: Instant
    ) {
        guard output.descriptions.indices.contains(index) else { return }
        if output.tracks[index].track.payloadType != playing.tracks[index].describedPayloadType {
            output.findings.learn { $0.quirks.insert(.otherPayloadType) }
        }
        guard output.descriptions[index].kind == .video, output.tracks[index].track.frame?.isKeyFrame != true else {
            return
        }
        requestKeyFrames(1 << UInt64(index), playing, output, at: now)
    }

    private func learnProfile(_ index: Int, _ playing: PlayingTracks, _ output: inout SourceOutput) {
        if output.tracks[index].track.reordering.isReordering { output.learnReordering(track: index) }
        guard !playing.tracks[index].hasProfile, output.tracks[index].track.frame?.isKeyFrame == true else { return }
        let parameters = output.tracks[index].track.learnedParameters
        guard !parameters.isEmpty else { return }
        playing.tracks[index].hasProfile = true
        output.learnProfile(parameters, track: index)
    }
}
