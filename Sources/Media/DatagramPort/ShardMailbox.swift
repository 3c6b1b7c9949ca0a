import CLinuxUDP
import Synchronization
import Transport

/// Passes messages from any thread to one thread. A post costs a short lock. Only the first message since the thread
/// last checked costs a system call.
final class ShardMailbox<Message: Sendable>: Sendable {
    private struct State {
        var messages: [Message] = []
        var isClosed = false
    }

    let descriptor: Int32
    private let state = Locked(State())
    /// Whether messages wait: the thread looks here with each wake-up, and few wake-ups are for a message.
    private let holdsMessages = Atomic(false)

    init() throws(SystemCallError) {
        descriptor = try SystemCallError.check(linux_eventfd_create(), "eventfd", "cannot make a thread's mailbox")
    }

    deinit {
        linux_close(descriptor)
    }

    /// Returns false when the mailbox is closed and the message was dropped.
    func post(_ message: Message) -> Bool {
        let (isOpen, isFirst) = state.withLock { state in
            if state.isClosed { return (false, false) }
            state.messages.append(message)
            holdsMessages.store(true, ordering: .releasing)
            return (true, state.messages.count == 1)
        }
        if isFirst { wake() }
        return isOpen
    }

    /// Makes the thread check the mailbox, even an empty one.
    func wake() {
        // It fails only when the counter is full. The thread is awake then.
        _ = linux_eventfd_signal(descriptor)
    }

    /// Whether there is something to ``take(into:)``.
    var isEmpty: Bool { !holdsMessages.load(ordering: .acquiring) }

    /// Swaps the waiting messages with `messages`, which should be empty: both arrays keep their memory.
    func take(into messages: inout [Message]) {
        state.withLock { state in
            swap(&state.messages, &messages)
            holdsMessages.store(!state.messages.isEmpty, ordering: .relaxed)
        }
    }

    /// Refuses further messages and returns the waiting ones.
    func close() -> [Message] {
        state.withLock { state in
            state.isClosed = true
            let messages = state.messages
            state.messages = []
            holdsMessages.store(false, ordering: .relaxed)
            return messages
        }
    }

    /// The number of waiting messages.
    var count: Int { state.withLock { $0.messages.count } }
}
