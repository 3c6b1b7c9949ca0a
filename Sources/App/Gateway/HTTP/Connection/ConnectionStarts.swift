import Transport

/// The connections that a listener has handed to the server and whose task has not begun yet. More of them at once
/// would only wait for the processor, and the owner's would wait behind those of a flood.
final class ConnectionStarts: Sendable {
    /// How many connections of one listener may be starting at once.
    static let atOnce = 2

    private let begun = Locked<[ObjectIdentifier: @Sendable () -> Void]>([:])

    /// Records that a connection was handed to the server. `whenStarted` is called once, on any thread.
    func begin(_ connection: AnyObject, whenStarted: @escaping @Sendable () -> Void) {
        begun.withLock { $0[ObjectIdentifier(connection)] = whenStarted }
    }

    /// Records that the connection's task has begun, or that there will be none. A second call has no effect.
    func end(_ connection: AnyObject) {
        begun.withLock { $0.removeValue(forKey: ObjectIdentifier(connection)) }?()
    }
}
