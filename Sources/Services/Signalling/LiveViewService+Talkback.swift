import Cameras
import Codecs
import MediaRelay
import Stations
import Transport

extension LiveViewService: TalkServing {
    /// One talk of a session.
    struct Talk {
        let number: UInt64
        let decoder: TalkbackDecoder
        /// What becomes of the opening; everybody who asks for this talk waits for it.
        let opening: Task<Result<Void, SignallingError>, Never>
        /// The camera's speaker takes what is said.
        var isOpen = false
    }

    public func startTalkback(
        mediaSessionId: String, principal: String, offerSdp: String?
    ) async throws(SignallingError) {
        let lease = try ledger.lease(mediaSessionId, of: principal)
        guard let session = sessions[mediaSessionId] else { throw .unknownSession }
        guard let speaker = session.station.source.speaker else {
            throw .failedPrecondition("\(lease.deviceID) has no speaker")
        }
        guard !session.talkbackCodecs.isEmpty else {
            throw .failedPrecondition(
                "this live view was started without a microphone; start it again with sendrecv audio")
        }
        let talker = TalkbackFloor.Talker.session(mediaSessionId)
        try floor.take(deviceID: lease.deviceID, talker: talker, at: now)
        if let talk = session.talk { return try await talk.opening.value.get() }
        let decoder: TalkbackDecoder
        do {
            decoder = try TalkbackDecoder(
                speaker: speaker, codecs: session.talkbackCodecs, voiceHold: configuration.voiceHold,
                voiceChanged: voiceHandler(mediaSessionId))
        } catch {
            _ = floor.release(talker)
            throw .internalFault("the talkback decoder could not be made: \(error)")
        }
        nextTalk += 1
        let number = nextTalk
        let opening = Task {
            await self.openTalk(
                number, of: mediaSessionId, deviceID: lease.deviceID, principal: principal, speaker, decoder)
        }
        sessions[mediaSessionId]?.talk = Talk(number: number, decoder: decoder, opening: opening)
        armFloor()
        try await opening.value.get()
    }

    /// Opens the way to the camera's speaker for a talk, and lets the session's microphone through.
    private func openTalk(
        _ number: UInt64, of sessionID: String, deviceID: String, principal: String,
        _ speaker: any CameraSpeaker, _ decoder: TalkbackDecoder
    ) async -> Result<Void, SignallingError> {
        let talker = TalkbackFloor.Talker.session(sessionID)
        let overtaken = Result<Void, SignallingError>.failure(
            .failedPrecondition("the talk was ended before the camera's speaker was open"))
        // It may have been stopped before this began: then the speaker is another talker's, or nobody's.
        guard sessions[sessionID]?.talk?.number == number else { return overtaken }
        let state = await open(speaker, talk: number, talker: talker)
        guard sessions[sessionID]?.talk?.number == number, floor.holder(of: deviceID) == talker else {
            return overtaken
        }
        if case .refused(let refusal) = state {
            releaseFloor(talker, reason: refusal.description)
            return .failure(SignallingError(refusal))
        }
        guard let thread = TalkThread(decoder: decoder) else {
            releaseFloor(talker, reason: "the gateway has no thread left for the talk")
            return .failure(.internalFault("the gateway has no thread left for the talk"))
        }
        sessions[sessionID]?.talk?.isOpen = true
        announce(.talkStarted(talkID: "talk-\(number)", deviceID: deviceID, principal: principal))
        floor.note(talker, heardAt: now)
        relay.setTalkbackSink(sessionID, thread)
        return .success(())
    }

    public func stopTalkback(mediaSessionId: String, principal: String) async throws(SignallingError) {
        // The end of a session has given its floor back.
        guard !hasEnded(mediaSessionId, principal: principal) else { return }
        _ = try ledger.lease(mediaSessionId, of: principal)
        releaseFloor(.session(mediaSessionId), reason: "the talker stopped")
    }

    /// Half duplex: what the camera hears is left out for the talker while they speak. The relay forwards sound without
    /// decoding it, so there is nothing between all and nothing.
    private func voiceHandler(_ sessionID: String) -> (@Sendable (Bool) -> Void)? {
        guard configuration.mutesReturnPath else { return nil }
        let relay = relay
        return { isSpeaking in relay.holdSound(sessionID, for: isSpeaking ? Self.longestSilence : nil) }
    }

    /// How long sound is left out without another word that the talker speaks: the decoder says so each second.
    private static let longestSilence: Duration = .seconds(2)

