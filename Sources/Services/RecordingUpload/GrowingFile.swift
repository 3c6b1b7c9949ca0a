import Transport

/// How much of a segment's file is on the disk while it is still being recorded. The recorder's side reports its growth,
/// and an upload waits for it.
final class GrowingFile: Sendable {
    private struct State {
        var byteCount = 0
        var isEnded = false
        var isAbandoned = false
        var waiter: CheckedContinuation<Void, Never>?
    }

    private let state = Locked(State())

    /// The file has grown, and may be complete.
    func grow(to byteCount: Int, isEnded: Bool) {
        wake { state in
            state.byteCount = max(state.byteCount, byteCount)
            state.isEnded = state.isEnded || isEnded
        }
    }

    /// The file will not be completed, or the upload is over.
    func abandon() {
        wake { $0.isAbandoned = true }
    }

    private func wake(_ change: (inout State) -> Void) {
        let waiter = state.withLock { state in
            change(&state)
            defer { state.waiter = nil }
            return state.waiter
        }
        waiter?.resume()
    }

    /// Waits until there is more than `offset`, or the end. One upload at a time waits.
    func next(after offset: Int) async -> (byteCount: Int, isEnded: Bool, isAbandoned: Bool) {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let (previous, isReady) = state.withLock { state in
                    let previous = state.waiter
                    state.waiter = nil
                    let isReady = state.byteCount > offset || state.isEnded || state.isAbandoned
                    if !isReady { state.waiter = continuation }
                    return (previous, isReady)
                }
                previous?.resume()
                if isReady { continuation.resume() }
            }
        } onCancel: {
            abandon()
        }
        return state.withLock { ($0.byteCount, $0.isEnded, $0.isAbandoned) }
    }
}
