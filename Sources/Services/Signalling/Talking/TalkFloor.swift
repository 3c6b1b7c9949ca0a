import Cameras
import MediaRelay
import Stations
import Transport

/// Decides who talks to each camera. A camera has one speaker, so one talk at a time has its floor: that of a viewer's
/// microphone, or a clip.
actor TalkFloor {
    /// A talk of a session, and what becomes of its opening. Everyone who asks for this talk waits for it.
    struct SessionTalk {
        let talk: Talk
        let opening: Task<Result<Void, SignallingError>, Never>
    }

    let registry: SignallingRegistry
    var relay: MediaRelay { registry.relay }
    /// Each session's talk, or the last one, until the session ends.
    var sessionTalks: [String: SessionTalk] = [:]
    private var ledger: FloorLedger
    /// The talks that have a floor.
    private var talks: [FloorLedger.Talker: Talk] = [:]
    /// Those that wait for a speaker to open, by the talk's number.
    private var openings: [UInt64: SpeakerOpening] = [:]
    private var nextNumber: UInt64 = 0
    private var timer: Task<Void, Never>?
    /// When ``timer`` ends; nil while none is set.
    private var armedFor: Instant?
    /// The reports of cameras' speakers, in their order.
    private let speakerEvents: AsyncStream<(talk: Talk, state: SpeakerState)>.Continuation

    init(_ registry: SignallingRegistry) {
        self.registry = registry
        ledger = FloorLedger(patience: registry.configuration.talkbackPatience)
        let (events, continuation) = AsyncStream.makeStream(of: (talk: Talk, state: SpeakerState).self)
        speakerEvents = continuation
        Task { [weak self] in
            for await event in events { await self?.speakerChanged(event.talk, event.state) }
        }
    }

    deinit { speakerEvents.finish() }

    /// The talk that has a device's floor.
    func holder(of deviceID: String) -> Talk? { ledger.holder(of: deviceID).flatMap { talks[$0] } }

    // MARK: Taking and releasing

    /// Takes the floor of a device for a new talk. Open the talk next.
    /// - Parameter decoder: decodes the talker's microphone; nil for a clip.
    /// - Throws: `floorTaken` while another talk has the floor, `unknownDevice` for a camera that has been removed.
    func take(
        _ deviceID: String, talker: FloorLedger.Talker, principal: String, speaker: any CameraSpeaker,
        decoder: TalkbackDecoder? = nil
    ) throws(SignallingError) -> Talk {
        // The end of a camera releases its floor after the station is gone. Nobody takes the floor in between.
        let station = try registry.station(of: deviceID)
        try SignallingError.translating { () throws(StationError) in try station.checkTenure() }
        try ledger.take(deviceID: deviceID, talker: talker, at: registry.now)
        nextNumber += 1
        let talk = Talk(
            number: nextNumber, talker: talker, deviceID: deviceID, principal: principal, speaker: speaker,
            decoder: decoder)
        talks[talker] = talk
        arm()
        return talk
    }

    /// Releases the floor that a talker has, and ends its talk.
    func release(_ talker: FloorLedger.Talker, because end: TalkEnd) {
        guard ledger.release(talker) != nil, let talk = talks.removeValue(forKey: talker) else { return }
        if case .session(let id) = talker {
            relay.setTalkbackSink(id, nil)
            relay.holdSound(id, for: nil)
        }
        let wasOpen = talk.isOpen
        talk.end(because: end)
        if wasOpen { registry.announce(.talkEnded(talkID: talk.name, deviceID: talk.deviceID, end: end)) }
        if case .session(let id) = talker { registry.changes.add(id) }
        // Those that waited for the speaker to open learn that it does not.
        _ = openings.removeValue(forKey: talk.number)?.answer(.closed)
        arm()
    }

    /// Ends the talk to a device, or all talks, with the sessions.
    func end(of deviceID: String? = nil, because end: SessionEnd) {
        for talker in ledger.talkers where deviceID == nil || talks[talker]?.deviceID == deviceID {
            release(talker, because: .sessionEnded(end))
        }
    }

    // MARK: Opening

    /// Opens the path to the camera's speaker for a talk that has the floor. A talk that the camera refuses loses it.
    /// - Parameter connect: called once the speaker is open; returns whether the talker's sound reaches it.
    func open(_ talk: Talk, connect: @Sendable () -> Bool = { true }) async throws(SignallingError) {
        // A talk that was ended before this began no longer has the speaker: another talk has it, or nobody.
        try requireFloor(talk)
        let state = await answer(of: talk)
        try requireFloor(talk)
        if case .refused(let refusal) = state {
            release(talk.talker, because: .refused(refusal))
            throw .speaker(refusal)
        }
        guard connect() else {
            release(talk.talker, because: .noThread)
            throw .noTalkThread
        }
        talk.open()
        ledger.record(talk.talker, heardAt: registry.now)
        registry.announce(.talkStarted(talkID: talk.name, deviceID: talk.deviceID, principal: talk.principal))
        if case .session(let id) = talk.talker { registry.changes.add(id) }
    }

    private func requireFloor(_ talk: Talk) throws(SignallingError) {
        guard talks[talk.talker] === talk else { throw .endedWhileOpening(talk.talker.kind) }
    }

    /// Asks a camera to open its speaker, and waits for the answer.
    private func answer(of talk: Talk) async -> SpeakerState {
        let (events, timeout, opening) = (speakerEvents, registry.configuration.speakerTimeout, SpeakerOpening())
        openings[talk.number] = opening
        talk.speaker.begin { state in
            // The first report is the answer to those that wait. Later ones are news.
            if !opening.answer(state) { events.yield((talk, state)) }
        }
        let timer = Task {
            // A cancelled sleep means that the camera has answered.
            guard (try? await Task.sleep(for: timeout)) != nil else { return }
            _ = opening.answer(.refused(.noAnswer(within: timeout)))
        }
        defer { timer.cancel() }
        let state = await opening.wait()
        openings[talk.number] = nil
        return state
    }

    private func speakerChanged(_ talk: Talk, _ state: SpeakerState) {
        guard case .refused(let refusal) = state, talks[talk.talker] === talk else { return }
        release(talk.talker, because: .refused(refusal))
    }

    // MARK: The floor's lease

    /// Takes the floor from talkers that have sent nothing for a while.
    func expire() {
        armedFor = nil
        let now = registry.now
        for (talker, talk) in talks {
            guard let decoder = talk.decoder else { continue }
            if let heard = talk.isOpen ? decoder.counts.lastHeard : now { ledger.record(talker, heardAt: heard) }
        }
        for talker in ledger.expired(at: now) {
            release(talker, because: .silent(ledger.patience))
        }
        arm()
    }

    /// Sets a timer for the next time at which a talker may have lost the floor.
    private func arm() {
        guard let next = ledger.nextExpiry, next != .distantFuture else { return }
        // Sound that arrives meanwhile is only noticed at the end of the pause, which is a second at least.
        let pause = max(next - registry.now, .seconds(1))
        let due = registry.now + pause
        // A timer that ends before sets the next one. Talks that begin and end all the time must not move it on.
        if let armedFor, armedFor <= due { return }
        armedFor = due
        timer?.cancel()
        timer = Task { [weak self] in
            guard (try? await Task.sleep(for: pause)) != nil else { return }
            await self?.expire()
        }
    }
}
