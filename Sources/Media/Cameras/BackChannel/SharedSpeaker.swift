import DatagramPort
import Transport

/// Holds a talk that goes over the source's own session, for cameras that serve only one session.
///
/// The speaker puts a talk in, on any thread. The source's thread, while it runs, starts a session with the back
/// channel for it, and one without when the talk is over.
final class SharedSpeaker: Sendable {
    private struct State {
        var control: SourceControl?
        var talk: BackChannelTalk?
        /// The camera does not accept talk in the source's session either. Until then, viewers are not disturbed for
        /// it.
        var uselessUntil: Instant?
    }

    /// A refusal may be temporary, for example while the camera plays another client's sound.
    private static let patience: Duration = .seconds(600)

    private let state = Locked(State())
    let findings: SourceFindings

    init(findings: SourceFindings) {
        self.findings = findings
    }

    /// Whether the camera is known to refuse a second session.
    var isNeeded: Bool { findings.profile.quirks.contains(.oneSession) }

    // MARK: The speaker's side

    /// Hands a talk to the source's thread. Returns false where no thread runs, and where the camera refused this
    /// before. A talk that was there before is ended.
    func take(_ talk: BackChannelTalk, at now: Instant = MonotonicClock.now) -> Bool {
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

    /// Records that the source's thread runs.
    func attach(_ control: SourceControl) { state.withLock { $0.control = control } }

    /// Records that the thread has ended, and the talk with it. A thread that was left behind in a look-up ends late.
    /// By then another may run, and the talk may belong to that one.
    func detach(_ control: SourceControl) {
        let talk = state.withLock { state -> BackChannelTalk? in
            guard state.control === control else { return nil }
            // Findings about the camera outlive the thread.
            defer { (state.control, state.talk) = (nil, nil) }
            return state.talk
        }
        guard let talk else { return }
        talk.refuse(.sourceStopped)
        end(talk)
    }

    /// The talk that needs a session.
    var talk: BackChannelTalk? { state.withLock { $0.talk } }

    /// The same, unless the talker has gone while the camera was away.
    func waitingTalk() -> BackChannelTalk? {
        guard let talk, talk.control.isStopping else { return talk }
        finish(talk)
        return nil
    }

    /// The camera plays the talk. The next one does not ask for a separate session first.
    func succeed() { findings.learn { $0.quirks.insert(.oneSession) } }

    /// The talk is over, because of `refusal` where one is given.
    func finish(_ talk: BackChannelTalk, _ refusal: SpeakerRefusal? = nil, at now: Instant = MonotonicClock.now) {
        let mayHelp = isNeeded
        let isCurrent = state.withLock { state in
            guard state.talk === talk else { return false }
            state.talk = nil
            if refusal != nil, !mayHelp { state.uselessUntil = now + Self.patience }
            return true
        }
        // A talk that was replaced has been ended by its successor.
        guard isCurrent else { return }
        if let refusal { talk.refuse(refusal) }
        end(talk)
    }

    private func end(_ talk: BackChannelTalk) {
        talk.close()
        talk.control.markEnded()
    }
}
