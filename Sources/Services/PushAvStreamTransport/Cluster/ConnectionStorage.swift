/// Keeps the connections of the cameras. What a command has changed is kept before the command is answered.
public protocol ConnectionStorage: Sendable {
    /// All that is kept, by the devices' minted ids. It may wait for the disk.
    func load() throws(RecordingFault) -> [String: ConnectionTable]

    /// Keeps one camera's connections. When it returns, they survive the end of the process.
    func save(_ table: ConnectionTable, of device: String) throws(RecordingFault)

    /// Forgets a camera that has been removed.
    func remove(_ device: String) throws(RecordingFault)

    /// The number that the next connection of a camera without a kept table gets; nil when nothing is known of the
    /// camera.
    func nextNumber(of device: String) -> UInt16?
}

extension ConnectionStorage {
    public func nextNumber(of device: String) -> UInt16? { nil }

    /// Keeps the number that the next connection of a camera gets, if a connection was made. It is written before the
    /// table: a number that is on the disk without its connection is only skipped.
    public func keepNumber(
        _ table: ConnectionTable, of device: String, in numbers: ConnectionNumbers?
    ) throws(RecordingFault) {
        guard let numbers, table.nextID != numbers.nextWithoutTable(of: device) ?? ConnectionTable().nextID else {
            return
        }
        try numbers.keep(table.nextID, of: device)
    }
}

/// Keeps only the numbers of connections beyond the process, because recordings outlive the connections: for tests, and
/// for a gateway whose store cannot be used.
public struct ForgetfulConnectionStorage: ConnectionStorage {
    private let numbers: ConnectionNumbers?

    /// Makes it.
    /// - Parameter numbers: the numbers that were given out; nil to begin with none, and to keep none.
    public init(numbers: ConnectionNumbers? = nil) {
        self.numbers = numbers
    }

    public func load() -> [String: ConnectionTable] { [:] }
    public func save(_ table: ConnectionTable, of device: String) throws(RecordingFault) {
        try keepNumber(table, of: device, in: numbers)
    }
    public func remove(_ device: String) {}
    public func nextNumber(of device: String) -> UInt16? { numbers?.nextWithoutTable(of: device) }
}
