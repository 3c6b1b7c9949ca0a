import Foundation
import GRDB
import Glibc

/// Opens a SQLite file, and replaces one that is damaged.
public enum SQLiteFile {
    /// An open file, and what had to be done to open it.
    public struct Opened: Sendable {
        /// The connections to it.
        public let pool: DatabasePool
        /// Where a file that could not be used went; nil when the file could be used.
        public let setAside: String?
    }

    /// What becomes of a file that a newer version wrote.
    public enum Newer: Sendable {
        /// It is opened as it is.
        case isOpened
        /// It is set aside: what is in it can be made again.
        case goesAside
    }

    /// What a commit survives.
    public enum Synchronous: String, Sendable {
        /// The end of the process. A power cut may take the newest commits, but damages nothing.
        case normal = "NORMAL"
        /// A power cut, too. Each commit waits for the disk.
        case full = "FULL"
    }

    /// How long a statement waits for another program that holds the file, in seconds.
    static let busyTimeout = 5.0

    /// Opens or makes the file. One that SQLite cannot read is set aside, under a name with the time.
    /// - Parameter cacheKilobytes: How much of the file each connection keeps in memory.
    public static func open(
        _ path: String, migrator: DatabaseMigrator, newer: Newer = .isOpened, cacheKilobytes: Int = 512,
        synchronous: Synchronous = .normal
    ) throws(SQLiteFault) -> Opened {
        do {
            return Opened(pool: try Self.attempt(path, migrator, newer, cacheKilobytes, synchronous), setAside: nil)
        } catch let error where Self.isDamage(error) {
            let time = Int(Date().timeIntervalSince1970)
            let aside = "\(path).\(error is IsNewer ? "newer" : "damaged")-\(time)"
            for suffix in ["", "-wal", "-shm"] { rename(path + suffix, aside + suffix) }
            do {
                return Opened(
                    pool: try Self.attempt(path, migrator, newer, cacheKilobytes, synchronous), setAside: aside)
            } catch {
                throw Self.fault(path, error)
            }
        } catch {
            throw Self.fault(path, error)
        }
    }

    private struct IsNewer: Error {}

    private static func attempt(
        _ path: String, _ migrator: DatabaseMigrator, _ newer: Newer, _ cacheKilobytes: Int,
        _ synchronous: Synchronous
    ) throws -> DatabasePool {
        // Only its owner may read it; the files beside it inherit that.
        let descriptor = Glibc.open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0o600)
        guard descriptor >= 0 else {
            throw SQLiteFault(path: path, reason: "cannot be written: \(String(cString: strerror(errno)))")
        }
        close(descriptor)
        var configuration = Configuration()
        configuration.maximumReaderCount = 2
        // Another program may hold the file for a moment: one that copies it, or an owner who looks into it.
        configuration.busyMode = .timeout(busyTimeout)
        configuration.prepareDatabase { database in
            try database.execute(sql: "PRAGMA cache_size = -\(cacheKilobytes)")
            guard !database.configuration.readonly else { return }
            try database.execute(
                sql: """
                    PRAGMA auto_vacuum = INCREMENTAL;
                    PRAGMA synchronous = \(synchronous.rawValue);
                    PRAGMA journal_size_limit = 4194304;
                    """)
        }
        let pool = try DatabasePool(path: path, configuration: configuration)
        // The pool sets NORMAL for its writer when it switches to WAL, after the database was prepared.
        try pool.writeWithoutTransaction { try $0.execute(sql: "PRAGMA synchronous = \(synchronous.rawValue)") }
        let verdict = try pool.read { try String.fetchOne($0, sql: "PRAGMA quick_check(1)") }
        guard verdict == "ok" else { throw DatabaseError(resultCode: .SQLITE_CORRUPT, message: verdict) }
        if newer == .goesAside, try pool.read(migrator.hasBeenSuperseded) { throw IsNewer() }
        try migrator.migrate(pool)
        return pool
    }

    private static func isDamage(_ error: any Error) -> Bool {
        if error is IsNewer { return true }
        guard let code = (error as? DatabaseError)?.resultCode else { return false }
        return code == .SQLITE_CORRUPT || code == .SQLITE_NOTADB
    }

    /// The fault for an error of SQLite.
    public static func fault(_ path: String, _ error: any Error) -> SQLiteFault {
        if let fault = error as? SQLiteFault { return fault }
        guard let error = error as? DatabaseError else { return SQLiteFault(path: path, reason: "\(error)") }
        let reason =
            switch error.resultCode {
            case .SQLITE_FULL: "the disk is full"
            case .SQLITE_IOERR: "the disk reports an error (\(error.extendedResultCode.rawValue))"
            case .SQLITE_CORRUPT, .SQLITE_NOTADB: "is damaged; the next start puts it aside and begins a new one"
            case .SQLITE_READONLY, .SQLITE_CANTOPEN, .SQLITE_PERM: "cannot be written; check who owns the state folder"
            default: error.message ?? "SQLite reports \(error.resultCode.rawValue)"
            }
        return SQLiteFault(path: path, reason: reason)
    }
}

/// Why a SQLite file cannot be used.
public struct SQLiteFault: Error, Sendable, Equatable {
    /// The file.
    public var path: String
    /// What is wrong, and what to do about it.
    public var reason: String

    /// Describes a fault.
    public init(path: String, reason: String) {
        self.path = path
        self.reason = reason
    }
}
