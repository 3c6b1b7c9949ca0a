/// A place in a change log, as clients hold it. To them it is an opaque string.
///
/// It names the log, so that a place in the log of another gateway, or in a log that was replaced, is recognized. It
/// also names the run of the gateway: if a power cut removed an entry that a reader had received, the next run uses the
/// same number for another entry. For a reader of a part of the home, it also says what that reader could read. For a reader
/// that got a state and has not read every entry before it yet, it also says which entries that state contains.
public struct LogCursor: Hashable, Sendable {
    /// The log.
    public var log: String
    /// The run of the gateway.
    public var incarnation: Int64
    /// The number of the last entry that was read.
    public var sequence: Int64
    /// What its reader could read (``AccessMark``); empty if that was the whole home.
    public var mark: String
    /// The number of the last entry whose effect is in the state that its reader has; 0 if the reader is past that entry.
    public let state: Int64

    /// The maximum length of a cursor, in bytes. The longest cursor that is made has 93.
    public static let maximumLength = 96

    init(
        log: String, incarnation: Int64, sequence: Int64, mark: String = AccessMark.wholeHome, state: Int64 = 0
    ) {
        self.log = log
        self.incarnation = incarnation
        self.sequence = sequence
        self.mark = mark
        self.state = state > sequence ? state : 0
    }

    /// Reads a cursor; nil for a text that is not a cursor of a log.
    init?(_ text: String) {
        guard text.utf8.count <= Self.maximumLength else { return nil }
        let parts = text.split(separator: "-", omittingEmptySubsequences: false)
        // The mark may be empty only before a state, for a reader of the whole home.
        guard (3...5).contains(parts.count), !parts[0].isEmpty, parts.last?.isEmpty == false,
            let incarnation = Int64(parts[1]), incarnation >= 0, let sequence = Int64(parts[2]), sequence >= 0,
            let state = Int64(parts.count == 5 ? parts[4] : "0"), state >= 0
        else { return nil }
        self.init(
            log: String(parts[0]), incarnation: incarnation, sequence: sequence,
            mark: parts.count > 3 ? String(parts[3]) : AccessMark.wholeHome, state: state)
    }

    /// The cursor as clients hold it.
    public var text: String { Self.adding(mark, state: state, to: "\(log)-\(incarnation)-\(sequence)") }

    /// The same place for a reader that may read something else, and that has the state after the entry `state`.
    func marked(_ mark: String, state: Int64) -> LogCursor {
        LogCursor(log: log, incarnation: incarnation, sequence: sequence, mark: mark, state: state)
    }

    /// Adds a mark, and the number of a state that is still ahead (0 for none), to the text of a cursor that has neither.
    static func adding(_ mark: String, state: Int64, to text: String) -> String {
        if state > 0 { return "\(text)-\(mark)-\(state)" }
        return mark.isEmpty ? text : "\(text)-\(mark)"
    }
}
