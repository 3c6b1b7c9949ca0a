import Automation
import Foundation
import HomeHub
import HomeTypes
import Logging

/// What the runs have left behind.
extension AutomationService {
    /// How many runs one page has at most.
    static let largestPage = 200

    /// What was kept by earlier runs of the gateway.
    /// - Throws: if the disk does not answer.
    func readStore() async throws(StoreFailure) -> (states: [String: AutomationState], openRuns: [[RunEntry]]) {
        let (states, rows) = try await perform { (store) throws(StoreFailure) in
            (try store.states(), try store.openRuns())
        }
        var known: [String: AutomationState] = [:]
        for (id, json) in states {
            do {
                known[id] = try JSONDecoder().decode(AutomationState.self, from: Data(json.utf8))
            } catch {
                logger.error("the state of an automation cannot be read", metadata: ["automation": "\(id)"])
            }
        }
        // A run with an entry that cannot be read is cut there; the engine ends it as interrupted.
        return (known, rows.map { Array($0.lazy.map(\.entry).prefix { $0 != nil }.compactMap { $0 }) })
    }

    /// The runs of an automation, newest first.
    /// - Parameter before: `next` of the page before; nil for the first one.
    /// - Throws: `invalidArgument` if `before` does not name a page, `unavailable` if the disk does not answer.
    func runs(of automationID: String, before: String? = nil, limit: Int = 50) async throws(HomeError) -> RunPage {
        let row: Int64?
        if let before {
            guard let number = Int64(before), number > 0 else {
                throw .invalidArgument("before: expected the value of next in an earlier response")
            }
            row = number
        } else {
            row = nil
        }
        let limit = min(max(limit, 1), Self.largestPage)
        let rows = try await read { (store) throws(StoreFailure) in
            try store.runs(of: automationID, before: row, limit: limit + 1)
        }
        let page = rows.prefix(limit)
        return RunPage(
            runs: page.compactMap { RunRecord($0) },
            next: rows.count > limit ? page.last.map { "\($0.first.row)" } : nil)
    }

    /// What is known of an automation besides its definition.
    struct Activity: Sendable {
        var state = AutomationState()
        var isRunning = false
        /// Its newest run, as the store has it; nil if none is kept, or the disk does not answer.
        var lastRun: RunSummaryRows?
    }

    /// What is known of automations, in their order. The disk reads a part of them at a time, so that a run that has to be
    /// recorded does not wait for a long list.
    func activities(of automationIDs: [String]) async -> [Activity] {
        var result: [Activity] = []
        for start in stride(from: 0, to: automationIDs.count, by: Self.largestPage) {
            let part = Array(automationIDs[start..<min(start + Self.largestPage, automationIDs.count)])
            let runs = try? await perform { (store) throws(StoreFailure) in
                var runs: [RunSummaryRows?] = []
                for id in part { runs.append(try store.runs(of: id, before: nil, limit: 1).first) }
                return runs
            }
            for (index, id) in part.enumerated() {
                result.append(Activity(state: state(of: id), isRunning: isRunning(id), lastRun: runs?[index]))
            }
        }
        return result
    }

    /// When an automation was switched on and off, paused and released, oldest first.
    /// - Throws: `unavailable` if the disk does not answer.
    func changes(of automationID: String) async throws(HomeError) -> [AutomationChange] {
        try await read { (store) throws(StoreFailure) in try store.changes(of: automationID) }.compactMap(\.change)
    }

    /// A run with all of its entries.
    /// - Throws: `notFound`.
    func run(_ runID: String) async throws(HomeError) -> RunRecord {
        let rows = try await read { (store) throws(StoreFailure) in try store.entries(ofRun: runID) }
        guard let run = RunRecord(rows) else {
            throw .notFound("no run has the id \(runID.prefix(64).debugDescription); it may be too old")
        }
        return run
    }

    /// How many of the newest rows a reader gets that comes back.
    static let longestCatchingUp: Int64 = 10_000

    /// The runs that begin and end from now on, or after a place.
    /// - Parameter cursor: the place of the last element that the reader has; nil for now. Of a place that is too far back, only
    ///   the newest rows come, ``longestCatchingUp`` at most.
    func liveRuns(after cursor: Int64? = nil) async -> RunFeed {
        // Without the number of the newest row the reader begins with what comes last of all.
        let newest = try? await perform { (store) throws(StoreFailure) in try store.newestRow() }
        let start = Self.firstPlace(after: cursor, newest: newest)
        let (signals, continuation) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        if isStopped {
            continuation.finish()
        } else {
            let number = nextFeed
            nextFeed += 1
            feeds[number] = continuation
            continuation.onTermination = { [weak self] _ in Task { await self?.removeFeed(number) } }
        }
        return RunFeed(service: self, start: start, signals: signals)
    }

    /// Where a reader begins.
    static func firstPlace(after cursor: Int64?, newest: Int64?) -> Int64 {
        guard let newest else { return max(0, cursor ?? 0) }
        return max(0, cursor ?? newest, newest - longestCatchingUp)
    }

    private func removeFeed(_ number: Int) { feeds[number] = nil }

    /// The runs that began or ended after a place, and the place up to which they go. If the disk does
    /// not answer there are none, and the next row brings them.
    func changes(after place: Int64) async -> (place: Int64, runs: [RunFeed.Element]) {
        let found = try? await perform { (store) throws(StoreFailure) in
            let rows = try store.rows(after: place, limit: 500)
            var runs: [(row: RunRow, run: [RunRow])] = []
            for row in rows where row.number == 0 || row.isEnd {
                runs.append((row, row.number == 0 ? [row] : try store.entries(ofRun: row.runID)))
            }
            return (place: rows.last?.row ?? place, runs: runs)
        }
        guard let found else { return (place, []) }
        let elements = found.runs.compactMap { change -> RunFeed.Element? in
            guard var run = RunRecord(change.run) else { return nil }
            run.entries = nil
            return RunFeed.Element(cursor: change.row.row, run: run)
        }
        return (found.place, elements)
    }

    private func read<Value: Sendable>(
        _ body: @escaping @Sendable (any RunStore) throws(StoreFailure) -> Value
    ) async throws(HomeError) -> Value {
        do throws(StoreFailure) { return try await perform(body) } catch {
            throw .unavailable("the runs cannot be read at the moment: \(error.reason)")
        }
    }
}
