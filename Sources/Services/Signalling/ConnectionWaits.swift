import Transport

/// The tasks that wait for a session's media to flow. Each is resumed once, when it is removed. Pure: the caller passes the
/// time in.
struct ConnectionWaits {
    /// A task that waits.
    private struct Wait {
        let sessionID: String
        let deadline: Instant
        let continuation: CheckedContinuation<Void, Never>
    }

    private var waits: [UInt64: Wait] = [:]
    private var nextNumber: UInt64 = 0

    /// How many tasks wait.
    var count: Int { waits.count }

    /// When the next wait is over at the latest.
    var nextDeadline: Instant? { waits.values.map(\.deadline).min() }

    /// A number for a new wait.
    mutating func takeNumber() -> UInt64 {
        defer { nextNumber += 1 }
        return nextNumber
    }

    /// Lets `continuation` wait for a session.
    mutating func add(
        _ number: UInt64, for sessionID: String, until deadline: Instant,
        _ continuation: CheckedContinuation<Void, Never>
    ) {
        waits[number] = Wait(sessionID: sessionID, deadline: deadline, continuation: continuation)
    }

    /// Resumes the task with this number. It has no effect on a wait that is over.
    mutating func resume(_ number: UInt64) {
        waits.removeValue(forKey: number)?.continuation.resume()
    }

    /// Resumes the tasks that wait for a session.
    mutating func resume(for sessionID: String) {
        for number in waits.keys where waits[number]?.sessionID == sessionID { resume(number) }
    }

    /// Resumes the tasks whose deadline has passed.
    mutating func expire(at now: Instant) {
        for (number, wait) in waits where wait.deadline <= now { resume(number) }
    }
}
