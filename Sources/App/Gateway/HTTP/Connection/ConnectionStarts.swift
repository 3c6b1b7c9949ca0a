import Transport

/// The connections that a listener has handed on and whose task has not begun yet. As long as there are several, more of
/// them would only stand in the row for the processor, the owner's behind a flood's.
final class ConnectionStarts: Sendable {
    /// How many of one listener may be starting at once.
    static let atOnce = 2

    private let begun = Locked<[ObjectIdentifier: @Sendable () -> Void]>([:])

    /// Notes that a connection was handed on. `whenStarted` is called once, on any thread.
    func begin(_ connection: AnyObject, whenStarted: @escaping @Sendable () -> Void) {
        self.begun.withLock { $0[ObjectIdentifier(connection)] = whenStarted }
    }

    /// The connection's task has begun, or there will be none. Without effect from the second time on.
    func end(_ connection: AnyObject) {
        self.begun.withLock { $0.removeValue(forKey: ObjectIdentifier(connection)) }?()
    }
}
