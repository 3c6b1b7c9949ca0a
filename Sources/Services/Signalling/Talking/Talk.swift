import Cameras
import Transport

/// One talk to a camera's speaker, of a viewer's microphone or of a clip: from the moment it has the floor until it
/// ends.
final class Talk: Sendable {
    private enum State {
        case opening
        case open
        case ended(TalkEnd, TalkbackSnapshot)
    }

    /// Counts the talks of this run of the gateway.
    let number: UInt64
    let talker: FloorLedger.Talker
    let deviceID: String
    let principal: String
    let speaker: any CameraSpeaker
    /// Decodes the microphone; nil for a clip.
    let decoder: TalkbackDecoder?
    private let state = Locked(State.opening)
    /// Whether the talk has ended and released the speaker.
    private let isOver = Awaitable(false)

    init(
        number: UInt64, talker: FloorLedger.Talker, deviceID: String, principal: String, speaker: any CameraSpeaker,
        decoder: TalkbackDecoder?
    ) {
        self.number = number
        self.talker = talker
        self.deviceID = deviceID
        self.principal = principal
        self.speaker = speaker
        self.decoder = decoder
    }

    /// The talk's name in announcements.
    var name: String {
        switch talker {
        case .session: "talk-\(number)"
        case .clip: "clip-\(number)"
        }
    }

    /// Whether the camera's speaker plays what is said.
    var isOpen: Bool { state.withLock { if case .open = $0 { true } else { false } } }

    /// Whether the talk has lost the floor.
    var hasEnded: Bool { state.withLock { if case .ended = $0 { true } else { false } } }

    /// The sound on its way to the camera, now or at the end.
    var snapshot: TalkbackSnapshot {
        switch state.withLock({ $0 }) {
        case .opening: return delivery(state: .opening)
        case .open: return delivery(state: .talking)
        case .ended(let end, var last):
            last.reason = end.words
            return last
        }
    }

    private func delivery(state: TalkbackSnapshot.State) -> TalkbackSnapshot {
        var snapshot = TalkbackSnapshot(state: state)
        snapshot.count(speaker.delivery)
        guard let counts = decoder?.counts else { return snapshot }
        snapshot.packetsReceived = counts.received
        snapshot.packetsLost = counts.lost
        snapshot.millisecondsRestored = Double(counts.samplesRestored) / 48
        snapshot.millisecondsConcealed = Double(counts.samplesConcealed) / 48
        return snapshot
    }

    /// The speaker is open.
    func open() {
        state.withLock { if case .opening = $0 { $0 = .open } }
    }

    /// Releases the speaker. Only the first call has an effect.
    func end(because end: TalkEnd) {
        var last = snapshot
        let isFirst = state.withLock { state in
            switch state {
            case .opening: last.state = .refused
            case .open: last.state = .ended
            case .ended: return false
            }
            state = .ended(end, last)
            return true
        }
        guard isFirst else { return }
        defer { isOver.withLock { $0 = true } }
        let isSilenced = end.isSilent
        if let decoder {
            decoder.finish(silencing: isSilenced)
        } else if isSilenced {
            speaker.silence()
        } else {
            speaker.end()
        }
    }

    /// Waits until the talk has ended, at most `patience`, and no longer than until the task is cancelled.
    func waitForEnd(atMost patience: Duration) async { await isOver.wait(atMost: patience) { $0 } }

    /// How many tasks wait for the end, for tests.
    var waitCount: Int { isOver.waitCount }
}
