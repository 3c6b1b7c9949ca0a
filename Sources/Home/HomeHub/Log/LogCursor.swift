/// A place in a change log, as clients hold it. To them it is an opaque string.
///
/// It names the log, so that a place in the log of another gateway, or in a log that was replaced, is recognized. It
/// also names the run of the gateway: if a power cut removed an entry that a reader had received, the next run uses the
/// same number for another entry.
public struct LogCursor: Hashable, Sendable {
    /// The log.
    public var log: String
    /// The run of the gateway.
    public var incarnation: Int64
    /// The number of the last entry that was read.
    public var sequence: Int64

    init(log: String, incarnation: Int64, sequence: Int64) {
        self.log = log
        self.incarnation = incarnation
        self.sequence = sequence
    }

    /// Reads a cursor; nil for a text that is not a cursor of a log.
    init?(_ text: String) {
        guard text.utf8.count <= 64 else { return nil }
        let parts = text.split(separator: "-", omittingEmptySubsequences: false)
        guard parts.count == 3, !parts[0].isEmpty, let incarnation = Int64(parts[1]), incarnation >= 0,
            let sequence = Int64(parts[2]), sequence >= 0
        else { return nil }
        self.init(log: String(parts[0]), incarnation: incarnation, sequence: sequence)
    }

    /// The cursor as clients hold it.
    public var text: String { "\(log)-\(incarnation)-\(sequence)" }
}
