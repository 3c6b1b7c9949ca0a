import HomeTypes
import Transport

/// What the disk has to take, and what follows when it does not.
extension TransportService {
    /// A camera whose connections the disk did not take.
    struct Unkept: Sendable {
        var attempts = 0
        /// When they are written again.
        var retryAt: Instant
    }

    /// The shortest and the longest wait until connections are written again.
    static let retries = Duration.seconds(1)...Duration.seconds(60)

    /// Keeps a table on the disk.
    /// - Throws: `notKept`. What is in force is written again after a while, so that its alarm ends.
    func keep(_ table: ConnectionTable, of device: String) throws(TransportFault) {
        do throws(RecordingFault) {
            try storage.save(table, of: device)
            recordKept(device)
        } catch {
            recordUnkept(device, error)
            throw TransportFault.notKept(error)
        }
    }

    /// Puts a table in force that nobody can refuse, because it says what has happened. A disk that does not take it gets it
    /// again later.
    func adopt(_ table: ConnectionTable, of device: String) {
        state.withLock { $0.cameras[device]?.table = table }
        do throws(RecordingFault) {
            try storage.save(table, of: device)
            recordKept(device)
        } catch {
            recordUnkept(device, error)
        }
    }

    /// Writes what is due.
    func retryKeeping(at now: Instant) {
        let due = state.withLock { state in
            state.unkept.filter { $0.value.retryAt <= now }.keys.sorted().map { ($0, state.cameras[$0]?.table) }
        }
        for (device, table) in due {
            // A camera that was forgotten needs nothing.
            if let table { adopt(table, of: device) } else { recordKept(device) }
        }
    }

    private func recordUnkept(_ device: String, _ fault: RecordingFault) {
        let now = clocks.now()
        let isNews = state.withLock { state in
            var unkept = state.unkept[device] ?? Unkept(retryAt: now)
            let isNews = unkept.attempts == 0
            // A command may come before its time. It does not delay what is due.
            if unkept.retryAt <= now {
                let doubled = Self.retries.lowerBound * (1 << min(unkept.attempts, 10))
                unkept.retryAt = now + min(doubled, Self.retries.upperBound)
                unkept.attempts += 1
            }
            state.unkept[device] = unkept
            return isNews
        }
        if isNews { report(.notKept(device: device, fault)) }
        arm()
    }

    private func recordKept(_ device: String) {
        if state.withLock({ $0.unkept.removeValue(forKey: device) }) != nil { report(.kept(device: device)) }
    }
}
