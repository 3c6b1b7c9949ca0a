import GRDB
import PushAvStreamTransport
import SQLiteFiles

/// The index of the recordings in a SQLite file. It is a cache: a file that is damaged, or that a newer version wrote, goes
/// aside, and the next recovery of the store fills a new one.
///
/// A recording has one small row for lists and timelines, and one row with its segments, packed: playback reads few of
/// these, and a row for each segment would be four times as large.
public final class SQLiteRecordingIndex: RecordingIndexing {
    /// The file in the state folder.
    public static let fileName = "recordings.sqlite"

    /// Where a file that could not be used went; nil when it could be used.
    public let setAside: String?
    let path: String
    let pool: DatabasePool

    /// Opens the index, or makes it.
    public init(path: String) throws(RecordingIndexFault) {
        do throws(SQLiteFault) {
            let opened = try SQLiteFile.open(
                path, migrator: Self.migrator, newer: .goesAside, cacheKilobytes: 2_048)
            self.path = path
            self.pool = opened.pool
            self.setAside = opened.setAside
        } catch {
            throw RecordingIndexFault(path: error.path, reason: error.reason)
        }
    }

    private static let migrator: DatabaseMigrator = {
        var migrator = DatabaseMigrator()
        migrator.registerMigration("recordings") { database in
            // `reach` says how far the times of a device's recordings lie from the starts in their ids, at most, in
            // microseconds: `behind` for the end of one, `before` for one whose first sample is older than its start.
            try database.execute(
                sql: """
                    CREATE TABLE recording (
                        key INTEGER PRIMARY KEY, device TEXT NOT NULL, start INTEGER NOT NULL, epoch INTEGER NOT NULL,
                        sequence INTEGER NOT NULL, begins INTEGER NOT NULL, ends INTEGER NOT NULL, bytes INTEGER NOT NULL,
                        segments INTEGER NOT NULL, gaps INTEGER NOT NULL, connection INTEGER NOT NULL,
                        number INTEGER NOT NULL, kind TEXT NOT NULL, reason TEXT NOT NULL, events TEXT NOT NULL,
                        triggered INTEGER NOT NULL, ended INTEGER, ending TEXT);
                    CREATE UNIQUE INDEX recording_id ON recording (device, start, epoch, sequence);
                    CREATE INDEX recording_start ON recording (start);
                    CREATE TABLE segments (
                        recording INTEGER PRIMARY KEY REFERENCES recording ON DELETE CASCADE,
                        timescales TEXT NOT NULL, packed BLOB NOT NULL);
                    CREATE TABLE reach (
                        device TEXT PRIMARY KEY, behind INTEGER NOT NULL, before INTEGER NOT NULL) WITHOUT ROWID;
                    """)
        }
        return migrator
    }()

    // MARK: Changes

    public func add(_ recordings: [IndexedRecording]) throws(RecordingIndexFault) {
        try asking {
            try pool.write { database in
                let insert = try database.cachedStatement(
                    sql: """
                        INSERT INTO recording (device, start, epoch, sequence, begins, ends, bytes, segments, gaps,
                            connection, number, kind, reason, events, triggered, ended, ending)
                        VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
                        """)
                let pack = try database.cachedStatement(sql: "INSERT INTO segments VALUES (?, ?, ?)")
                let reach = try database.cachedStatement(
                    sql: """
                        INSERT INTO reach VALUES (?, ?, ?) ON CONFLICT (device) DO UPDATE SET
                            behind = MAX(behind, excluded.behind), before = MAX(before, excluded.before)
                        """)
                for recording in recordings {
                    let summary = recording.summary
                    let start = summary.id.start &* 1_000
                    try Self.remove(summary.id, database)
                    try insert.execute(arguments: Self.arguments(summary))
                    try pack.execute(arguments: [
                        database.lastInsertedRowID, recording.timescales.map(String.init).joined(separator: ","),
                        PackedSegments.pack(recording.segments),
                    ])
                    try reach.execute(arguments: [
                        summary.id.device, max(0, summary.until &- start), max(0, start &- summary.from),
                    ])
                }
            }
        }
    }

    private static func arguments(_ summary: RecordingSummary) -> StatementArguments {
        [
            summary.id.device, summary.id.start, Int64(bitPattern: summary.id.epoch), summary.id.sequence,
            summary.from, summary.until, summary.byteCount, summary.segmentCount, summary.gapCount,
            summary.connection, Int64(bitPattern: summary.number), summary.trigger.kind.rawValue,
            summary.trigger.reason, EventList.encode(summary.trigger.events), summary.triggeredAt, summary.end?.at,
            summary.end?.reason.rawValue,
        ]
    }

    private static func remove(_ id: RecordingSession.ID, _ database: Database) throws {
        try database.cachedStatement(
            sql: "DELETE FROM recording WHERE device = ? AND start = ? AND epoch = ? AND sequence = ?"
        ).execute(arguments: Self.arguments(id))
    }

    private static func arguments(_ id: RecordingSession.ID) -> StatementArguments {
        [id.device, id.start, Int64(bitPattern: id.epoch), id.sequence]
    }

    public func remove(_ ids: [RecordingSession.ID]) throws(RecordingIndexFault) {
        guard !ids.isEmpty else { return }
        try asking {
            try pool.writeWithoutTransaction { database in
                // What is removed here must not come back with a power cut: its files go next.
                try database.execute(sql: "PRAGMA synchronous = FULL")
                defer { try? database.execute(sql: "PRAGMA synchronous = NORMAL") }
                try database.inTransaction {
                    for id in ids { try Self.remove(id, database) }
                    return .commit
                }
            }
        }
    }

    // MARK: Queries

