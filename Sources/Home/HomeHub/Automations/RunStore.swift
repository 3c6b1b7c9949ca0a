/// One line of the record of a run, as the store keeps it.
public struct RunRow: Sendable, Hashable {
    /// The place in the store. It increases and is never used again; 0 for a row that is not stored yet.
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
    /// How it ended; nil while it is in progress.
    public var end: RunRow?

    /// Describes a run.
    public init(first: RunRow, end: RunRow?) {
        self.first = first
        self.end = end
    }
}

/// A change of an automation that decides whether its starters start it.
public struct AutomationChangeRow: Sendable, Hashable {
    /// The automation.
    public var automationID: String
    /// When it was, in milliseconds since 1970.
    public var at: Int64
    /// What has changed. The store does not look into it.
    public var kind: String
    /// The group of the change. The last change of each group is kept, however old it is.
    public var group: String
    /// Who did it; nil if that does not matter.
    public var principal: String?

    /// Describes a change.
    public init(automationID: String, at: Int64, kind: String, group: String, principal: String? = nil) {
        self.automationID = automationID
        self.at = at
        self.kind = kind
        self.group = group
        self.principal = principal
    }
}

/// What a store keeps in one transaction, all or none.
public struct RunBatch: Sendable, Hashable {
    /// The rows, in order. A row that already exists is left as it is.
    public var rows: [RunRow] = []
    /// The states by automation, as JSON; nil forgets the state.
    public var states: [String: String?] = [:]
    /// Changes in their order.
    public var changes: [AutomationChangeRow] = []
    /// Automations of which nothing is kept any longer, not even the rows of this batch.
    public var forgotten: Set<String> = []

    /// Keeps nothing.
    public init() {}

    /// Whether it keeps nothing.
    public var isEmpty: Bool { rows.isEmpty && states.isEmpty && changes.isEmpty && forgotten.isEmpty }

    /// Adds a later batch.
    public mutating func add(_ later: RunBatch) {
        rows += later.rows
        states.merge(later.states) { _, new in new }
        changes += later.changes
        forgotten.formUnion(later.forgotten)
    }
}

/// Keeps the records of the runs of automations, and what is known of an automation between its runs.
///
/// All methods block until the disk has responded; callers use a separate thread.
public protocol RunStore: Sendable {
    /// Keeps a batch, all or none. When the method returns, the batch survives a power cut: a command is sent once its
    /// row is kept, and must not be sent again after a power cut.
    func append(_ batch: RunBatch) throws(StoreFailure)

    /// All rows of the runs that have not ended, in order for each run.
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

    /// The changes of an automation, oldest first.
    func changes(of automationID: String) throws(StoreFailure) -> [AutomationChangeRow]

    /// Drops runs that have ended, and old changes. What is left of a run whose first row was lost goes as well.
    /// - Parameters:
    ///   - time: drops those that began before, in milliseconds since 1970.
    ///   - count: how many runs of each automation stay.
    func prune(before time: Int64, keeping count: Int) throws(StoreFailure)
}

extension RunStore {
    /// Keeps rows and states, as ``append(_:)`` does.
    package func append(_ rows: [RunRow], states: [String: String?]) throws(StoreFailure) {
        var batch = RunBatch()
        batch.rows = rows
        batch.states = states
        try append(batch)
    }
}
