import Transport

/// Limits how many JPEG images are made at once, for all cameras. Each takes a thread, a scaled picture and its image.
public final class ImageWork: Sendable {
    /// The one of this process.
    public static let shared = ImageWork(limit: 2)

    private struct State {
        var running = 0
        var most = 0
        var waiting: [CheckedContinuation<Void, Never>] = []
    }

    private let limit: Int
    private let state = Locked(State())

    init(limit: Int) {
        self.limit = limit
    }

    /// The most that were made at once.
    var most: Int { state.withLock { $0.most } }

    /// Waits until one more may be made. A call of ``end()`` must follow. The callers limit how many may wait.
    public func begin() async {
        await withCheckedContinuation { continuation in
            let isReady = state.withLock { state in
                guard state.running < limit else {
                    state.waiting.append(continuation)
                    return false
                }
                state.running += 1
                state.most = max(state.most, state.running)
                return true
            }
            if isReady { continuation.resume() }
        }
    }

    /// Runs `body` on a separate thread: decoding would occupy the threads that all tasks share for too long.
    public static func onThread<Value: Sendable>(_ body: @escaping @Sendable () -> Value) async -> Value {
        await onWorkerThread(body)
    }

    /// Records that an image was made.
    public func end() {
        let next = state.withLock { state -> CheckedContinuation<Void, Never>? in
            guard state.waiting.isEmpty else { return state.waiting.removeFirst() }
            state.running -= 1
            return nil
        }
        next?.resume()
    }
}
