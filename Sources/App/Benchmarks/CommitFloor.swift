import DatagramPort
import GRDB
import SQLiteFiles
import Transport

/// The floor of everything that is on the disk before the next thing happens: transactions of a bare SQLite file, with one
/// row each, that survive a power cut.
struct CommitFloor {
    private let pool: DatabasePool

    init(path: String) throws {
        var migrator = DatabaseMigrator()
        migrator.registerMigration("row") { try $0.execute(sql: "CREATE TABLE row (data BLOB NOT NULL)") }
        pool = try SQLiteFile.open(path, migrator: migrator, synchronous: .full).pool
    }

    /// Measures transactions, in microseconds.
    func measure(bytes: Int, count: Int) throws -> [Double] {
        let text = String(repeating: "x", count: bytes)
        return try (0..<count).map { _ in
            let start = MonotonicClock.now
            try pool.write { try $0.cachedStatement(sql: "INSERT INTO row VALUES (?)").execute(arguments: [text]) }
            return Double((MonotonicClock.now - start).wholeNanoseconds) / 1e3
        }
    }
}
