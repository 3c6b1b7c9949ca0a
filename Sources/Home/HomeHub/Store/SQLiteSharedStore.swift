import GRDB
import SQLiteFiles

/// What exists in the home, in a SQLite file of this gateway.
public final class SQLiteSharedStore: SharedStore {
    /// The file in the state folder.
    public static let fileName = "shared.sqlite"

    public let home: String
    /// Where a damaged file was moved when the store was opened; nil if it was not damaged.
    public let damaged: String?
    private let path: String
    private let pool: DatabasePool
    private let watchers = SharedStoreWatchers()

    /// Opens the store in a file, or creates it with a new home.
    public init(path: String) throws(StoreFailure) {
        // A power cut must not bring back a camera that was switched off or a token that was revoked.
        let opened = try DatabaseFile.open(path, migrator: Self.migrator, synchronous: .full)
        self.path = path
        self.pool = opened.pool
        self.damaged = opened.setAside
        do {
            self.home = try opened.pool.write { database in
                try database.execute(
                    sql: "INSERT OR IGNORE INTO objects (kind, id, version, body) VALUES ('home', 'home', 1, ?)",
                    arguments: [LogIdentity.newName()])
                return try String.fetchOne(database, sql: "SELECT body FROM objects WHERE kind = 'home'") ?? ""
            }
        } catch {
            throw DatabaseFile.failure(path, error)
        }
    }

    private static let migrator: DatabaseMigrator = {
        var migrator = DatabaseMigrator()
        migrator.registerMigration("objects") { database in
            try database.execute(
                sql: """
                    CREATE TABLE objects (
                        kind TEXT NOT NULL, id TEXT NOT NULL, version INTEGER NOT NULL, body TEXT NOT NULL,
                        PRIMARY KEY (kind, id)) WITHOUT ROWID;
                    """)
        }
        migrator.registerMigration("removed objects") { database in
            try database.execute(sql: "ALTER TABLE objects ADD COLUMN removed INTEGER NOT NULL DEFAULT 0")
        }
        return migrator
    }()

    public func object(_ kind: String, _ id: String) throws(StoreFailure) -> SharedObject? {
        try fetch("SELECT * FROM objects WHERE kind = ? AND id = ? AND NOT removed", [kind, id]).first
    }

    public func objects(_ kind: String) throws(StoreFailure) -> [SharedObject] {
        try fetch("SELECT * FROM objects WHERE kind = ? AND NOT removed ORDER BY id", [kind])
    }

    public func write(
        _ kind: String, _ id: String, _ body: String, expecting version: Int64
    ) throws(StoreFailure) -> Int64? {
        try change(kind) { database in
            if version > 0 {
                return try Int64.fetchOne(
                    database.cachedStatement(
                        sql: """
                            UPDATE objects SET body = ?, version = version + 1
                            WHERE kind = ? AND id = ? AND version = ? AND NOT removed RETURNING version
                            """),
                    arguments: [body, kind, id, version])
            }
            return try Int64.fetchOne(
                database,
                sql: """
                    INSERT INTO objects (kind, id, version, body) VALUES (?, ?, 1, ?)
                    ON CONFLICT DO UPDATE SET body = excluded.body, version = version + 1, removed = 0 WHERE removed
                    RETURNING version
                    """,
                arguments: [kind, id, body])
        }
    }

    public func delete(_ kind: String, _ id: String, expecting version: Int64) throws(StoreFailure) -> Int64? {
        try change(kind) { database in
            try Int64.fetchOne(
                database,
                sql: """
                    UPDATE objects SET body = '', version = version + 1, removed = 1
                    WHERE kind = ? AND id = ? AND version = ? AND NOT removed RETURNING version
                    """,
                arguments: [kind, id, version])
        }
    }

    public func watch(_ kind: String) -> AsyncStream<Void> { watchers.watch(kind) }

    /// SQLite's number for what a commit survives; 2 includes a power cut.
    package func durability() throws(StoreFailure) -> Int {
        do {
            return try pool.writeWithoutTransaction { try Int.fetchOne($0, sql: "PRAGMA synchronous") } ?? 0
        } catch {
            throw DatabaseFile.failure(path, error)
        }
    }

    private func change(_ kind: String, _ body: (Database) throws -> Int64?) throws(StoreFailure) -> Int64? {
        let version: Int64?
        do {
            version = try pool.write(body)
        } catch {
            throw DatabaseFile.failure(path, error)
        }
        if version != nil { watchers.wake(kind) }
        return version
    }

    private func fetch(_ sql: String, _ arguments: StatementArguments) throws(StoreFailure) -> [SharedObject] {
        do {
            return try pool.read { database in
                try Row.fetchAll(database.cachedStatement(sql: sql), arguments: arguments).map {
                    SharedObject(id: $0["id"], version: $0["version"], body: $0["body"])
                }
            }
        } catch {
            throw DatabaseFile.failure(path, error)
        }
    }
}
