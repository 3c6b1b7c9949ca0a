/// A value that one thread at a time may touch, as with ``Locked``, and that tasks can wait for.
///
/// A task waits until the value meets a condition, until its patience is over, or until it is cancelled. Whichever
/// comes first resumes it, once. Nothing of its wait is left then.
public final class Awaitable<Value: Sendable>: Sendable {
    /// A task that is suspended.
    private struct Wait: Sendable {
        let isMet: @Sendable (Value) -> Bool
        let continuation: CheckedContinuation<Bool, Never>
    }

    private struct State: Sendable {
        var value: Value
        var waits: [UInt64: Wait] = [:]
        var nextNumber: UInt64 = 0

        /// Removes the waits whose conditions the value meets.
        mutating func takeMet() -> [CheckedContinuation<Bool, Never>] {
            guard !waits.isEmpty else { return [] }
            let met = waits.filter { $0.value.isMet(value) }
            for number in met.keys { waits[number] = nil }
            return met.values.map(\.continuation)
        }
    }

    private let state: Locked<State>

    /// Makes one that holds `value`.
    public init(_ value: Value) {
        state = Locked(State(value: value))
    }

    /// How many tasks are suspended until the value meets their conditions.
    public var waitCount: Int { state.withLock { $0.waits.count } }

    /// Runs `body` while no other thread can touch the value, then resumes the tasks whose conditions are met. `body`
    /// must not lock the same value again.
    public func withLock<Result: Sendable>(_ body: (inout Value) -> Result) -> Result {
        let (result, met) = state.withLock { state -> (Result, [CheckedContinuation<Bool, Never>]) in
            let result = body(&state.value)
            return (result, state.takeMet())
        }
        for continuation in met { continuation.resume(returning: true) }
        return result
    }

    /// Waits until the value meets a condition, at most `patience`, and no longer than until the task is cancelled.
    /// - Parameter isMet: the condition. It is checked at the beginning and after each ``withLock(_:)``, before another
    ///   thread can touch the value. It must be quick, and must not lock the same value again.
    /// - Returns: whether the condition was met, even if the value has changed again since.
    @discardableResult
    public func wait(atMost patience: Duration, until isMet: @escaping @Sendable (Value) -> Bool) async -> Bool {
        let number = state.withLock { state in
            defer { state.nextNumber += 1 }
            return state.nextNumber
        }
        return await withTaskCancellationHandler {
            await suspend(number, atMost: patience, until: isMet)
        } onCancel: {
            giveUp(number)
        }
    }

    private func suspend(
        _ number: UInt64, atMost patience: Duration, until isMet: @escaping @Sendable (Value) -> Bool
    ) async -> Bool {
        var timer: Task<Void, Never>?
        defer { timer?.cancel() }
        return await withCheckedContinuation { continuation in
            let known = state.withLock { state -> Bool? in
                if isMet(state.value) { return true }
                // A cancellation before this has found no wait. One that comes later finds it.
                if patience <= .zero || Task.isCancelled { return false }
                state.waits[number] = Wait(isMet: isMet, continuation: continuation)
                return nil
            }
            if let known { return continuation.resume(returning: known) }
            // The timer starts only now. One that ended before would find no wait, and the wait would never end.
            timer = Task {
                // A sleep that is cancelled means that the wait is over.
                try? await Task.sleep(for: patience)
                giveUp(number)
            }
        }
    }

    private func giveUp(_ number: UInt64) {
        state.withLock { $0.waits.removeValue(forKey: number) }?.continuation.resume(returning: false)
    }
}
