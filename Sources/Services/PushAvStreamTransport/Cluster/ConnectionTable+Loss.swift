import HomeTypes

/// Tables that cannot be read: what takes their place, and how they come back.
extension ConnectionTable {
    /// The lowest number of a connection that is made while earlier ones cannot be read. A camera's numbers begin with
    /// 1, and none is used again before all others were used, so the earlier connections have lower numbers.
    static let numbersAfterLoss: UInt16 = 30_001
    /// How many connections a camera can make between two losses without using a number again, when
    /// ``ConnectionNumbers`` are lost as well.
    private static let numbersOfOneLoss: UInt16 = 5_000

    /// The first number of new connections when all that is known of the earlier ones is how often they were lost.
    /// - Parameter losses: how many earlier tables of the camera are set aside.
    public static func number(afterLosses losses: Int) -> UInt16 {
        numbersAfterLoss + UInt16(min(max(losses, 0), 6)) * numbersOfOneLoss
    }

    /// What takes the place of a table that cannot be read: the camera's own connection, switched off, because the camera may
    /// have been off or private. Connections and sessions that follow get numbers that the earlier ones do not have, so that
    /// no footage is mistaken for somebody else's, and no upload replaces an older one.
    /// - Parameters:
    ///   - now: milliseconds since 1970, UTC.
    ///   - next: the lowest number such that neither it nor a higher one has been given out.
    public static func replacement(
        at now: Int64, next: UInt16 = ConnectionTable.number(afterLosses: 0)
    ) -> ConnectionTable {
        var table = ConnectionTable().switchedOff
        table.follow(max(next, numbersAfterLoss), at: now)
        table.firstAfterLoss = table.nextID
        return table
    }

    /// Continues after an earlier table of the camera, of which only the next number is known.
    /// - Parameters:
    ///   - next: the number that its next connection would have got.
    ///   - now: milliseconds since 1970, UTC. Sessions get higher numbers than any before.
    mutating func follow(_ next: UInt16, at now: Int64) {
        skipNumbers(before: next)
        sessionNumbers["lost"] = UInt64(max(0, now) / 1_000)
    }

    /// Gives out no number below this one: an earlier connection may have it.
    public mutating func skipNumbers(before next: UInt16) { nextID = max(nextID, next) }

    /// Whether a connection with this number may have been in the table that this one replaced. The camera's own
    /// connection is in both.
    public func mayHaveLost(_ connection: UInt16) -> Bool {
        connection >= 2 && connection < firstAfterLoss ?? Self.numbersAfterLoss
    }

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
        skipNumbers(before: earlier.nextID)
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
