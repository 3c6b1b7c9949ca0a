import DatagramPort
import Foundation
import GRDB
import SQLiteFiles
import Transport

/// The change log in a SQLite file.
public final class SQLiteLocalStore: LocalStore {
    /// The file in the state folder.
    public static let fileName = "local.sqlite"

    public let identity: LogIdentity
    /// Where a damaged file was moved when the log was opened; nil if it was not damaged.
    public let damaged: String?
    let path: String
    let pool: DatabasePool
    private let retention: LogRetention
    private let now: @Sendable () -> Date
    private let clock: @Sendable () -> Instant
    private let bookkeeping = Locked(Bookkeeping())
    /// The number of the newest entry.
    private let newest = Locked(Int64(0))

    private struct Bookkeeping {
        /// About how many bytes the entries take.
        var bytes = 0
        /// The two clocks when the age of the entries was last looked at; nil before that.
        var look: (wall: Date, uptime: Instant)?
    }

    /// Opens the log in a file, or creates it.
    /// - Parameters:
    ///   - now: the wall clock.
    ///   - clock: the clock that is never set.
    public init(
        path: String, retention: LogRetention = LogRetention(), now: @escaping @Sendable () -> Date = { Date() },
        clock: @escaping @Sendable () -> Instant = { MonotonicClock.now }
    ) throws(StoreFailure) {
        let opened = try DatabaseFile.open(path, migrator: Self.migrator)
        self.path = path
        self.pool = opened.pool
        self.damaged = opened.setAside
        self.retention = retention
        self.now = now
        self.clock = clock
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
        migrator.registerMigration("results") { database in
            try database.execute(
                sql: """
                    CREATE TABLE results (name TEXT PRIMARY KEY, time REAL NOT NULL, body BLOB NOT NULL) WITHOUT ROWID;
                    """)
        }
        return migrator
    }()

