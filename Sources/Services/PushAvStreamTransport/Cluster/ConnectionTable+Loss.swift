import HomeTypes

/// Tables that cannot be read: what takes their place, and how they come back.
extension ConnectionTable {
    /// The numbers of connections that are made while earlier ones cannot be read. Those of a camera begin with 1, and none
    /// comes back before all others were used, so the earlier ones have lower numbers.
    static let numbersAfterLoss: UInt16 = 30_001

    /// What takes the place of a table that cannot be read: the camera's own connection, switched off, because the camera may
    /// have been off or private. Connections and sessions that follow get numbers that the earlier ones do not have, so that
    /// no footage is mistaken for somebody else's, and no upload replaces an older one.
    /// - Parameter now: milliseconds since 1970, UTC.
    public static func replacement(at now: Int64) -> ConnectionTable {
        var table = ConnectionTable().switchedOff
        table.nextID = numbersAfterLoss
        table.sessionNumbers["lost"] = UInt64(max(0, now) / 1_000)
        return table
    }

    /// Whether a number may be that of a connection in a table that was replaced. The camera's own connection is in both.
    public static func mayBeLost(_ connection: UInt16) -> Bool { (2..<numbersAfterLoss).contains(connection) }

    /// Takes back what could not be read for a while: the connections, and the options of the camera's own one unless somebody
    /// has changed them meanwhile. What one of the two tables refuses is refused, and a camera that is off stays off.
    public mutating func takeBack(_ earlier: ConnectionTable) {
        let isOn = self.isOn
        for var connection in earlier.connections where self.connection(connection.id) == nil {
            if !isOn {
                connection.isSuspended = connection.isSuspended || connection.status == .active
                connection.status = .inactive
            }
            connections.append(connection)
        }
        if let own = connections.firstIndex(where: \.isPermanent), connections[own].options == wanted.options,
            let before = earlier.connections.first(where: \.isPermanent)
        {
            connections[own].options = before.options
            wanted = earlier.wanted
        }
        // The camera may not have described itself meanwhile.
        if streams == AllocatedStreams() { streams = earlier.streams }
        // What the camera itself reports is what it is now.
        privacy.softRecording = privacy.softRecording || earlier.privacy.softRecording
        privacy.softLivestream = privacy.softLivestream || earlier.privacy.softLivestream
        privacy.microphoneMuted = privacy.microphoneMuted || earlier.privacy.microphoneMuted
        privacy.recordingMicrophoneMuted = privacy.recordingMicrophoneMuted || earlier.privacy.recordingMicrophoneMuted
        usagePriorities = usagePriorities.filter { earlier.usagePriorities.contains($0) }
        sessionNumbers.merge(earlier.sessionNumbers) { max($0, $1) }
    }
}
