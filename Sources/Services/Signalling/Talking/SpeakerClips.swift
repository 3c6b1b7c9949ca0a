import Cameras
import Stations
import Transport

/// Sounds that are played on cameras' speakers. Each takes the camera's floor as a talker of its own.
actor SpeakerClips: ClipServing {
    /// A clip that is playing, or was played.
    private struct PlayedClip {
        let id: String
        let durationSeconds: Double
        let talk: Talk

        var snapshot: TalkClipSnapshot {
            TalkClipSnapshot(id: id, durationSeconds: durationSeconds, talkback: talk.snapshot)
        }
    }

    private let registry: SignallingRegistry
    private let floor: TalkFloor
    private var random = RandomSource.system
    /// The clip that each device is playing or played last.
    private var clips: [String: PlayedClip] = [:]
    /// The clips before those. Ending one of them again is not an error.
    private var ended = EndedSessions()

    init(_ registry: SignallingRegistry, floor: TalkFloor) {
        self.registry = registry
        self.floor = floor
    }

    func playClip(
        _ clip: TalkClip, deviceID: String, principal: String
    ) async throws(SignallingError) -> TalkClipSnapshot {
        guard let speaker = try registry.station(of: deviceID).source.speaker else {
            throw .noSpeaker(device: deviceID)
        }
        let id = random.capability()
        let talk = try await floor.take(deviceID, talker: .clip(id), principal: principal, speaker: speaker)
        let played = PlayedClip(id: id, durationSeconds: clip.durationSeconds, talk: talk)
        remember(played)
        try await floor.open(talk)
        Task.detached { [floor, registry] in
            await Self.play(clip, in: talk, now: { registry.now })
            await floor.release(talk.talker, because: .clipPlayed)
        }
        return played.snapshot
    }

    func stopClip(_ id: String, deviceID: String, principal: String) async throws(SignallingError) {
        _ = try registry.station(of: deviceID)
        let known = clips[deviceID].flatMap { $0.id == id ? $0.talk.principal : nil }
        let past = ended.entry(id, .clip, at: registry.now).flatMap { $0.deviceID == deviceID ? $0.principal : nil }
        // Clip identifiers are not secret: everyone who looks at the speaker sees the last one.
        guard let holder = known ?? past else {
            throw .unknownClip(device: deviceID)
        }
        guard holder == principal || principal == PlaceShares.owner else {
            throw .foreignClip
        }
        await floor.release(.clip(id), because: .clipStopped)
    }

    func waitForClip(of deviceID: String, atMost patience: Duration) async {
        await clips[deviceID]?.talk.waitForEnd(atMost: patience)
    }

    func speaker(of deviceID: String) async throws(SignallingError) -> SpeakerSnapshot {
        _ = try registry.station(of: deviceID)
        let talk = await floor.holder(of: deviceID)
        var snapshot = SpeakerSnapshot(clip: clips[deviceID]?.snapshot)
        switch talk?.talker {
        case .session: snapshot.talker = .session
        case .clip: snapshot.talker = .clip
        case nil: break
        }
        snapshot.talkback = talk?.snapshot
        return snapshot
    }

    /// A camera has been removed.
    func forget(_ deviceID: String) {
        if let last = clips.removeValue(forKey: deviceID) { recordEnd(of: last) }
    }

    private func remember(_ clip: PlayedClip) {
        let deviceID = clip.talk.deviceID
        // A clip that took the floor later may have arrived here first.
        guard let last = clips[deviceID], last.talk.number < clip.talk.number else {
            if clips[deviceID] == nil { clips[deviceID] = clip } else { recordEnd(of: clip) }
            return
        }
        recordEnd(of: last)
        clips[deviceID] = clip
    }

    private func recordEnd(of clip: PlayedClip) {
        ended.record(
            clip.id, .clip, deviceID: clip.talk.deviceID, principal: clip.talk.principal, at: registry.now)
    }

    /// Hands a clip to the speaker at the pace of its sound, slightly ahead, so that the queue never runs empty. `now` reads
    /// the services' clock. While that clock does not advance, neither does the clip.
    private static func play(_ clip: TalkClip, in talk: Talk, now: @Sendable () -> Instant) async {
        // The end of the talk ends each wait.
        func wait(until due: Instant) async {
            while !talk.hasEnded {
                let left = due - now()
                guard left > .zero else { return }
                do { try await Task.sleep(for: left) } catch { return }
            }
        }
        let samples = clip.samples
        let start = now()
        let frame = 960
        for index in 0..<((samples.count + frame - 1) / frame) {
            await wait(until: start + .milliseconds(20 * (index - 1)))
            guard !talk.hasEnded else { return }
            let end = min((index + 1) * frame, samples.count)
            samples[(index * frame)..<end].withUnsafeBufferPointer { talk.speaker.play($0) }
        }
        // What the queue still holds plays out by the speaker's own end.
        await wait(until: start + .milliseconds(20 * (samples.count / frame)))
    }
}
