import Foundation
import GRDB
import SQLiteFiles
import Transport

/// The change log in a SQLite file.
public final class SQLiteLocalStore: LocalStore {
    /// The file in the state folder.
    public static let fileName = "local.sqlite"

    public let identity: LogIdentity
    /// Where a damaged file went when the log was opened; nil when it was not damaged.
    public let damaged: String?
    let path: String
    let pool: DatabasePool
    private let retention: LogRetention
    private let now: @Sendable () -> Date
    /// How many bytes the entries take, about, and when the log is trimmed by time again.
    private let bookkeeping: Locked<(bytes: Int, trimAt: Date)>
    /// The number of the newest entry.
    private let newest = Locked(Int64(0))

    /// Opens the log in a file, or begins it.
    public init(
        path: String, retention: LogRetention = LogRetention(), now: @escaping @Sendable () -> Date = { Date() }
    ) throws(StoreFailure) {
        let opened = try DatabaseFile.open(path, migrator: Self.migrator)
        self.path = path
        self.pool = opened.pool
        self.damaged = opened.setAside
        self.retention = retention
        self.now = now
        self.bookkeeping = Locked((0, now()))
        do {
            self.identity = try opened.pool.write { try Self.begin($0) }
        } catch {
            throw DatabaseFile.failure(path, error)
        }
        try self.trim()
        let last = try self.lastSequence()
        self.newest.withLock { $0 = last }
    }

    private static let migrator: DatabaseMigrator = {
        var migrator = DatabaseMigrator()
        migrator.registerMigration("log") { database in
            try database.execute(
                sql: """
                    CREATE TABLE meta (key TEXT PRIMARY KEY, value) WITHOUT ROWID;
                    CREATE TABLE log (
                        sequence INTEGER PRIMARY KEY, incarnation INTEGER NOT NULL, timestamp REAL NOT NULL,
                        name TEXT NOT NULL, subject TEXT NOT NULL, effect TEXT, principal TEXT, data TEXT NOT NULL);
                    CREATE INDEX log_events ON log (subject, sequence) WHERE effect IS NULL;
                    CREATE TABLE state (
                        subject TEXT PRIMARY KEY, sequence INTEGER NOT NULL, incarnation INTEGER NOT NULL,
                        timestamp REAL NOT NULL, name TEXT NOT NULL, effect TEXT, principal TEXT, data TEXT NOT NULL
                    ) WITHOUT ROWID;
                    """)
        }
        return migrator
    }()

    /// Reads who the log is and counts this start.
    private static func begin(_ database: Database) throws -> LogIdentity {
        func value<Value: DatabaseValueConvertible>(_ key: String, or new: Value) throws -> Value {
            if let value = try Value.fetchOne(database, sql: "SELECT value FROM meta WHERE key = ?", arguments: [key]) {
                return value
            }
            try Self.set(database, key, new)
            return new
        }
        let incarnation = try value("incarnation", or: Int64(0)) + 1
        try Self.set(database, "incarnation", incarnation)
        return LogIdentity(
            log: try value("log", or: LogIdentity.newName()), gateway: try value("gateway", or: LogIdentity.newName()),
            incarnation: incarnation)
    }

    static func set(_ database: Database, _ key: String, _ value: some DatabaseValueConvertible) throws {
        try database.execute(sql: "INSERT OR REPLACE INTO meta VALUES (?, ?)", arguments: [key, value])
    }

    // MARK: The log

    public func lastSequence() throws(StoreFailure) -> Int64 {
        try reading { database in
            // Entries may have been dropped; their numbers are not given out again.
            let newest = try Int64.fetchOne(database, sql: "SELECT MAX(sequence) FROM log") ?? 0
            return max(newest, try Self.trimmed(database))
        }
    }

    public func append(_ entries: [LogEntry]) throws(StoreFailure) {
        guard let first = entries.first, let last = entries.last else { return }
        // What a failure has swallowed is missing for good, like what was trimmed.
        let isGap = newest.withLock { first.sequence > $0 + 1 }
        do {
            try pool.write { database in
                if isGap { try Self.set(database, "trimmed", first.sequence - 1) }
                let log = try database.cachedStatement(
                    sql: "INSERT OR IGNORE INTO log VALUES (?, ?, ?, ?, ?, ?, ?, ?)")
                let set = try database.cachedStatement(
                    sql: "INSERT OR REPLACE INTO state VALUES (?, ?, ?, ?, ?, ?, ?, ?)")
                let remove = try database.cachedStatement(sql: "DELETE FROM state WHERE subject = ?")
                for entry in entries {
                    let timestamp = entry.timestamp.timeIntervalSince1970
                    try log.execute(arguments: [
                        entry.sequence, entry.incarnation, timestamp, entry.name, entry.subject,
                        entry.effect?.rawValue, entry.principal, entry.data,
                    ])
                    switch entry.effect {
                    case .replaces:
                        try set.execute(arguments: [
                            entry.subject, entry.sequence, entry.incarnation, timestamp, entry.name,
                            entry.effect?.rawValue, entry.principal, entry.data,
                        ])
                    case .removes: try remove.execute(arguments: [entry.subject])
                    case nil: break
                    }
                }
            }
        } catch {
            throw DatabaseFile.failure(path, error)
        }
        newest.withLock { $0 = last.sequence }
        let size = entries.reduce(0) { $0 + $1.size }
        let now = self.now()
        let isDue = self.bookkeeping.withLock { bookkeeping in
            bookkeeping.bytes += size
            return bookkeeping.bytes > retention.bytes || now >= bookkeeping.trimAt
        }
        if isDue { try trim() }
    }

