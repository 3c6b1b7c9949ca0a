/// Who talks to each camera. A camera has one speaker, so one session holds its floor and everybody else hears "busy".
struct TalkbackFloor {
    private var holders: [String: String] = [:]

    /// The session that holds the floor of `deviceID`.
    func holder(of deviceID: String) -> String? { holders[deviceID] }

    /// Whether `sessionID` holds any floor.
    func isTalking(_ sessionID: String) -> Bool { holders.values.contains(sessionID) }

    /// Takes the floor. Taking what one already holds is no error.
    mutating func take(deviceID: String, sessionID: String) throws(SignallingError) {
        if let holder = holders[deviceID], holder != sessionID {
            throw .talkbackBusy("somebody else is talking to \(deviceID); try again when they have finished")
        }
        holders[deviceID] = sessionID
    }

    /// Gives back what `sessionID` holds. Answers the device whose floor is free now.
    mutating func release(sessionID: String) -> String? {
        guard let deviceID = holders.first(where: { $0.value == sessionID })?.key else { return nil }
        holders[deviceID] = nil
        return deviceID
    }
}
