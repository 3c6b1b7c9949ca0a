/// A place in a change log, as clients hold it. To them it is an opaque string.
///
/// It names the log, so that a place in the log of another gateway, or in a log that was replaced, is recognized. It
/// also names the run of the gateway: if a power cut removed an entry that a reader had received, the next run uses the
/// same number for another entry. For a reader of a part of the home, it also says what that reader could read.
public struct LogCursor: Hashable, Sendable {
    /// The log.
    public var log: String
    /// The run of the gateway.
    public var incarnation: Int64
    /// The number of the last entry that was read.
    public var sequence: Int64
    /// What its reader could read (``AccessMark``); empty if that was the whole home.
    public var mark: String

    /// The maximum length of a cursor, in bytes. The longest that is made has 73.
    public static let maximumLength = 80

    init(log: String, incarnation: Int64, sequence: Int64, mark: String = AccessMark.wholeHome) {
        self.log = log
        self.incarnation = incarnation
        self.sequence = sequence
        self.mark = mark
    }

    /// Reads a cursor; nil for a text that is not a cursor of a log.
    init?(_ text: String) {
        guard text.utf8.count <= Self.maximumLength else { return nil }
        let parts = text.split(separator: "-", omittingEmptySubsequences: false)
        guard (3...4).contains(parts.count), !parts[0].isEmpty, parts.last?.isEmpty == false,
            let incarnation = Int64(parts[1]), incarnation >= 0, let sequence = Int64(parts[2]), sequence >= 0
        else { return nil }
        self.init(
            log: String(parts[0]), incarnation: incarnation, sequence: sequence,
            mark: parts.count == 4 ? String(parts[3]) : AccessMark.wholeHome)
    }

    /// The cursor as clients hold it.
    public var text: String { Self.adding(mark, to: "\(log)-\(incarnation)-\(sequence)") }

    /// The same place for a reader that may read something else.
    func marked(_ mark: String) -> LogCursor {
        LogCursor(log: log, incarnation: incarnation, sequence: sequence, mark: mark)
    }

    /// Adds a mark to the text of a cursor that has none.
    static func adding(_ mark: String, to text: String) -> String { mark.isEmpty ? text : "\(text)-\(mark)" }
}
