import Transport

/// What a speaker's talks pass on their way to the camera, so that a camera that is switched off receives nothing more
/// from the moment at which the command returns. Talks have threads of their own, and send their last words after
/// their end.
final class SpeakerGate: Sendable {
    private struct State {
        var latest: UInt64 = 0
        var silenced: UInt64 = 0
    }

    private let state = Locked(State())

    /// Admits another talk; returns its number.
    func admit() -> UInt64 {
        state.withLock { state in
            state.latest += 1
            return state.latest
        }
    }

    /// Stops all talks that were admitted. Waits for a talk that is sending at this moment: it never waits for the
    /// camera while it does.
    func silence() { state.withLock { $0.silenced = $0.latest } }

    /// Whether a talk may no longer send.
    func isSilenced(_ talk: UInt64) -> Bool { state.withLock { talk <= $0.silenced } }

    /// Runs `send` unless the talk may no longer send.
    func pass<Failure: Error>(_ talk: UInt64, _ send: () throws(Failure) -> Void) throws(Failure) {
        try state.withLock { state throws(Failure) in
            guard talk > state.silenced else { return }
            try send()
        }
    }
}