    public func ids() throws(RecordingIndexFault) -> Set<RecordingSession.ID> {
        try asking {
            try pool.read { database in
                let rows = try Row.fetchCursor(database, sql: "SELECT device, start, epoch, sequence FROM recording")
                var ids: Set<RecordingSession.ID> = []
                while let row = try rows.next() {
                    ids.insert(
                        RecordingSession.ID(
                            device: row[0], start: row[1], epoch: UInt64(bitPattern: row[2]),
                            sequence: UInt32(truncatingIfNeeded: row[3] as Int64)))
                }
                return ids
            }
        }
    }

    public func recordings(_ query: RecordingQuery) throws(RecordingIndexFault) -> [RecordingSummary] {
        try asking {
            try pool.read { database in
                let (condition, arguments) = try Self.condition(query, database)
                let order = query.newestFirst ? "DESC" : "ASC"
                return try Row.fetchAll(
                    database.cachedStatement(
                        sql: """
                            SELECT * FROM recording WHERE \(condition)
                            ORDER BY start \(order), device \(order), epoch \(order), sequence \(order) LIMIT ?
                            """), arguments: arguments + [query.limit]
                ).map(Self.summary)
            }
        }
    }

    /// The recordings that overlap a range, found by their starts: those are near enough, as `reach` says.
    private static func condition(
        _ query: RecordingQuery, _ database: Database
    ) throws -> (String, StatementArguments) {
        let reach = try Row.fetchOne(
            database.cachedStatement(
                sql: "SELECT MAX(behind), MAX(before) FROM reach" + (query.device == nil ? "" : " WHERE device = ?")),
            arguments: query.device.map { [$0] } ?? [])
        func bound(_ value: (partialValue: Int64, overflow: Bool), or limit: Int64, rounding: Int64) -> Int64 {
            value.overflow ? limit : value.partialValue / 1_000 + rounding
        }
        var arguments: StatementArguments = [
            bound(query.from.subtractingReportingOverflow(reach?[0] ?? 0), or: .min, rounding: -1),
            bound(query.until.addingReportingOverflow(reach?[1] ?? 0), or: .max, rounding: 1),
            query.until, query.from,
        ]
        if let device = query.device { arguments += [device] }
        return (
            "start >= ? AND start <= ? AND begins < ? AND MAX(ends, begins + 1) > ?"
                + (query.device == nil ? "" : " AND device = ?"), arguments
        )
    }

    public func recording(_ id: RecordingSession.ID) throws(RecordingIndexFault) -> IndexedRecording? {
        try asking {
            try pool.read { database in
                let row = try Row.fetchOne(
                    database.cachedStatement(
                        sql: """
                            SELECT * FROM recording JOIN segments ON segments.recording = recording.key
                            WHERE device = ? AND start = ? AND epoch = ? AND sequence = ?
                            """), arguments: Self.arguments(id))
                guard let row else { return nil }
                return IndexedRecording(
                    summary: Self.summary(row),
                    timescales: (row["timescales"] as String).split(separator: ",").compactMap { Int($0) },
                    segments: PackedSegments.unpack(row["packed"]))
            }
        }
    }

    public func spans(of device: String) throws(RecordingIndexFault) -> [Range<Int64>] {
        try asking {
            try pool.read { database in
                let rows = try Row.fetchCursor(
                    database, sql: "SELECT begins, ends FROM recording WHERE device = ?", arguments: [device])
                var spans: [Range<Int64>] = []
                while let row = try rows.next() {
                    let begins: Int64 = row[0]
                    spans.append(begins..<max(begins, row[1]))
                }
                return spans
            }
        }
    }

    public func totals() throws(RecordingIndexFault) -> [String: RecordingTotals] {
        try asking {
            try pool.read { database in
                let rows = try Row.fetchAll(
                    database.cachedStatement(
                        sql: "SELECT device, COUNT(*), SUM(bytes), MIN(start) FROM recording GROUP BY device"))
                return Dictionary(
                    rows.map { ($0[0], RecordingTotals(recordings: $0[1], byteCount: $0[2], oldest: $0[3])) },
                    uniquingKeysWith: { first, _ in first })
            }
        }
    }

    private static func summary(_ row: Row) -> RecordingSummary {
        let end = (row["ended"] as Int64?).map { at in
            RecordingEnd(
                at: at, reason: RecordingEnd.Reason(rawValue: row["ending"] as String? ?? "") ?? .interrupted)
        }
        return RecordingSummary(
            id: .init(
                device: row["device"], start: row["start"], epoch: UInt64(bitPattern: row["epoch"]),
                sequence: UInt32(truncatingIfNeeded: row["sequence"] as Int64)),
            connection: UInt16(truncatingIfNeeded: row["connection"] as Int64),
            number: UInt64(bitPattern: row["number"]),
            trigger: .init(
                kind: .init(rawValue: row["kind"]) ?? .command, reason: row["reason"],
                events: EventList.decode(row["events"])),
            triggeredAt: row["triggered"], from: row["begins"], until: row["ends"], byteCount: row["bytes"],
            segmentCount: row["segments"], gapCount: row["gaps"], end: end)
    }

    private func asking<Value>(_ body: () throws -> Value) throws(RecordingIndexFault) -> Value {
        do {
            return try body()
        } catch {
            let fault = SQLiteFile.fault(path, error)
            throw RecordingIndexFault(path: fault.path, reason: fault.reason)
        }
    }
}

/// The ids of events in one column, one a line.
private enum EventList {
    static func encode(_ events: [String]) -> String { events.joined(separator: "\n") }
    static func decode(_ text: String) -> [String] { text.split(separator: "\n").map(String.init) }
}
