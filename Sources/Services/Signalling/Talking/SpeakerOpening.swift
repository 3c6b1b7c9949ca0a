import Cameras
import Transport

/// The wait for a camera's speaker to open. The first answer counts, no matter where it comes from.
///
/// A speaker that is ready answers during the call, and then nobody waits.
final class SpeakerOpening: Sendable {
    private struct State {
        var answer: SpeakerState?
        var waiter: CheckedContinuation<SpeakerState, Never>?
    }

    private let state = Locked(State())

    /// Records an answer.
    /// - Returns: whether it is the first one.
    func answer(_ answer: SpeakerState) -> Bool {
        let (isFirst, waiter) = state.withLock { state in
            guard state.answer == nil else {
                return (false, nil as CheckedContinuation<SpeakerState, Never>?)
            }
            state.answer = answer
            return (true, state.waiter.take())
        }
        waiter?.resume(returning: answer)
        return isFirst
    }

    /// Waits for the first answer. One waiter at a time.
    func wait() async -> SpeakerState {
        if let known = state.withLock({ $0.answer }) { return known }
        return await withCheckedContinuation { continuation in
            let known = state.withLock { state in
                if state.answer == nil { state.waiter = continuation }
                return state.answer
            }
            if let known { continuation.resume(returning: known) }
        }
    }
}
