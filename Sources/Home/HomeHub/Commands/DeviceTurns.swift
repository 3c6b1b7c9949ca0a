import HomeTypes

/// Which commands and writes wait for their turn at each device.
///
/// A backend changes its device while the hub may do something else, and the hub adopts the outcome afterwards. If two
/// commands to one device ran at once, their outcomes could arrive in a different order from the one in which the
/// device applied them, and the home would show an old state until the next change.
struct DeviceTurns {
    /// Those that wait, oldest first, by device. A device without an entry is free.
    private var waiting: [String: [CheckedContinuation<Void, Never>]] = [:]

    /// Takes the device if it is free.
    mutating func take(_ deviceID: String) -> Bool {
        guard waiting[deviceID] == nil else { return false }
        waiting[deviceID] = []
        return true
    }

    /// Waits for its turn. The continuation resumes when it is its holder's turn.
    mutating func wait(for deviceID: String, _ continuation: CheckedContinuation<Void, Never>) {
        waiting[deviceID, default: []].append(continuation)
    }

    /// Hands the device to the next in line, or frees it.
    mutating func end(_ deviceID: String) {
        guard var line = waiting[deviceID], !line.isEmpty else { return waiting[deviceID] = nil }
        let next = line.removeFirst()
        waiting[deviceID] = line
        next.resume()
    }
}

extension HomeHub {
    /// Makes a backend apply something and adopts the outcome, one at a time for each device.
    /// - Parameters:
    ///   - check: throws if it must no longer be applied after the others had their turns.
    ///   - apply: hands it to the backend.
    func inTurn(
        at deviceID: String, check: () throws(HomeError) -> Void,
        _ apply: (any DeviceBackend) async throws(HomeError) -> CommandOutcome
    ) async throws(HomeError) -> CommandOutcome {
        await takeTurn(at: deviceID)
        defer { turns.end(deviceID) }
        try check()
        // The device may have left, or have another backend, since the caller looked.
        guard let backend = try state(of: deviceID).backend else {
            throw HomeError.unavailable("device \(deviceID) is not connected")
        }
        let outcome = try await apply(backend)
        for update in outcome.updates { self.apply(update, deviceID: deviceID) }
        return outcome
    }

    /// Waits until no other command or write of the device is being applied. The caller must then return the turn to
    /// ``turns``.
    func takeTurn(at deviceID: String) async {
        if !turns.take(deviceID) {
            await withCheckedContinuation { turns.wait(for: deviceID, $0) }
        }
    }
}