    public func entries(after sequence: Int64, limit: Int) throws(StoreFailure) -> [LogEntry] {
        try reading { database in
            try Self.entries(
                database, "SELECT * FROM log WHERE sequence > ? ORDER BY sequence LIMIT ?", [sequence, limit])
        }
    }

    public func isComplete(after sequence: Int64, incarnation: Int64) throws(StoreFailure) -> Bool {
        try reading { database in
            let trimmed = try Self.trimmed(database)
            if sequence == trimmed, sequence == 0 { return true }
            guard sequence >= trimmed else { return false }
            let found = try Int64.fetchOne(
                database, sql: "SELECT incarnation FROM log WHERE sequence = ?", arguments: [sequence])
            return found == incarnation
        }
    }

    public func events(
        of subject: String, since: Date?, after sequence: Int64?, limit: Int
    ) throws(StoreFailure) -> [LogEntry] {
        try reading { database in
            try Self.entries(
                database,
                """
                SELECT * FROM log WHERE effect IS NULL AND subject = ? AND sequence > ? AND timestamp >= ?
                ORDER BY sequence DESC LIMIT ?
                """, [subject, sequence ?? 0, since?.timeIntervalSince1970 ?? 0, limit])
        }
    }

    public func state() throws(StoreFailure) -> [LogEntry] {
        try reading { database in
            try Self.entries(database, "SELECT * FROM state ORDER BY sequence", [])
        }
    }

    private static func entries(
        _ database: Database, _ sql: String, _ arguments: StatementArguments
    ) throws -> [LogEntry] {
        try Row.fetchAll(database.cachedStatement(sql: sql), arguments: arguments).map { row in
            LogEntry(
                sequence: row["sequence"], incarnation: row["incarnation"],
                timestamp: Date(timeIntervalSince1970: row["timestamp"]), name: row["name"], subject: row["subject"],
                effect: (row["effect"] as String?).flatMap(LogEntry.Effect.init(rawValue:)),
                principal: row["principal"], data: row["data"])
        }
    }

    func reading<Value>(_ body: (Database) throws -> Value) throws(StoreFailure) -> Value {
        do { return try pool.read(body) } catch { throw DatabaseFile.failure(path, error) }
    }

    // MARK: Retention

    /// The newest number below which changes of state are missing.
    private static func trimmed(_ database: Database) throws -> Int64 {
        try Int64.fetchOne(database, sql: "SELECT value FROM meta WHERE key = 'trimmed'") ?? 0
    }

    /// Drops what is too old or too much: first changes of state, then events.
    func trim() throws(StoreFailure) {
        let now = self.now()
        do {
            let bytes = try pool.write { database in
                try Self.drop(
                    database, "effect IS NOT NULL AND timestamp < ?",
                    [now.timeIntervalSince1970 - retention.stateSeconds])
                try Self.drop(database, "timestamp < ?", [now.timeIntervalSince1970 - retention.eventSeconds])
                var bytes = try Self.bytes(database)
                var isState = true
                while bytes > retention.bytes {
                    // The older half of the changes of state, and when these are gone, the oldest fifth of all.
                    let bounds = try Row.fetchOne(
                        database, sql: "SELECT MIN(sequence) AS low, MAX(sequence) AS high FROM log")
                    guard let low = bounds?["low"] as Int64?, let high = bounds?["high"] as Int64? else { break }
                    if isState {
                        try Self.drop(
                            database, "effect IS NOT NULL AND sequence <= ?", [low + (high - low) / 2])
                    } else {
                        try Self.drop(database, "sequence <= ?", [low + (high - low) / 5])
                    }
                    isState = false
                    bytes = try Self.bytes(database)
                }
                return bytes
            }
            try pool.writeWithoutTransaction { try $0.execute(sql: "PRAGMA incremental_vacuum") }
            bookkeeping.withLock { $0 = (bytes, now + 3_600) }
        } catch {
            throw DatabaseFile.failure(path, error)
        }
    }

    /// Deletes entries, and remembers up to which number changes of state are missing now.
    private static func drop(_ database: Database, _ condition: String, _ arguments: StatementArguments) throws {
        let newest = try Int64.fetchOne(
            database, sql: "SELECT MAX(sequence) FROM log WHERE \(condition)", arguments: arguments)
        guard let newest else { return }
        try database.execute(sql: "DELETE FROM log WHERE \(condition)", arguments: arguments)
        if newest > (try Self.trimmed(database)) { try Self.set(database, "trimmed", newest) }
    }

    private static func bytes(_ database: Database) throws -> Int {
        try Int.fetchOne(
            database, sql: "SELECT COALESCE(SUM(LENGTH(data) + LENGTH(name) + LENGTH(subject) + 64), 0) FROM log") ?? 0
    }
}
