import GRDB
import SQLiteFiles

/// Opens the SQLite files of the home's stores.
enum DatabaseFile {
    /// Opens or creates the file. A file that SQLite cannot read is set aside, under a name with the time.
    static func open(
        _ path: String, migrator: DatabaseMigrator, synchronous: SQLiteFile.Synchronous = .normal
    ) throws(StoreFailure) -> SQLiteFile.Opened {
        do throws(SQLiteFault) {
            return try SQLiteFile.open(path, migrator: migrator, synchronous: synchronous)
        } catch {
            throw StoreFailure(path: error.path, reason: error.reason)
        }
    }

    /// The failure of a store for an error of SQLite.
    static func failure(_ path: String, _ error: any Error) -> StoreFailure {
        if let failure = error as? StoreFailure { return failure }
        let fault = SQLiteFile.fault(path, error)
        return StoreFailure(path: fault.path, reason: fault.reason)
    }
}
