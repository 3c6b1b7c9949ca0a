import Foundation

/// Why a store failed.
public struct StoreFailure: Error, Sendable, Equatable, CustomStringConvertible {
    /// The file.
    public var path: String
    /// What is wrong, and what to do about it.
    public var reason: String

    /// Describes a failure.
    public init(path: String, reason: String) {
        self.path = path
        self.reason = reason
    }

    public var description: String { "\(path): \(reason)" }
}

/// How long the log keeps its entries.
///
/// While the entries take less than ``bytes``, each is kept for its time. When they take more, the oldest changes of
/// state go first, and the oldest events only when no change of state is left. At least fifteen sixteenths of the space
/// stay in use, so a reader that returns misses nothing if the changes in the meantime fit into that.
public struct LogRetention: Sendable, Hashable {
    /// How long changes of state are kept, in seconds. A reader that returns later gets the whole state again.
    public var stateSeconds: Double = 7 * 86_400
    /// How long events are kept, in seconds.
    public var eventSeconds: Double = 365 * 86_400
    /// How many bytes all entries may take. Without another setting, an hour with 50 changes a second of devices of the usual
    /// size (1.2 KiB) fits.
    public var bytes = 256 << 20

    /// The usual retention.
    public init() {}
}

/// What a gateway knows of its own log when it starts.
public struct LogIdentity: Sendable, Hashable {
    /// Names the log. A log that replaces a damaged one has another name.
    public var log: String
    /// Names the gateway.
    public var gateway: String
    /// Counts the starts of the gateway on this log, from 1.
    public var incarnation: Int64

    /// Describes a log.
    public init(log: String, gateway: String, incarnation: Int64) {
        self.log = log
        self.gateway = gateway
        self.incarnation = incarnation
    }
}

/// What belongs to one gateway: its change log and the state that the log leaves behind. No query joins it with
/// ``SharedStore``.
///
/// All methods block until the disk has responded; callers use a separate thread.
public protocol LocalStore: Sendable {
    /// The identity of the log, with the number of this run.
    var identity: LogIdentity { get }

    /// The number of the newest entry; 0 for an empty log.
    func lastSequence() throws(StoreFailure) -> Int64

    /// Adds entries, all or none. An entry whose number already exists is left as it is.
    func append(_ entries: [LogEntry]) throws(StoreFailure)

    /// The entries after a number, oldest first.
    func entries(after sequence: Int64, limit: Int) throws(StoreFailure) -> [LogEntry]

    /// Whether every change of state after this place is in the log.
    func isComplete(after sequence: Int64, incarnation: Int64) throws(StoreFailure) -> Bool

    /// The events of one subject, newest first.
    func events(
        of subject: String, since: Date?, after sequence: Int64?, limit: Int
    ) throws(StoreFailure) -> [LogEntry]

    /// The entries that are the current state of their subjects, oldest first.
    func state() throws(StoreFailure) -> [LogEntry]

    /// The results of commands since a time. Older ones are forgotten.
    func results(since: Date) throws(StoreFailure) -> [KeptResult]

    /// Keeps the result of a command, and replaces what was known about it.
    func keep(_ result: KeptResult) throws(StoreFailure)

    /// Forgets a command, which had no effect.
    func forget(_ result: KeptResult) throws(StoreFailure)
}
