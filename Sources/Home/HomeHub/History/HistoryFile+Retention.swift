import Foundation
import GRDB

/// Keeps the history within its limits.
extension HistoryFile {
    /// How many items one transaction deletes.
    private static let step = 20_000

    /// How many items there are.
    func count() throws(StoreFailure) -> Int {
        try reading { try Int.fetchOne($0, sql: "SELECT COUNT(*) FROM item") ?? 0 }
    }

    /// Deletes what is older than a time, in milliseconds since 1970.
    /// - Returns: how many items are gone.
    func drop(before time: Int64) throws(StoreFailure) -> Int {
        try delete(at: .max, "SELECT id FROM item WHERE time < ? ORDER BY time LIMIT ?", [time])
    }

    /// Deletes the oldest items: changes of state first, so that a chatty sensor does not cost what cameras have seen.
    /// - Returns: how many items are gone.
    func drop(oldest count: Int) throws(StoreFailure) -> Int {
        let states = try delete(at: count, "SELECT id FROM item WHERE kind = 2 ORDER BY time LIMIT ?", [])
        if states == count { return states }
        return states + (try delete(at: count - states, "SELECT id FROM item ORDER BY time LIMIT ?", []))
    }

    private func delete(at most: Int, _ query: String, _ arguments: StatementArguments) throws(StoreFailure) -> Int {
        var deleted = 0
        do {
            while deleted < most {
                let limit = min(Self.step, most - deleted)
                let count = try database.write { database in
                    try database.execute(
                        sql: "DELETE FROM item WHERE id IN (\(query))", arguments: arguments + [limit])
                    return database.changesCount
                }
                deleted += count
                if count < limit { break }
            }
            return deleted
        } catch {
            throw DatabaseFile.failure(path, error)
        }
    }

    /// How many bytes the items take, without the free pages of the file.
    func bytes() throws(StoreFailure) -> Int {
        try reading { database in
            func number(_ name: String) throws -> Int { try Int.fetchOne(database, sql: "PRAGMA \(name)") ?? 0 }
            return try (number("page_count") - number("freelist_count")) * number("page_size")
        }
    }

    /// Gives free pages back to the disk.
    func shrink() throws(StoreFailure) {
        do {
            try database.writeWithoutTransaction { try $0.execute(sql: "PRAGMA incremental_vacuum") }
        } catch {
            throw DatabaseFile.failure(path, error)
        }
    }
}
