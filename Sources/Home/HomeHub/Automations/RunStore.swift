/// One line of the record of a run, as the store keeps it.
public struct RunRow: Sendable, Hashable {
    /// The place in the store, which grows and is never given again; 0 for a row that is not stored yet.
    public var row: Int64
    /// The automation.
    public var automationID: String
    /// The run.
    public var runID: String
    /// Counts the rows of the run from 0.
    public var number: Int
    /// When it was, in milliseconds since 1970.
    public var at: Int64
    /// What happened, as JSON. The store does not look into it.
    public var data: String
    /// Whether the run is over with it.
    public var isEnd: Bool

    /// Describes a row.
    public init(
        row: Int64 = 0, automationID: String, runID: String, number: Int, at: Int64, data: String, isEnd: Bool
    ) {
        self.row = row
        self.automationID = automationID
        self.runID = runID
        self.number = number
        self.at = at
        self.data = data
        self.isEnd = isEnd
    }
}

/// The first row of a run, and its last one.
public struct RunSummaryRows: Sendable, Hashable {
    /// How it began.
    public var first: RunRow
    /// How it ended; nil while it goes on.
    public var end: RunRow?

    /// Describes a run.
    public init(first: RunRow, end: RunRow?) {
        self.first = first
        self.end = end
    }
}

/// Keeps the records of the runs of automations, and what is known of an automation between its runs.
///
/// All methods block until the disk has answered; callers use a separate thread.
public protocol RunStore: Sendable {
    /// Adds rows and sets states, all or none. When it returns, they survive a power cut, because a command is sent once its
    /// row is kept, and must not be sent again after it.
    /// - Parameters:
    ///   - rows: in their order. A row that is there already is left as it is.
    ///   - states: by automation, as JSON; nil forgets the state.
    func append(_ rows: [RunRow], states: [String: String?]) throws(StoreFailure)

    /// All rows of the runs that have not ended, each run in its order.
    func openRuns() throws(StoreFailure) -> [[RunRow]]

    /// The states, by automation.
    func states() throws(StoreFailure) -> [String: String]

    /// The number of the newest row; 0 for an empty store.
    func newestRow() throws(StoreFailure) -> Int64

    /// The rows after a place, oldest first.
    func rows(after row: Int64, limit: Int) throws(StoreFailure) -> [RunRow]

    /// The runs of an automation, newest first.
    /// - Parameter before: only runs that began before this row; nil for the newest.
    func runs(of automationID: String, before row: Int64?, limit: Int) throws(StoreFailure) -> [RunSummaryRows]

    /// The rows of a run, in order; empty for a run that is not kept.
    func entries(ofRun runID: String) throws(StoreFailure) -> [RunRow]

    /// Drops runs that have ended.
    /// - Parameters:
    ///   - time: drops those that began before, in milliseconds since 1970.
    ///   - count: how many of each automation stay.
    func prune(before time: Int64, keeping count: Int) throws(StoreFailure)
}
