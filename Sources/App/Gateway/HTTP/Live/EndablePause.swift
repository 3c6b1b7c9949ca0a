import Transport

/// Pauses that somebody else can end for good.
final class EndablePause: Sendable {
    private struct State {
        var hasEnded = false
        var sleeper: Task<Void, Never>?
    }

    private let state = Locked(State())

    /// Waits until a moment.
    /// - Returns: false if there is no reason to continue.
    func sleep(until moment: ContinuousClock.Instant) async -> Bool {
        let sleeper = Task<Void, Never> {
            // A cancelled sleep is over, too.
            try? await ContinuousClock().sleep(until: moment)
        }
        let hasEnded = state.withLock { state in
            if !state.hasEnded { state.sleeper = sleeper }
            return state.hasEnded
        }
        if hasEnded { sleeper.cancel() }
        await withTaskCancellationHandler {
            await sleeper.value
        } onCancel: {
            sleeper.cancel()
        }
        return !Task.isCancelled && !state.withLock { $0.hasEnded }
    }

    /// Ends the pause, and all further ones.
    func end() {
        let sleeper = state.withLock { state in
            state.hasEnded = true
            return state.sleeper
        }
        sleeper?.cancel()
    }
}
