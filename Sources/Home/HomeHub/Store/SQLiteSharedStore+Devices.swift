import Foundation
import GRDB

extension SQLiteSharedStore {
    /// The devices in a file, including decommissioned ones; empty if the file does not exist. Another process may have
    /// the file open. Nothing is written to it.
    public static func devices(inFile path: String) throws(StoreFailure) -> [DeviceRecord] {
        guard FileManager.default.fileExists(atPath: path) else { return [] }
        do {
            var configuration = Configuration()
            configuration.readonly = true
            configuration.busyMode = .timeout(5)
            let queue = try DatabaseQueue(path: path, configuration: configuration)
            let bodies = try queue.read { database in
                try String.fetchAll(
                    database, sql: "SELECT body FROM objects WHERE kind = ? ORDER BY id",
                    arguments: [HomeDirectory.Kind.device])
            }
            // As at the start of the gateway, a newer version may have written one that this version cannot read.
            return bodies.compactMap { try? JSONDecoder.home.decode(DeviceRecord.self, from: Data($0.utf8)) }
        } catch {
            throw DatabaseFile.failure(path, error)
        }
    }
}
