import Transport

/// The end of a viewer's candidates, which has come once the viewer has said so and no name among them is being looked up.
/// The outcomes of look-ups come from another thread.
final class CandidateEnd: Sendable {
    private struct State {
        var lookUps = 0
        var viewerHasEnded = false
        var isCancelled = false

        var hasCome: Bool { viewerHasEnded && lookUps == 0 && !isCancelled }
    }

    private let state = Locked(State())

    /// ICE has restarted: the end of these candidates says nothing of those that follow.
    func cancel() { state.withLock { $0.isCancelled = true } }

    func beginLookUp() { state.withLock { $0.lookUps += 1 } }

    /// - Returns: whether that was the last thing missing.
    func endLookUp() -> Bool {
        state.withLock { state in
            state.lookUps -= 1
            return state.hasCome
        }
    }

    /// The viewer has said that no other candidates follow.
    /// - Returns: whether nothing is missing.
    func endCandidates() -> Bool {
        state.withLock { state in
            state.viewerHasEnded = true
            return state.hasCome
        }
    }
}
