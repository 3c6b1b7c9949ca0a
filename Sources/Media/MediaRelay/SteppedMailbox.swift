import Transport

/// The messages and wake-ups that wait for a shard without a thread.
final class SteppedMailbox: Sendable {
    private struct State {
        var messages: [ShardMessage] = []
        var isAwake = false
    }

    private let state = Locked(State())

    /// The way to the shard for the others.
    var link: ShardLinks.Link {
        ShardLinks.Link(
            post: { [state] message in
                state.withLock { $0.messages.append(message) }
                return true
            },
            wake: { [state] in state.withLock { $0.isAwake = true } })
    }

    /// Whether nothing waits.
    var isIdle: Bool { state.withLock { $0.messages.isEmpty && !$0.isAwake } }

    /// Removes all messages and returns them.
    func takeMessages() -> [ShardMessage] {
        state.withLock { state in
            defer { state.messages = [] }
            return state.messages
        }
    }

    /// The shard takes its turn now.
    func rest() { state.withLock { $0.isAwake = false } }
}
