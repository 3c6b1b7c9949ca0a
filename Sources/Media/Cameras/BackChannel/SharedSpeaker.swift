import Transport

/// Where a talk waits that shall go over the source's own session, for cameras that serve one session alone.
///
/// The speaker puts a talk in, on any thread. The source's thread, while it runs, begins a session with the back
/// channel for it, and one without when the talk is over.
final class SharedSpeaker: Sendable {
    private struct State {
        var control: SourceControl?
        var talk: BackChannelTalk?
        /// The camera takes no talk in the source's session either: viewers are not disturbed for it before then.
        var uselessUntil: Instant?
    }

    /// A refusal may have been a passing one, as while the camera plays somebody else's voice.
    private static let patience: Duration = .seconds(600)

    private let state = Locked(State())
    private let findings: SourceFindings

    init(findings: SourceFindings) {
        self.findings = findings
    }

    /// Whether the camera is known to take no second session.
    var isNeeded: Bool { findings.profile.quirks.contains(.oneSession) }

    /// Whether the camera is known to refuse the Digest that it offers, and to take Basic.
    var prefersBasic: Bool { findings.profile.quirks.contains(.brokenDigest) }

    /// Whether the camera must not be told the password itself; see ``SourceFindings/refusesBasic(isSecure:)``.
    func refusesBasic(isSecure: Bool) -> Bool { findings.refusesBasic(isSecure: isSecure) }

    // MARK: The speaker's side

    /// Hands a talk to the source's thread; false where none runs, and where that was in vain before. Whoever had the
    /// place before is ended.
    func take(_ talk: BackChannelTalk, at now: Instant = monotonicNow()) -> Bool {
        let (control, previous) = state.withLock { state -> (SourceControl?, BackChannelTalk?) in
            if let end = state.uselessUntil, now < end { return (nil, nil) }
            guard state.control != nil else { return (nil, nil) }
            defer { state.talk = talk }
            return (state.control, state.talk)
        }
        guard let control else { return false }
        if let previous { end(previous) }
        control.wake()
        return true
    }

    // MARK: The source's side

    /// The source's thread runs.
    func attach(_ control: SourceControl) { state.withLock { $0.control = control } }

    /// It has ended, and the talk with it. One that was left behind in a look-up ends late: by then another may run,
    /// to which the talk belongs.
    func detach(_ control: SourceControl) {
        let talk = state.withLock { state -> BackChannelTalk? in
            guard state.control === control else { return nil }
            // What was learnt of the camera outlives the thread.
            defer { (state.control, state.talk) = (nil, nil) }
            return state.talk
        }
        guard let talk else { return }
        talk.refuse(.brokenOff("the camera's source has been stopped"))
        end(talk)
    }

    /// The talk that wants a session.
    var talk: BackChannelTalk? { state.withLock { $0.talk } }

    /// The same, unless the talker has gone while the camera was away.
    func waitingTalk() -> BackChannelTalk? {
        guard let talk, talk.control.isStopping else { return talk }
        finish(talk)
        return nil
    }

    /// The camera plays the talk: the next one does not ask for a session of its own first.
    func succeed() { findings.learn { $0.quirks.insert(.oneSession) } }

    /// The talk is over, for `refusal` where there is one.
    func finish(_ talk: BackChannelTalk, _ refusal: SpeakerRefusal? = nil, at now: Instant = monotonicNow()) {
        let mayHelp = isNeeded
        let isCurrent = state.withLock { state in
            guard state.talk === talk else { return false }
            state.talk = nil
            if refusal != nil, !mayHelp { state.uselessUntil = now + Self.patience }
            return true
        }
        // One that was replaced has been ended by its successor.
        guard isCurrent else { return }
        if let refusal { talk.refuse(refusal) }
        end(talk)
    }

    private func end(_ talk: BackChannelTalk) {
        talk.close()
        talk.control.markEnded()
    }
}
