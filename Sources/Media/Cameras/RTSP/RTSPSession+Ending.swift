import Glibc
import RTSP
import SDP
import Transport

extension RTSPSession {
    // MARK: Liveness

    /// The first track decides: the video where the camera has one. A camera may send nothing while it is quiet.
    private func stallDeadline() -> Instant? {
        guard let playingSince, let first = states.first else { return nil }
        if let last = first.lastPacket { return last + configuration.stallTimeout }
        return playingSince + configuration.firstPacketTimeout
    }

    /// When a track may have to count as stalled or silent.
    func livenessDeadline() -> Instant? {
        guard var deadline = stallDeadline() else { return nil }
        for state in states.dropFirst() where !state.isSilent {
            if let last = state.lastPacket { deadline = min(deadline, last + configuration.silenceTimeout) }
        }
        return deadline
    }

    mutating func checkLiveness(_ output: inout SourceOutput, at now: Instant) {
        checkSilence(output, at: now)
        guard let deadline = stallDeadline(), deadline <= now else { return }
        output.tell(.stalled(track: 0))
        let kind = output.descriptions.first?.kind == .audio ? "audio" : "video"
        guard flowingSince == nil else {
            fail("the \(kind) has stalled")
            // Servers that end a session for lack of a keep-alive often just stop sending.
            if let last = states.first?.lastPacket { blameKeepAlive(at: last) }
            return
        }
        fail("the camera agreed to play but sent no \(kind) \(carriageInUse == .udp ? "over UDP" : "over TCP")")
        modifyFailure { $0.kind = .nothingCame }
    }

    /// Records tracks other than the first that have gone silent. The picture goes on: nothing restarts for the sake of
    /// the sound, which a camera may stop by itself, for example during a talk.
    private mutating func checkSilence(_ output: SourceOutput, at now: Instant) {
        for index in states.indices.dropFirst() {
            guard !states[index].isSilent, let last = states[index].lastPacket,
                last + configuration.silenceTimeout <= now
            else { continue }
            states[index].isSilent = true
            output.findings.setSilent(index, true)
            output.findings.learn { $0.quirks.insert(.soundStops) }
        }
    }

    // MARK: Ending

    mutating func fail(_ error: RTSPError) {
        guard ending == nil else { return }
        var failure = SessionFailure(error.description)
        switch error {
        case .unauthorized:
            failure.kind = .credentialsRefused
            failure.refusedLogin = client.refusedLogin
        case .carriageRefused: failure.kind = .carriageRefused
        case .noTrack: failure.kind = .tracksRefused
        case .noDescription: failure.kind = .mediaRefused
        // 404 and similar codes. Not 408, 453 and 454: the answer of a slow or full camera says nothing about its
        // media.
        case .refused(.describe, 400..<500, _) where !isTemporary(error): failure.kind = .mediaRefused
        case .noAnswer where isAwaitingFeature: failure.kind = .featureSuspected
        default: break
        }
        ending = .failed(failure)
    }

    private func isTemporary(_ error: RTSPError) -> Bool {
        guard case .refused(_, let status, _) = error else { return false }
        return [408, 453, 454].contains(status)
    }

    mutating func fail(_ reason: String, wasClosed: Bool = false, kind: SessionFailure.Kind = .other) {
        guard ending == nil else { return }
        var failure = SessionFailure(reason, kind: kind)
        if wasClosed, isAwaitingFeature { failure.kind = .featureSuspected }
        ending = .failed(failure)
        if wasClosed { blameKeepAlive(at: monotonicNow()) }
    }

    private mutating func modifyFailure(_ change: (inout SessionFailure) -> Void) {
        guard case .failed(var failure)? = ending else { return }
        change(&failure)
        ending = .failed(failure)
    }

    /// The camera has not answered a request for its session description with the back channel.
    private var isAwaitingFeature: Bool { asksForBackChannel && featureRefusal == nil && client.isAwaitingDescription }

    /// The camera has ended the session at `end`: records what that says about the keep-alive.
    private mutating func blameKeepAlive(at end: Instant) {
        let blamed = keepAliveToBlame(at: end)
        var age: SessionAge?
        // Receiver reports go out all the time, so they count as sent.
        if let playingSince, let used = client.keepAliveInUse,
            client.lastKeepAliveSent != nil || used == .receiverReports
        {
            age = SessionAge(age: end - playingSince, keepAlive: used)
        }
        modifyFailure { failure in
            failure.failedKeepAlive = blamed
            failure.age = age
        }
    }

    /// The keep-alive that seems to have made the camera end the session: one that it did not tolerate, right after it
    /// came; or one that it did not count, when its timeout was over.
    private func keepAliveToBlame(at now: Instant) -> RTSPKeepAlive? {
        guard let playingSince, let used = client.keepAliveInUse else { return nil }
        if let sent = client.lastKeepAliveSent, client.keepAliveAccepted != used, now >= sent,
            now - sent < .seconds(2)
        {
            return used
        }
        guard let timeout = client.sessionTimeout else { return nil }
        let played = (now - playingSince).inSeconds
        return played > Double(timeout) * 0.8 && played < Double(timeout) * 2 + 10 ? used : nil
    }

    func finish(_ ending: SessionEnding, _ output: SourceOutput) -> SessionEnding {
        output.findings.use { $0.carriage = nil }
        guard case .failed(var failure) = ending, let flowingSince else { return ending }
        failure.playedFor = monotonicNow() - flowingSince
        return .failed(failure)
    }

    /// Ends the session, so that its place at the camera is free at once. Nothing more goes to the sink.
    mutating func farewell() {
        guard ending == nil else { return }
        client.tearDown(at: monotonicNow())
        let deadline = monotonicNow() + .milliseconds(500)
        let connection = connection
        var isOver = false
        while !isOver, ending == nil, monotonicNow() < deadline {
            writeOutput()
            var waiting: [pollfd] = []
            connection.watch(hasOutput: client.hasOutput) { waiting.append($0) }
            _ = poll(&waiting, nfds_t(waiting.count), pollTimeout(deadline - monotonicNow()))
            client.receive { buffer in
                switch connection.receive(buffer) {
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
