import HomeTypes

/// A device that has moved to another structure. Only a reader that sees just the structure that it left gets a report
/// that the device is gone.
struct DeviceDeparture: Hashable, Sendable {
    /// The device.
    var deviceID: String
    /// The structure that it left.
    var structureID: String

    init(deviceID: String, structureID: String) {
        self.deviceID = deviceID
        self.structureID = structureID
    }

    private static let kind = "departure"

    /// Whether a subject is that of a departure.
    static func isOne(_ subject: String) -> Bool { subject.hasPrefix(kind + "/") }

    /// Reads the subject of an entry of the change log; nil for one of another kind.
    init?(subject: String) {
        let parts = subject.split(separator: "/", maxSplits: 2).map(String.init)
        guard parts.count == 3, parts[0] == Self.kind else { return nil }
        self.init(deviceID: parts[2], structureID: parts[1])
    }

    /// The entry for the log. It does not leave a state: the device still exists.
    var entry: HomeChange.Encoded {
        var entry = HomeChange.deviceRemoved(deviceID: deviceID).encoded()
        entry.subject = "\(Self.kind)/\(structureID)/\(deviceID)"
        entry.effect = nil
        return entry
    }

    /// Whether a principal hears of it.
    func concerns(_ access: Access, in directory: HomeDirectory) -> Bool {
        access.permits(.read, .structure(structureID)) && !access.permits(.read, directory.device(deviceID))
    }
}
