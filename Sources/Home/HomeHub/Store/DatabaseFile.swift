import Foundation
import GRDB
import Glibc

/// Opens a SQLite file, and replaces one that is damaged.
enum DatabaseFile {
    /// The file of a store, and what had to be done to open it.
    struct Opened {
        let pool: DatabasePool
        /// Where a damaged file went; nil when nothing was damaged.
        let damaged: String?
    }

    /// Opens or makes the file. One that SQLite cannot read goes aside, under a name with the time.
    static func open(_ path: String, migrator: DatabaseMigrator) throws(StoreFailure) -> Opened {
        do {
            return Opened(pool: try Self.attempt(path, migrator), damaged: nil)
        } catch let error where Self.isDamage(error) {
            let aside = "\(path).damaged-\(Int(Date().timeIntervalSince1970))"
            for suffix in ["", "-wal", "-shm"] { rename(path + suffix, aside + suffix) }
            do {
                return Opened(pool: try Self.attempt(path, migrator), damaged: aside)
            } catch {
                throw Self.failure(path, error)
            }
        } catch {
            throw Self.failure(path, error)
        }
    }

    private static func attempt(_ path: String, _ migrator: DatabaseMigrator) throws -> DatabasePool {
        // Only its owner may read it; the files beside it inherit that.
        let descriptor = Glibc.open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0o600)
        guard descriptor >= 0 else {
            throw StoreFailure(path: path, reason: "cannot be written: \(String(cString: strerror(errno)))")
        }
        close(descriptor)
        var configuration = Configuration()
        configuration.maximumReaderCount = 2
        configuration.prepareDatabase { database in
            try database.execute(sql: "PRAGMA cache_size = -512")
            guard !database.configuration.readonly else { return }
            // A commit survives the end of the process. A power cut may take the newest, but damages nothing.
            try database.execute(
                sql: """
                    PRAGMA auto_vacuum = INCREMENTAL;
                    PRAGMA synchronous = NORMAL;
                    PRAGMA journal_size_limit = 4194304;
                    """)
        }
        let pool = try DatabasePool(path: path, configuration: configuration)
        let verdict = try pool.read { try String.fetchOne($0, sql: "PRAGMA quick_check(1)") }
        guard verdict == "ok" else { throw DatabaseError(resultCode: .SQLITE_CORRUPT, message: verdict) }
        try migrator.migrate(pool)
        return pool
    }

    private static func isDamage(_ error: any Error) -> Bool {
        guard let code = (error as? DatabaseError)?.resultCode else { return false }
        return code == .SQLITE_CORRUPT || code == .SQLITE_NOTADB
    }

    /// The failure of a store for an error of SQLite.
    static func failure(_ path: String, _ error: any Error) -> StoreFailure {
        if let failure = error as? StoreFailure { return failure }
        guard let error = error as? DatabaseError else { return StoreFailure(path: path, reason: "\(error)") }
        let reason =
            switch error.resultCode {
            case .SQLITE_FULL: "the disk is full"
            case .SQLITE_IOERR: "the disk reports an error (\(error.extendedResultCode.rawValue))"
            case .SQLITE_CORRUPT, .SQLITE_NOTADB: "is damaged; the next start puts it aside and begins a new one"
            case .SQLITE_READONLY, .SQLITE_CANTOPEN, .SQLITE_PERM: "cannot be written; check who owns the state folder"
            default: error.message ?? "SQLite reports \(error.resultCode.rawValue)"
            }
        return StoreFailure(path: path, reason: reason)
    }
}
