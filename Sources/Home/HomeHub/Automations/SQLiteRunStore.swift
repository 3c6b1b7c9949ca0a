import GRDB
import SQLiteFiles

/// The records of runs in a SQLite file.
public final class SQLiteRunStore: RunStore {
    /// The file in the state folder.
    public static let fileName = "automations.sqlite"

    /// Where a damaged file was moved when the store was opened; nil if it was not damaged.
    public let damaged: String?
    private let path: String
    private let pool: DatabasePool

    /// Opens the store in a file, or creates it. A file of a later version is opened as it is.
    public init(path: String) throws(StoreFailure) {
        // A commit must also survive a power cut: its command is sent afterwards, and a gateway that has forgotten it
        // would send it again.
        let opened = try DatabaseFile.open(path, migrator: Self.migrator, synchronous: .full)
        self.path = path
        self.pool = opened.pool
        self.damaged = opened.setAside
    }

    private static let migrator: DatabaseMigrator = {
        var migrator = DatabaseMigrator()
        migrator.registerMigration("runs") { database in
            try database.execute(
                sql: """
                    CREATE TABLE entry (
                        row INTEGER PRIMARY KEY AUTOINCREMENT, automation TEXT NOT NULL, run TEXT NOT NULL,
                        number INTEGER NOT NULL, at INTEGER NOT NULL, is_end INTEGER NOT NULL, data TEXT NOT NULL);
                    CREATE UNIQUE INDEX entry_run ON entry (run, number);
                    CREATE INDEX entry_began ON entry (automation, row) WHERE number = 0;
                    CREATE INDEX entry_at ON entry (at) WHERE number = 0;
                    CREATE TABLE open_run (run TEXT PRIMARY KEY) WITHOUT ROWID;
                    CREATE TABLE automation_state (id TEXT PRIMARY KEY, json TEXT NOT NULL) WITHOUT ROWID;
                    """)
        }
        migrator.registerMigration("changes") { database in
            try database.execute(
                sql: """
                    CREATE TABLE automation_change (
                        row INTEGER PRIMARY KEY AUTOINCREMENT, automation TEXT NOT NULL, at INTEGER NOT NULL,
                        kind TEXT NOT NULL, "group" TEXT NOT NULL, principal TEXT);
                    CREATE INDEX automation_change_of ON automation_change (automation, row);
                    """)
        }
        return migrator
    }()

    public func append(_ batch: RunBatch) throws(StoreFailure) {
        guard !batch.isEmpty else { return }
        let (rows, states) = (batch.rows, batch.states)
        try writing { database in
            let insert = try database.cachedStatement(
                sql: """
                    INSERT INTO entry (automation, run, number, at, is_end, data) VALUES (?, ?, ?, ?, ?, ?)
                    ON CONFLICT (run, number) DO NOTHING
                    """)
            let open = try database.cachedStatement(sql: "INSERT OR IGNORE INTO open_run VALUES (?)")
            let close = try database.cachedStatement(sql: "DELETE FROM open_run WHERE run = ?")
            let set = try database.cachedStatement(sql: "INSERT OR REPLACE INTO automation_state VALUES (?, ?)")
            let forget = try database.cachedStatement(sql: "DELETE FROM automation_state WHERE id = ?")
            // A run that is over within the same transaction is never treated as open.
            let ended = Set(rows.lazy.filter(\.isEnd).map(\.runID))
            for row in rows {
                try insert.execute(arguments: [
                    row.automationID, row.runID, row.number, row.at, row.isEnd, row.data,
                ])
                if row.number == 0, !ended.contains(row.runID) { try open.execute(arguments: [row.runID]) }
                if row.isEnd { try close.execute(arguments: [row.runID]) }
            }
            for (id, json) in states {
                if let json { try set.execute(arguments: [id, json]) } else { try forget.execute(arguments: [id]) }
            }
            for change in batch.changes {
                let insert = try database.cachedStatement(
                    sql: """
                        INSERT INTO automation_change (automation, at, kind, "group", principal) VALUES (?, ?, ?, ?, ?)
                        """)
                try insert.execute(arguments: [
                    change.automationID, change.at, change.kind, change.group, change.principal,
                ])
            }
            for automation in batch.forgotten { try Self.forget(automation, in: database) }
            if !batch.forgotten.isEmpty { try Self.dropRunsWithoutBeginning(in: database) }
        }
    }

    private static func forget(_ automation: String, in database: Database) throws {
        let runs = "(SELECT run FROM entry WHERE automation = ? AND number = 0)"
        for sql in [
            "DELETE FROM open_run WHERE run IN \(runs)", "DELETE FROM entry WHERE run IN \(runs)",
            "DELETE FROM automation_change WHERE automation = ?", "DELETE FROM automation_state WHERE id = ?",
        ] {
            try database.cachedStatement(sql: sql).execute(arguments: [automation])
        }
    }

    /// Drops the rows of runs whose first row was lost while the disk failed. Nobody can read them, and everything else finds a
    /// run by its first row.
    private static func dropRunsWithoutBeginning(in database: Database) throws {
        try database.cachedStatement(
            sql: "DELETE FROM entry WHERE run IN (SELECT run FROM entry GROUP BY run HAVING MIN(number) > 0)"
        ).execute()
    }

