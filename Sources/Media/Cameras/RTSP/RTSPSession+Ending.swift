import DatagramPort
import RTSP
import SDP
import Transport

extension RTSPSession {
    // MARK: Liveness

    /// The first track decides: the video where the camera has one. A camera may send nothing while it is quiet.
    private func stallDeadline(_ playing: PlayingTracks) -> Instant {
        if let last = playing.tracks.first?.lastPacket { return last + configuration.stallTimeout }
        return playing.since + configuration.firstPacketTimeout
    }

    /// When a track may have to be treated as stalled or silent.
    func livenessDeadline() -> Instant? {
        guard let playing else { return nil }
        var deadline = stallDeadline(playing)
        for track in playing.tracks.dropFirst() where !track.isSilent {
            if let last = track.lastPacket { deadline = min(deadline, last + configuration.silenceTimeout) }
        }
        return deadline
    }

    mutating func checkLiveness(_ output: inout SourceOutput, at now: Instant) {
        guard let playing else { return }
        checkSilence(playing, output, at: now)
        guard stallDeadline(playing) <= now else { return }
        output.report(.stalled(track: 0))
        let kind = output.descriptions.first?.kind ?? .video
        guard playing.flowingSince == nil else {
            // Servers that end a session for lack of a keep-alive often just stop sending.
            return fail(.stalled(kind), endedByCamera: playing.tracks.first?.lastPacket)
        }
        fail(.nothingCame(kind, playing.transport), kind: .nothingCame)
    }

    /// Records tracks other than the first that have gone silent. The picture goes on: nothing restarts for the sake of
    /// the sound, which a camera may stop by itself, for example during a talk.
    private func checkSilence(_ playing: PlayingTracks, _ output: SourceOutput, at now: Instant) {
        for index in playing.tracks.indices.dropFirst() {
            guard !playing.tracks[index].isSilent, let last = playing.tracks[index].lastPacket,
                last + configuration.silenceTimeout <= now
            else { continue }
            playing.tracks[index].isSilent = true
            output.findings.setSilent(index, true)
            output.findings.learn { $0.quirks.insert(.soundStops) }
        }
    }

    // MARK: Ending

    /// Ends the session; the first ending counts.
    mutating func end(_ ending: SessionEnding) {
        if !hasEnded { stage = .ended(ending, after: progress) }
    }

    private mutating func end(_ failure: SessionFailure) {
        var failure = failure
        if let flowingSince = playing?.flowingSince { failure.playedFor = MonotonicClock.now - flowingSince }
        end(.failed(failure))
    }

    mutating func fail(_ error: RTSPError) {
        var failure = SessionFailure(.rtsp(error))
        switch error {
        case .unauthorized:
            failure.kind = .credentialsRefused
            failure.refusedLogin = driver.client.refusedLogin
        case .transportRefused: failure.kind = .transportRefused
        case .noTrack: failure.kind = .tracksRefused
        case .noDescription: failure.kind = .mediaRefused
        // 404 and similar codes. Not 408, 453 and 454: the answer of a slow or full camera says nothing about its
        // media.
        case .refused(.describe, 400..<500, _) where !isTemporary(error): failure.kind = .mediaRefused
        case .noAnswer where isAwaitingFeature: failure.kind = .featureSuspected
        default: break
        }
        end(failure)
    }

    private func isTemporary(_ error: RTSPError) -> Bool {
        guard case .refused(_, let status, _) = error else { return false }
        return [408, 453, 454].contains(status)
    }

    /// Ends the session with a failure. `endedByCamera` is when the camera seems to have ended it.
    mutating func fail(_ reason: CameraFailure, kind: SessionFailure.Kind = .other, endedByCamera end: Instant? = nil) {
        var failure = SessionFailure(reason, kind: kind)
        if let end, let playing {
            failure.failedKeepAlive = keepAliveToBlame(playing, at: end)
            // Receiver reports go out all the time, so they are treated as sent.
            if let used = driver.client.keepAliveInUse,
                driver.client.lastKeepAliveSent != nil || used == .receiverReports
            {
                failure.age = SessionAge(age: end - playing.since, keepAlive: used)
            }
        }
        self.end(failure)
    }

    /// The camera has ended the session.
    mutating func failClosed(_ reason: CameraFailure) {
        fail(reason, kind: isAwaitingFeature ? .featureSuspected : .other, endedByCamera: MonotonicClock.now)
    }

    /// The connection was lost.
    mutating func fail(_ loss: RTSPDriver.Loss) { failClosed(loss.failure) }

    /// The camera has not answered a request for its session description with the back channel.
    private var isAwaitingFeature: Bool {
        guard asksForBackChannel, case .describing(featureRefusal: nil) = stage else { return false }
        return driver.client.isAwaitingDescription
    }

    /// The keep-alive that seems to have made the camera end the session: one that it did not tolerate, right after it
    /// came; or one that it did not count, when its timeout was over.
    private func keepAliveToBlame(_ playing: PlayingTracks, at end: Instant) -> RTSPKeepAlive? {
        guard let used = driver.client.keepAliveInUse else { return nil }
        if let sent = driver.client.lastKeepAliveSent, driver.client.keepAliveAccepted != used, end >= sent,
            end - sent < .seconds(2)
        {
            return used
        }
        guard let timeout = driver.client.sessionTimeout else { return nil }
        let played = (end - playing.since).inSeconds
        return played > Double(timeout) * 0.8 && played < Double(timeout) * 2 + 10 ? used : nil
    }

    /// Nothing more goes to the sink.
    func finish(_ ending: SessionEnding, _ output: SourceOutput) -> SessionEnding {
        output.findings.use { $0.kind = nil }
        return ending
    }
}
