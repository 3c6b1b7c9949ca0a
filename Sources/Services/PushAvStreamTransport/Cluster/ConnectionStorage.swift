/// Keeps the connections of the cameras. What a command has changed is kept before the command is answered.
public protocol ConnectionStorage: Sendable {
    /// All that is kept, by the devices' minted ids. It may wait for the disk.
    func load() throws(RecordingFault) -> [String: ConnectionTable]

    /// Keeps one camera's connections. When it returns, they survive the end of the process.
    func save(_ table: ConnectionTable, of device: String) throws(RecordingFault)

    /// Forgets a camera that has been removed.
    func remove(_ device: String) throws(RecordingFault)
}

/// Keeps nothing beyond the process: for tests, and for a gateway whose store cannot be used.
public struct ForgetfulConnectionStorage: ConnectionStorage {
    /// Makes it.
    public init() {}

    public func load() -> [String: ConnectionTable] { [:] }
    public func save(_ table: ConnectionTable, of device: String) {}
    public func remove(_ device: String) {}
}
