import Automation
import Foundation
import HomeHub

/// A run as people ask for it.
struct RunRecord: Sendable, Hashable, Identifiable {
    var id: String
    var automationID: String
    /// The place of its first row in the store; the next page of runs begins before it.
    var cursor: Int64
    /// When it began, in milliseconds since 1970.
    var startedAt: Int64
    /// When it ended, in milliseconds since 1970; nil while it is in progress.
    var endedAt: Int64?
    /// Why it began.
    var trigger: Trigger
    /// Whether it began later than its schedule said.
    var isLate: Bool
    /// How many runs led to it.
    var depth: Int
    /// How it ended; nil while it is in progress.
    var end: RunEnd?
    /// What happened in it; nil where only the summary was asked for.
    var entries: [RunEntry]?
}

/// A page of runs, newest first.
struct RunPage: Sendable {
    var runs: [RunRecord]
    /// What to ask for to get the next page; nil on the last one.
    var next: String?
}

extension RunRow {
    /// An entry of the engine as the store keeps it.
    init(_ entry: RunEntry) throws {
        var isEnd = false
        if case .ended = entry.event { isEnd = true }
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        self.init(
            automationID: entry.automationID, runID: entry.runID, number: entry.number, at: entry.at,
            data: String(decoding: try encoder.encode(entry), as: UTF8.self), isEnd: isEnd)
    }

    /// The entry; nil if it cannot be read, for example because a later version wrote it.
    var entry: RunEntry? { try? JSONDecoder().decode(RunEntry.self, from: Data(data.utf8)) }
}

extension RunRecord {
    /// A run of which the first row is known, and the last one if it has ended; nil if they cannot be read.
    init?(_ rows: RunSummaryRows, entries: [RunEntry]? = nil) {
        guard case .began(let trigger, let depth, let isLate)? = rows.first.entry?.event else { return nil }
        self.init(
            id: rows.first.runID, automationID: rows.first.automationID, cursor: rows.first.row,
            startedAt: rows.first.at, endedAt: rows.end?.at, trigger: trigger, isLate: isLate, depth: depth,
            entries: entries)
        if case .ended(let end)? = rows.end?.entry?.event { self.end = end }
    }

    /// A run of which all rows are known; nil if they cannot be read, or there are none.
    init?(_ rows: [RunRow]) {
        guard let first = rows.first else { return nil }
        self.init(
            RunSummaryRows(first: first, end: rows.last { $0.isEnd }), entries: rows.compactMap(\.entry))
    }
}