    /// Opens the way to a camera's speaker, and waits for it.
    func open(
        _ speaker: any CameraSpeaker, talk: UInt64, talker: TalkbackFloor.Talker
    ) async -> SpeakerState {
        let (events, timeout, opening) = (speakerEvents, configuration.speakerTimeout, SpeakerOpening())
        openings[talk] = opening
        speaker.begin { state in
            // The first word answers who waits; the others are news.
            if !opening.answer(state) { events.yield((talk, talker, state)) }
        }
        let timer = Task {
            // A cancelled sleep means that the camera has answered.
            guard (try? await Task.sleep(for: timeout)) != nil else { return }
            _ = opening.answer(.refused(.unreachable("it did not answer within \(timeout.components.seconds) s")))
        }
        defer { timer.cancel() }
        let state = await opening.wait()
        openings[talk] = nil
        return state
    }

    /// A camera's speaker tells how it is.
    func speakerChanged(_ talk: UInt64, _ talker: TalkbackFloor.Talker, _ state: SpeakerState) {
        guard case .refused(let refusal) = state, self.talk(of: talker) == talk else { return }
        releaseFloor(talker, reason: refusal.description)
    }

    private func talk(of talker: TalkbackFloor.Talker) -> UInt64? {
        switch talker {
        case .session(let id): sessions[id]?.talk?.number
        case .clip(let id): clips.values.first { $0.id == id && !$0.hasEnded }?.talk
        }
    }

    /// Gives back the floor that a talker holds.
    func releaseFloor(_ talker: TalkbackFloor.Talker, reason: String) {
        let talk = talk(of: talker)
        guard let deviceID = floor.release(talker) else { return }
        switch talker {
        case .session(let id):
            relay.setTalkbackSink(id, nil)
            relay.holdSound(id, for: nil)
            if let session = sessions[id], let talk = session.talk {
                var last = talkback(of: session) ?? TalkbackSnapshot(state: "ended")
                last.state = talk.isOpen ? "ended" : "refused"
                last.reason = reason
                sessions[id]?.talk = nil
                sessions[id]?.lastTalk = last
                talk.decoder.finish()
                if talk.isOpen {
                    announce(.talkEnded(talkID: "talk-\(talk.number)", deviceID: deviceID, reason: reason))
                }
            }
        case .clip(let id):
            endClip(id, of: deviceID, reason: reason)
        }
        // Who waited for the speaker to open waits no more.
        if let talk { _ = openings.removeValue(forKey: talk)?.answer(.closed) }
        armFloor()
    }

    /// What becomes of what is said in a session.
    func talkback(of session: Session) -> TalkbackSnapshot? {
        guard let talk = session.talk else { return session.lastTalk }
        var snapshot = TalkbackSnapshot(state: talk.isOpen ? "talking" : "opening")
        if let speaker = session.station.source.speaker { snapshot.count(speaker.delivery) }
        let counts = talk.decoder.counts
        snapshot.packetsReceived = counts.received
        snapshot.packetsLost = counts.lost
        return snapshot
    }

    // MARK: The floor's lease

    /// Takes the floor from talkers of whom nothing has come for a while.
    func expireFloor() {
        for talker in floor.talkers {
            guard case .session(let id) = talker, let talk = sessions[id]?.talk else { continue }
            if !talk.isOpen {
                floor.note(talker, heardAt: now)
            } else if let heard = talk.decoder.counts.lastHeard {
                floor.note(talker, heardAt: heard)
            }
        }
        let seconds = configuration.talkbackPatience.components.seconds
        for talker in floor.expired(at: now) {
            releaseFloor(talker, reason: "the talker has sent no sound for \(seconds) s")
        }
        armFloor()
    }

    /// Lets a timer run until a floor may have to be taken back.
    func armFloor() {
        floorTimer?.cancel()
        floorTimer = nil
        guard let next = floor.nextExpiry, next != .distantFuture else { return }
        floorTimer = Task { [weak self] in
            guard let now = await self?.now else { return }
            // The talker is heard meanwhile, which only a look at the end can tell: never busier than once a second.
            let pause = max(next - now, .seconds(1))
            guard (try? await Task.sleep(for: pause)) != nil else { return }
            await self?.expireFloor()
        }
    }
}

extension SignallingError {
    /// From a camera that does not play what is said.
    init(_ refusal: SpeakerRefusal) {
        switch refusal {
        case .unreachable, .brokenOff: self = .cameraUnavailable(refusal.description)
        case .unauthorized, .noBackChannel, .noCommonCodec, .needsDatagrams, .sessionRefused:
            self = .failedPrecondition(refusal.description)
        case .gatewayFault: self = .internalFault(refusal.description)
        }
    }
}