    public func openRuns() throws(StoreFailure) -> [[RunRow]] {
        let rows = try fetch(
            """
            SELECT entry.* FROM open_run JOIN entry ON entry.run = open_run.run
            ORDER BY open_run.run, entry.number
            """)
        var runs: [[RunRow]] = []
        for row in rows {
            if runs.last?.first?.runID == row.runID {
                runs[runs.count - 1].append(row)
            } else {
                runs.append([row])
            }
        }
        return runs
    }

    public func states() throws(StoreFailure) -> [String: String] {
        try reading { database in
            let rows = try Row.fetchAll(database, sql: "SELECT id, json FROM automation_state")
            return Dictionary(rows.map { ($0["id"], $0["json"]) }) { first, _ in first }
        }
    }

    public func newestRow() throws(StoreFailure) -> Int64 {
        try reading { database in
            // Rows may have been dropped; their numbers are not used again.
            try Int64.fetchOne(database, sql: "SELECT seq FROM sqlite_sequence WHERE name = 'entry'") ?? 0
        }
    }

    public func rows(after row: Int64, limit: Int) throws(StoreFailure) -> [RunRow] {
        try fetch("SELECT * FROM entry WHERE row > ? ORDER BY row LIMIT ?", [row, limit])
    }

    public func runs(
        of automationID: String, before row: Int64?, limit: Int
    ) throws(StoreFailure) -> [RunSummaryRows] {
        try reading { database in
            let find = try database.cachedStatement(
                sql: """
                    SELECT * FROM entry WHERE automation = ? AND number = 0 AND row < ? ORDER BY row DESC LIMIT ?
                    """)
            let end = try database.cachedStatement(
                sql: "SELECT * FROM entry WHERE run = ? ORDER BY number DESC LIMIT 1")
            let firsts = try Row.fetchAll(find, arguments: [automationID, row ?? .max, limit]).map(RunRow.init)
            return try firsts.map { first in
                let last = try Row.fetchOne(end, arguments: [first.runID]).map(RunRow.init)
                return RunSummaryRows(first: first, end: last.flatMap { $0.isEnd ? $0 : nil })
            }
        }
    }

    public func entries(ofRun runID: String) throws(StoreFailure) -> [RunRow] {
        try fetch("SELECT * FROM entry WHERE run = ? ORDER BY number", [runID])
    }

    public func changes(of automationID: String) throws(StoreFailure) -> [AutomationChangeRow] {
        try reading { database in
            try Row.fetchAll(
                database.cachedStatement(sql: "SELECT * FROM automation_change WHERE automation = ? ORDER BY row"),
                arguments: [automationID]
            ).map { row in
                AutomationChangeRow(
                    automationID: row["automation"], at: row["at"], kind: row["kind"], group: row["group"],
                    principal: row["principal"])
            }
        }
    }

    public func prune(before time: Int64, keeping count: Int) throws(StoreFailure) {
        try writing { database in
            try database.execute(
                sql: """
                    DELETE FROM entry WHERE run IN (
                        SELECT run FROM entry WHERE number = 0 AND at < ?
                        UNION SELECT run FROM (
                            SELECT run, ROW_NUMBER() OVER (PARTITION BY automation ORDER BY row DESC) AS place
                            FROM entry WHERE number = 0) WHERE place > ?)
                    AND run NOT IN (SELECT run FROM open_run)
                    """, arguments: [time, count])
            try Self.dropRunsWithoutBeginning(in: database)
            try database.execute(
                sql: """
                    DELETE FROM automation_change WHERE row IN (
                        SELECT row FROM (
                            SELECT row, at,
                                ROW_NUMBER() OVER (PARTITION BY automation, "group" ORDER BY row DESC) AS place
                            FROM automation_change)
                        WHERE place > 1 AND (at < ? OR place > ?))
                    """, arguments: [time, max(1, count)])
        }
        do {
            try pool.writeWithoutTransaction { try $0.execute(sql: "PRAGMA incremental_vacuum") }
        } catch {
            throw DatabaseFile.failure(path, error)
        }
    }

    /// SQLite's number for what a commit survives; 2 includes a power cut.
    package func durability() throws(StoreFailure) -> Int {
        do {
            return try pool.writeWithoutTransaction { try Int.fetchOne($0, sql: "PRAGMA synchronous") } ?? 0
        } catch {
            throw DatabaseFile.failure(path, error)
        }
    }

    /// Prevents the file from growing, as on a full disk.
    package func fill() throws(StoreFailure) {
        do {
            try pool.writeWithoutTransaction { database in
                let pages = try Int.fetchOne(database, sql: "PRAGMA page_count") ?? 1
                try database.execute(sql: "PRAGMA max_page_count = \(pages)")
            }
        } catch {
            throw DatabaseFile.failure(path, error)
        }
    }

    private func fetch(_ sql: String, _ arguments: StatementArguments = []) throws(StoreFailure) -> [RunRow] {
        try reading { database in
            try Row.fetchAll(database.cachedStatement(sql: sql), arguments: arguments).map(RunRow.init)
        }
    }

    private func reading<Value>(_ body: (Database) throws -> Value) throws(StoreFailure) -> Value {
        do { return try pool.read(body) } catch { throw DatabaseFile.failure(path, error) }
    }

    private func writing(_ body: (Database) throws -> Void) throws(StoreFailure) {
        do { try pool.write(body) } catch { throw DatabaseFile.failure(path, error) }
    }
}

extension RunRow {
    fileprivate init(_ row: Row) {
        self.init(
            row: row["row"], automationID: row["automation"], runID: row["run"], number: row["number"], at: row["at"],
            data: row["data"], isEnd: row["is_end"])
    }
}
