/// Where messages for a ``ShardThread`` are posted. It can be made before the thread, so that the threads of a group can
/// know each other, and it does not keep the thread alive.
public struct ShardAddress<Handler: ShardHandler>: Sendable {
    let mailbox: ShardMailbox<ShardThread<Handler>.Message>

    /// Makes the address of a thread that is still to be started.
    public init() throws(SystemCallError) {
        mailbox = try ShardMailbox()
    }

    /// Runs `message` on the thread, after those that were posted before it.
    /// - Returns: False when the thread has been stopped; the message is dropped then.
    @discardableResult
    public func post(_ message: @escaping ShardThread<Handler>.Message) -> Bool {
        mailbox.post(message)
    }

    /// Lets the thread take a turn. It costs a system call.
    public func wake() {
        mailbox.wake()
    }
}
