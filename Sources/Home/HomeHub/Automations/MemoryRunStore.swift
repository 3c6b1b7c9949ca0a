import Transport

/// The records of runs in memory: for tests, and for a gateway without a state folder.
public final class MemoryRunStore: RunStore {
    private struct State {
        var rows: [RunRow] = []
        var states: [String: String] = [:]
        var changes: [AutomationChangeRow] = []
        var last: Int64 = 0
        var failure: StoreFailure?
        var readFailure: StoreFailure?
    }

    private let state = Locked(State())

    /// Begins an empty store.
    public init() {}

    /// Makes every write fail from now on, as on a full disk; nil makes writes succeed again.
    package func fail(_ failure: StoreFailure?) { state.withLock { $0.failure = failure } }

    /// Makes reading the states fail from now on, as from a disk that does not respond; nil makes it succeed again.
    package func failReading(_ failure: StoreFailure?) { state.withLock { $0.readFailure = failure } }

    public func append(_ batch: RunBatch) throws(StoreFailure) {
        try state.withLock { (state) throws(StoreFailure) in
            if let failure = state.failure { throw failure }
            for var row in batch.rows
            where !state.rows.contains(where: { $0.runID == row.runID && $0.number == row.number }) {
                state.last += 1
                row.row = state.last
                state.rows.append(row)
            }
            for (id, json) in batch.states { state.states[id] = json }
            state.changes += batch.changes
            for id in batch.forgotten {
                state.rows.removeAll { $0.automationID == id }
                state.changes.removeAll { $0.automationID == id }
                state.states[id] = nil
            }
        }
    }

    public func openRuns() -> [[RunRow]] {
        let rows = state.withLock { $0.rows }
        let ended = Set(rows.filter(\.isEnd).map(\.runID))
        return rows.filter { $0.number == 0 && !ended.contains($0.runID) }
            .map { first in rows.filter { $0.runID == first.runID } }
    }

    public func states() throws(StoreFailure) -> [String: String] {
        try state.withLock { (state) throws(StoreFailure) in
            if let failure = state.readFailure { throw failure }
            return state.states
        }
    }

    public func newestRow() -> Int64 { state.withLock { $0.last } }

    public func rows(after row: Int64, limit: Int) -> [RunRow] {
        Array(state.withLock { $0.rows }.filter { $0.row > row }.prefix(limit))
    }

    public func runs(of automationID: String, before row: Int64?, limit: Int) -> [RunSummaryRows] {
        let rows = state.withLock { $0.rows }.filter { $0.automationID == automationID }
        return rows.filter { $0.number == 0 && $0.row < row ?? .max }.reversed().prefix(limit).map { first in
            RunSummaryRows(first: first, end: rows.first { $0.runID == first.runID && $0.isEnd })
        }
    }

    public func entries(ofRun runID: String) -> [RunRow] {
        state.withLock { $0.rows }.filter { $0.runID == runID }.sorted { $0.number < $1.number }
    }

    public func changes(of automationID: String) -> [AutomationChangeRow] {
        state.withLock { $0.changes.filter { $0.automationID == automationID } }
    }

    public func prune(before time: Int64, keeping count: Int) {
        let open = Set(openRuns().compactMap { $0.first?.runID })
        state.withLock { state in
            var kept: [String: Int] = [:]
            var dropped: Set<String> = []
            for row in state.rows.reversed() where row.number == 0 {
                kept[row.automationID, default: 0] += 1
                if row.at < time || kept[row.automationID, default: 0] > count { dropped.insert(row.runID) }
            }
            dropped.subtract(open)
            let begun = Set(state.rows.lazy.filter { $0.number == 0 }.map(\.runID))
            state.rows.removeAll { dropped.contains($0.runID) || !begun.contains($0.runID) }
            var places: [[String]: Int] = [:]
            let changes = state.changes.reversed().filter { change in
                let place = places[[change.automationID, change.group], default: 0] + 1
                places[[change.automationID, change.group]] = place
                return place == 1 || change.at >= time && place <= count
            }
            state.changes = changes.reversed()
        }
    }
}
