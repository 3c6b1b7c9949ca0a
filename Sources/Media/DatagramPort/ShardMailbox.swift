import CLinuxUDP
import Transport

/// Takes messages from every thread for one. Posting costs a short lock, and a system call only for the first message
/// since the thread last looked.
final class ShardMailbox<Message: Sendable>: Sendable {
    private struct State {
        var messages: [Message] = []
        var isClosed = false
    }

    let descriptor: Int32
    private let state = Locked(State())

    init() throws(SystemCallError) {
        descriptor = try SystemCallError.check(linux_eventfd_create(), "eventfd", "cannot make a thread's mailbox")
    }

    deinit {
        linux_close(descriptor)
    }

    /// False when the mailbox is closed and the message was thrown away.
    func post(_ message: Message) -> Bool {
        let (isOpen, isFirst) = state.withLock { state in
            if state.isClosed { return (false, false) }
            state.messages.append(message)
            return (true, state.messages.count == 1)
        }
        if isFirst { wake() }
        return isOpen
    }

    /// Lets the thread look, even at an empty mailbox.
    func wake() {
        // It fails only when the counter is full, and then the thread is awake already.
        _ = linux_eventfd_signal(descriptor)
    }

    /// Swaps the waiting messages with `messages`, which should be empty: both arrays keep their memory.
    func take(into messages: inout [Message]) {
        state.withLock { state in swap(&state.messages, &messages) }
    }

    /// Refuses further messages and answers the waiting ones.
    func close() -> [Message] {
        state.withLock { state in
            state.isClosed = true
            let messages = state.messages
            state.messages = []
            return messages
        }
    }

    /// How many messages wait.
    var count: Int { state.withLock { $0.messages.count } }
}
