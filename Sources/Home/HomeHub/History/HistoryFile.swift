import Foundation
import GRDB
import SQLiteFiles

/// The SQLite file of the history. All methods block until the disk has responded.
final class HistoryFile: Sendable {
    /// The history's name. A file that replaces a damaged one has another.
    let name: String
    /// The number of the next item.
    let nextID: Int64
    let path: String
    let database: any DatabaseWriter

    /// Opens or begins a history.
    init(_ database: any DatabaseWriter, path: String) throws(StoreFailure) {
        self.path = path
        self.database = database
        do {
            (self.name, self.nextID) = try database.write { database in
                if let name = try String.fetchOne(database, sql: "SELECT value FROM meta WHERE key = 'name'") {
                    let last = try Int64.fetchOne(database, sql: "SELECT seq FROM sqlite_sequence WHERE name = 'item'")
                    return (name, (last ?? 0) + 1)
                }
                let name = String(LogIdentity.newName().prefix(8))
                try database.execute(sql: "INSERT INTO meta VALUES ('name', ?)", arguments: [name])
                return (name, 1)
            }
        } catch {
            throw DatabaseFile.failure(path, error)
        }
    }

    static let migrator: DatabaseMigrator = {
        var migrator = DatabaseMigrator()
        migrator.registerMigration("history") { database in
            // Numbers of items are not used again, because cursors name them. The second index finds the rare items
            // among many changes of state.
            try database.execute(
                sql: """
                    CREATE TABLE meta (key TEXT PRIMARY KEY, value) WITHOUT ROWID;
                    CREATE TABLE name (id INTEGER PRIMARY KEY, text TEXT NOT NULL UNIQUE);
                    CREATE TABLE item (
                        id INTEGER PRIMARY KEY AUTOINCREMENT, time INTEGER NOT NULL, ended INTEGER,
                        device INTEGER NOT NULL, kind INTEGER NOT NULL, endpoint INTEGER, trait INTEGER,
                        name INTEGER NOT NULL, old TEXT, new TEXT, reference TEXT);
                    CREATE INDEX item_time ON item (time);
                    CREATE INDEX item_event ON item (time) WHERE kind <> 2;
                    CREATE INDEX item_device ON item (device, time);
                    CREATE INDEX item_open ON item (reference) WHERE reference IS NOT NULL;
                    """)
        }
        return migrator
    }()

    // MARK: Writing

    /// Does everything or nothing.
    func perform(_ operations: [HistoryOperation]) throws(StoreFailure) {
        do {
            try database.write { database in
                var names = Names(database)
                let insert = try database.cachedStatement(
                    sql: "INSERT OR IGNORE INTO item VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)")
                let extend = try database.cachedStatement(sql: "UPDATE item SET new = ?, ended = ? WHERE id = ?")
                let end = try database.cachedStatement(
                    sql: """
                        UPDATE item SET ended = MAX(time, ?), reference = NULL WHERE reference = ? AND device = ?
                        """)
                for operation in operations {
                    switch operation {
                    case .insert(let row):
                        try insert.execute(arguments: [
                            row.id, row.time, row.ended, try names.id(row.device), row.kind.rawValue,
                            row.endpoint.map { Int($0) }, try row.trait.map { try names.id($0) },
                            try names.id(row.name), row.old, row.new, row.reference,
                        ])
                    case .extend(let id, let new, let ended): try extend.execute(arguments: [new, ended, id])
                    case .end(let reference, let device, let time):
                        try end.execute(arguments: [time, reference, try names.id(device)])
                    }
                }
            }
        } catch {
            throw DatabaseFile.failure(path, error)
        }
    }

    /// The numbers of names within one transaction.
    private struct Names {
        private let database: Database
        private var known: [String: Int64] = [:]

        init(_ database: Database) { self.database = database }

        mutating func id(_ text: String) throws -> Int64 {
            if let id = known[text] { return id }
            let find = try database.cachedStatement(sql: "SELECT id FROM name WHERE text = ?")
            if let id = try Int64.fetchOne(find, arguments: [text]) {
                known[text] = id
                return id
            }
            try database.execute(sql: "INSERT INTO name (text) VALUES (?)", arguments: [text])
            let id = database.lastInsertedRowID
            known[text] = id
            return id
        }
    }

    func reading<Value>(_ body: (Database) throws -> Value) throws(StoreFailure) -> Value {
        do { return try database.read(body) } catch { throw DatabaseFile.failure(path, error) }
    }
}
