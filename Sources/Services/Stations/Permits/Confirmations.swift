import Transport

/// Waits until everybody who was asked has answered, or until the time is over.
final class Confirmations: Sendable {
    private struct State {
        var missing: Set<Int> = []
        var waiter: CheckedContinuation<Void, Never>?
        var isTimeOver = false
    }

    private let state = Locked(State())

    /// Somebody is asked.
    func expect(_ number: Int) { state.withLock { _ = $0.missing.insert(number) } }

    /// Somebody has answered; answering twice is answering once.
    func confirm(_ number: Int) {
        state.withLock { state in
            state.missing.remove(number)
            return state.missing.isEmpty ? state.waiter.take() : nil
        }?.resume()
    }

    /// Waits. One task may do so, once all have been asked.
    /// - Returns: who has not answered in time.
    func wait(atMost patience: Duration) async -> Set<Int> {
        let timer = Task.detached { [self] in
            // A cancelled sleep means that all have answered.
            try? await Task.sleep(for: patience)
            state.withLock { state in
                state.isTimeOver = true
                return state.waiter.take()
            }?.resume()
        }
        await withCheckedContinuation { continuation in
            let isDone = state.withLock { state in
                if state.missing.isEmpty || state.isTimeOver { return true }
                state.waiter = continuation
                return false
            }
            if isDone { continuation.resume() }
        }
        timer.cancel()
        return state.withLock { $0.missing }
    }
}
