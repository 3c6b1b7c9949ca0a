import Cameras
import Stations
import Transport

extension LiveViewService: ClipServing {
    /// A clip that is played, or was.
    struct PlayedClip {
        let id: String
        let talk: UInt64
        let principal: String
        let durationSeconds: Double
        let speaker: any CameraSpeaker
        var isOpen = false
        var player: Task<Void, Never>?
        /// What became of it, once it has ended.
        var ended: TalkbackSnapshot?
        var hasEnded: Bool { ended != nil }

        var snapshot: TalkClipSnapshot {
            if let ended { return TalkClipSnapshot(id: id, durationSeconds: durationSeconds, talkback: ended) }
            var talkback = TalkbackSnapshot(state: isOpen ? "talking" : "opening")
            talkback.count(speaker.delivery)
            return TalkClipSnapshot(id: id, durationSeconds: durationSeconds, talkback: talkback)
        }
    }

    public func playClip(
        _ clip: TalkClip, deviceID: String, principal: String
    ) async throws(SignallingError) -> TalkClipSnapshot {
        let station = try registry.station(of: deviceID)
        guard let speaker = station.source.speaker else { throw .failedPrecondition("\(deviceID) has no speaker") }
        let id = random.sessionIdentifier()
        let talker = TalkbackFloor.Talker.clip(id)
        try floor.take(deviceID: deviceID, talker: talker, at: now)
        nextTalk += 1
        let talk = nextTalk
        clips[deviceID] = PlayedClip(
            id: id, talk: talk, principal: principal, durationSeconds: clip.durationSeconds, speaker: speaker)
        let state = await open(speaker, talk: talk, talker: talker)
        if case .refused(let refusal) = state {
            releaseFloor(talker, reason: refusal.description)
            throw SignallingError(refusal)
        }
        guard floor.holder(of: deviceID) == talker, clips[deviceID]?.id == id else {
            throw .failedPrecondition("the clip was ended before the camera's speaker was open")
        }
        clips[deviceID]?.isOpen = true
        announce(.talkStarted(talkID: "clip-\(talk)", deviceID: deviceID, principal: principal))
        clips[deviceID]?.player = Task.detached { [weak self] in
            await Self.play(clip, to: speaker)
            guard !Task.isCancelled else { return }
            await self?.releaseFloor(talker, reason: "the clip has ended")
        }
        return clips[deviceID]?.snapshot
            ?? TalkClipSnapshot(
                id: id, durationSeconds: clip.durationSeconds, talkback: TalkbackSnapshot(state: "ended"))
    }

    public func stopClip(_ id: String, deviceID: String, principal: String) async throws(SignallingError) {
        _ = try registry.station(of: deviceID)
        let known = clips[deviceID].flatMap { $0.id == id ? $0.principal : nil }
        let past = ended.entry(id, .clip, at: now).flatMap { $0.deviceID == deviceID ? $0.principal : nil }
        // Identifiers of clips are no secret: everybody who looks at the speaker sees the last one.
        guard let holder = known ?? past else {
            throw .unknownClip("\(deviceID) has no recent clip with this identifier")
        }
        guard holder == principal || principal == PlaceShares.owner else {
            throw .permissionDenied("somebody else plays this clip; only they and the owner may end it")
        }
        guard floor.holder(of: deviceID) == .clip(id) else { return }
        releaseFloor(.clip(id), reason: "the clip was stopped")
    }

    public func speaker(of deviceID: String) async throws(SignallingError) -> SpeakerSnapshot {
        _ = try registry.station(of: deviceID)
        var snapshot = SpeakerSnapshot(clip: clips[deviceID]?.snapshot)
        switch floor.holder(of: deviceID) {
        case .session(let id):
            snapshot.talker = .session
            snapshot.talkback = sessions[id].flatMap { talkback(of: $0) }
        case .clip:
            snapshot.talker = .clip
            snapshot.talkback = snapshot.clip?.talkback
        case nil:
            break
        }
        return snapshot
    }

    /// Hands a clip to the speaker as fast as it sounds, a little ahead, so that the queue never runs dry.
    private static func play(_ clip: TalkClip, to speaker: any CameraSpeaker) async {
        let clock = ContinuousClock()
        let start = clock.now
        let frame = 960
        for index in 0..<((clip.samples.count + frame - 1) / frame) {
            let due = start + .milliseconds(20 * (index - 1))
            if due > clock.now, (try? await clock.sleep(until: due)) == nil { return }
            let end = min((index + 1) * frame, clip.samples.count)
            clip.samples[(index * frame)..<end].withUnsafeBufferPointer { speaker.play($0) }
        }
        // What the queue still holds plays out by the speaker's own end.
        try? await clock.sleep(until: start + .milliseconds(20 * (clip.samples.count / frame)))
    }

    /// The floor has been taken from a clip.
    func endClip(_ id: String, of deviceID: String, reason: String) {
        guard var clip = clips[deviceID], clip.id == id, !clip.hasEnded else { return }
        clip.player?.cancel()
        clip.player = nil
        var last = clip.snapshot.talkback
        last.state = clip.isOpen ? "ended" : "refused"
        last.reason = reason
        clip.ended = last
        clips[deviceID] = clip
        ended.note(id, .clip, deviceID: deviceID, principal: clip.principal, at: now)
        clip.speaker.end()
        if clip.isOpen { announce(.talkEnded(talkID: "clip-\(clip.talk)", deviceID: deviceID, reason: reason)) }
    }
}