    /// Reads the identity of the log and counts this start.
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
            // Entries may have been dropped; their numbers are not used again.
            let newest = try Int64.fetchOne(database, sql: "SELECT MAX(sequence) FROM log") ?? 0
            return max(newest, try Self.trimmed(database))
        }
    }

    public func append(_ entries: [LogEntry]) throws(StoreFailure) {
        guard let first = entries.first, let last = entries.last else { return }
        // Entries that were lost in a failure are missing for good, like those that were trimmed.
        let isGap = newest.withLock { first.sequence > $0 + 1 }
        let size: Int
        do {
            size = try pool.write { database in
                var bytes = 0
                if isGap { try Self.set(database, "trimmed", first.sequence - 1) }
                let log = try database.cachedStatement(
                    sql: "INSERT OR IGNORE INTO log VALUES (?, ?, ?, ?, ?, ?, ?, ?)")
                let set = try database.cachedStatement(
                    sql: "INSERT OR REPLACE INTO state VALUES (?, ?, ?, ?, ?, ?, ?, ?)")
                let remove = try database.cachedStatement(sql: "DELETE FROM state WHERE subject = ?")
                let count = try database.cachedStatement(
                    sql: "UPDATE meta SET value = value + ? WHERE key = 'bytes'")
                for entry in entries {
                    let timestamp = entry.timestamp.timeIntervalSince1970
                    try log.execute(arguments: [
                        entry.sequence, entry.incarnation, timestamp, entry.name, entry.subject,
                        entry.effect?.rawValue, entry.principal, entry.data,
                    ])
                    if database.changesCount > 0 { bytes += entry.size }
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
                try count.execute(arguments: [bytes])
                return bytes
            }
        } catch {
            throw DatabaseFile.failure(path, error)
        }
        newest.withLock { $0 = last.sequence }
        let uptime = clock()
        let isDue = bookkeeping.withLock { bookkeeping in
            bookkeeping.bytes += size
            let isLookDue = bookkeeping.look.map { uptime - $0.uptime >= Self.pause } ?? true
            return bookkeeping.bytes > retention.bytes || isLookDue
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

    /// How long the log waits between two looks at the age of its entries.
    private static let pause = Duration.seconds(3_600)
    /// By how many seconds the wall clock may run ahead of the other one between two looks. A clock that was set further
    /// ahead may be wrong, and is trusted only at the next look.
    private static let tolerance = 3_600.0

    /// Drops what is too old or too much: first changes of state, then events. What the clock was before the start is not
    /// known, so the first look drops nothing because of its age.
    func trim() throws(StoreFailure) {
        let (now, uptime) = (self.now(), clock())
        let last = bookkeeping.withLock { $0.look }
        let elapsed = last.map { uptime - $0.uptime }
        let isLookDue = elapsed.map { $0 >= Self.pause } ?? true
        var isTrusted = false
        if isLookDue, let last, let elapsed {
            isTrusted = now.timeIntervalSince(last.wall) <= elapsed.inSeconds + Self.tolerance
        }
        do {
            let bytes = try pool.write { [isTrusted] database in
                if isTrusted {
                    try Self.dropOldest(database, "effect IS NOT NULL", until: now - retention.stateSeconds)
                    try Self.dropOldest(database, "effect IS NULL", until: now - retention.eventSeconds)
                }
                let bytes = try Self.bytes(database)
                guard bytes > retention.bytes else { return bytes }
                let excess = bytes - (retention.bytes - retention.bytes / 16)
                let freed = try Self.dropOldest(database, "effect IS NOT NULL", bytes: excess)
                if freed < excess { _ = try Self.dropOldest(database, "TRUE", bytes: excess - freed) }
                return try Self.bytes(database)
            }
            try pool.writeWithoutTransaction { try $0.execute(sql: "PRAGMA incremental_vacuum") }
            bookkeeping.withLock { bookkeeping in
                bookkeeping.bytes = bytes
                if isLookDue { bookkeeping.look = (now, uptime) }
            }
        } catch {
            throw DatabaseFile.failure(path, error)
        }
    }

    /// Deletes the oldest entries of a kind, up to the first one that is newer than a time. The rest of the file is not
    /// read.
    private static func dropOldest(_ database: Database, _ condition: String, until time: Date) throws {
        var last: Int64?
        let rows = try Row.fetchCursor(
            database, sql: "SELECT sequence, timestamp FROM log WHERE \(condition) ORDER BY sequence")
        while let row = try rows.next(), (row["timestamp"] as Double) < time.timeIntervalSince1970 {
            last = row["sequence"]
        }
        if let last { try drop(database, "\(condition) AND sequence <= ?", [last]) }
    }

    /// Deletes the oldest entries of a kind.
    /// - Parameter bytes: how many bytes to delete at least, if there are that many.
    /// - Returns: how many bytes they took.
    private static func dropOldest(_ database: Database, _ condition: String, bytes: Int) throws -> Int {
        var (freed, last): (Int, Int64?) = (0, nil)
        let rows = try Row.fetchCursor(
            database, sql: "SELECT sequence, \(size) AS size FROM log WHERE \(condition) ORDER BY sequence")
        while freed < bytes, let row = try rows.next() {
            freed += row["size"] as Int
            last = row["sequence"]
        }
        guard let last else { return 0 }
        try drop(database, "\(condition) AND sequence <= ?", [last])
        return freed
    }

    /// Deletes entries, and records up to which number changes of state are now missing.
    private static func drop(_ database: Database, _ condition: String, _ arguments: StatementArguments) throws {
        let found = try Row.fetchOne(
            database, sql: "SELECT MAX(sequence) AS newest, SUM(\(size)) AS bytes FROM log WHERE \(condition)",
            arguments: arguments)
        guard let newest = found?["newest"] as Int64? else { return }
        try database.execute(sql: "DELETE FROM log WHERE \(condition)", arguments: arguments)
        try database.execute(
            sql: "UPDATE meta SET value = value - ? WHERE key = 'bytes'", arguments: [found?["bytes"] as Int? ?? 0])
        if newest > (try Self.trimmed(database)) { try Self.set(database, "trimmed", newest) }
    }

    /// About how many bytes an entry takes; see ``LogEntry/size``.
    private static let size = "(LENGTH(CAST(data AS BLOB)) + LENGTH(name) + LENGTH(subject) + 64)"

    /// About how many bytes the entries take. They are counted once; from then on the number is updated.
    private static func bytes(_ database: Database) throws -> Int {
        if let bytes = try Int.fetchOne(database, sql: "SELECT value FROM meta WHERE key = 'bytes'") { return bytes }
        let bytes = try Int.fetchOne(database, sql: "SELECT COALESCE(SUM(\(size)), 0) FROM log") ?? 0
        try set(database, "bytes", bytes)
        return bytes
    }
}

/// The results of commands.
extension SQLiteLocalStore {
    public func results(since: Date) throws(StoreFailure) -> [KeptResult] {
        do {
            let bodies = try pool.write { database in
                try database.execute(
                    sql: "DELETE FROM results WHERE time < ?", arguments: [since.timeIntervalSince1970])
                return try Data.fetchAll(database, sql: "SELECT body FROM results ORDER BY time")
            }
            // This version may not know what another version wrote.
            return bodies.compactMap { try? JSONDecoder().decode(KeptResult.self, from: $0) }
        } catch {
            throw DatabaseFile.failure(path, error)
        }
    }

    public func keep(_ result: KeptResult) throws(StoreFailure) {
        do {
            let body = try JSONEncoder().encode(result)
            try pool.write { database in
                // Results that can no longer be asked for are removed with the next one, so the table stays small.
                let oldest = result.time.timeIntervalSince1970 - CommandResults.longestLife
                try database.execute(sql: "DELETE FROM results WHERE time < ?", arguments: [oldest])
                try database.execute(
                    sql: "INSERT OR REPLACE INTO results VALUES (?, ?, ?)",
                    arguments: [result.name, result.time.timeIntervalSince1970, body])
            }
        } catch {
            throw DatabaseFile.failure(path, error)
        }
    }

    public func forget(_ result: KeptResult) throws(StoreFailure) {
        do {
            try pool.write {
                try $0.execute(sql: "DELETE FROM results WHERE name = ?", arguments: [result.name])
            }
        } catch {
            throw DatabaseFile.failure(path, error)
        }
    }
}
