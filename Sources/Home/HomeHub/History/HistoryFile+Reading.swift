import Foundation
import GRDB
import HomeTypes

/// Reading the history.
extension HistoryFile {
    /// The maximum number of devices that are queried one by one. A query for more devices reads in the order of time.
    private static let few = 64

    /// What a query asks of the file.
    struct Request: Sendable {
        /// Nil for all devices.
        var devices: Set<String>?
        var kinds: Set<HistoryRecord.Kind>?
        var events: Set<String>?
        /// In milliseconds since 1970.
        var since: Int64?
        var until: Int64?
        /// The number of the newest item that counts. All pages of one reading have the same.
        var newest: Int64
        var after: HistoryCursor?
        var limit: Int
    }

    /// The number of the newest item.
    func newest() throws(StoreFailure) -> Int64 {
        try reading { try Int64.fetchOne($0, sql: "SELECT MAX(id) FROM item") ?? 0 }
    }

    /// The names of the devices that have items.
    func devices() throws(StoreFailure) -> [String] {
        // Jumps from one device to the next in the index.
        try reading { database in
            try String.fetchAll(
                database,
                sql: """
                    WITH RECURSIVE known(id) AS (
                        SELECT MIN(device) FROM item
                        UNION ALL SELECT (SELECT MIN(device) FROM item WHERE device > known.id)
                        FROM known WHERE known.id IS NOT NULL)
                    SELECT name.text FROM known JOIN name ON name.id = known.id ORDER BY name.text
                    """)
        }
    }

    /// When the oldest item of some devices happened, and which events they had.
    func extent(of devices: Set<String>) throws(StoreFailure) -> (oldest: Int64?, events: [String]) {
        try reading { database in
            var oldest: Int64?
            var events: Set<String> = []
            for device in devices {
                let id = try Int64.fetchOne(
                    database, sql: "SELECT id FROM name WHERE text = ?", arguments: [device])
                let first = try Int64.fetchOne(
                    database, sql: "SELECT MIN(time) FROM item WHERE device = ?", arguments: [id])
                if let first { oldest = min(oldest ?? first, first) }
            }
            let names = try Row.fetchAll(
                database,
                sql: """
                    SELECT DISTINCT device.text AS device, event.text AS event FROM item INDEXED BY item_event
                    JOIN name AS device ON device.id = item.device JOIN name AS event ON event.id = item.name
                    WHERE kind <> 2
                    """)
            for row in names where devices.contains(row["device"]) { events.insert(row["event"]) }
            return (oldest, events.sorted())
        }
    }

    /// The items of a request, newest first.
    func items(_ request: Request) throws(StoreFailure) -> [HistoryRow] {
        try reading { database in
            guard let devices = request.devices else { return try Self.fetch(database, request, nil) }
            var ids: [Int64] = []
            for device in devices {
                let id = try Int64.fetchOne(
                    database, sql: "SELECT id FROM name WHERE text = ?", arguments: [device])
                if let id { ids.append(id) }
            }
            if ids.count > Self.few { return try Self.fetch(database, request, "+item.device IN (\(Self.list(ids)))") }
            var rows: [HistoryRow] = []
            for id in ids { rows += try Self.fetch(database, request, "item.device = \(id)") }
            rows.sort { ($0.time, $0.id) > ($1.time, $1.id) }
            return Array(rows.prefix(request.limit))
        }
    }

    private static func list(_ numbers: [Int64]) -> String { numbers.map(String.init).joined(separator: ",") }

    private static func fetch(
        _ database: Database, _ request: Request, _ devices: String?
    ) throws -> [HistoryRow] {
        // The sign keeps SQLite from reading in the order of the numbers, which is not that of the times.
        var conditions: [String] = (devices.map { [$0] } ?? []) + ["+item.id <= ?"]
        var arguments: [any DatabaseValueConvertible] = [request.newest]
        if let since = request.since {
            conditions.append("item.time >= ?")
            arguments.append(since)
        }
        if let until = request.until {
            conditions.append("item.time < ?")
            arguments.append(until)
        }
        if let cursor = request.after {
            conditions.append("(item.time, item.id) < (?, ?)")
            arguments += [cursor.time, cursor.id]
        }
        if let kinds = request.kinds {
            let numbers = kinds.compactMap { HistoryRow.Kind($0) }
            // The same words as in the index; only then does SQLite use it.
            if !numbers.contains(.stateChange) { conditions.append("item.kind <> 2") }
            conditions.append("item.kind IN (\(Self.list(numbers.map { Int64($0.rawValue) })))")
        }
        if let events = request.events {
            conditions.append(
                "item.name IN (SELECT id FROM name WHERE text IN (\(events.map { _ in "?" }.joined(separator: ","))))")
            arguments += events.sorted() as [any DatabaseValueConvertible]
        }
        let condition = "WHERE \(conditions.joined(separator: " AND "))"
        arguments.append(request.limit)
        let statement = try database.makeStatement(
            sql: """
                SELECT item.*, device.text AS device_text, trait.text AS trait_text, label.text AS name_text
                FROM item CROSS JOIN name AS device ON device.id = item.device
                LEFT JOIN name AS trait ON trait.id = item.trait CROSS JOIN name AS label ON label.id = item.name
                \(condition) ORDER BY item.time DESC, item.id DESC LIMIT ?
                """)
        return try Row.fetchAll(statement, arguments: StatementArguments(arguments)).compactMap { row in
            guard let kind = HistoryRow.Kind(rawValue: row["kind"]) else { return nil }
            return HistoryRow(
                id: row["id"], time: row["time"], ended: row["ended"], device: row["device_text"], kind: kind,
                endpoint: (row["endpoint"] as Int?).flatMap(UInt16.init(exactly:)), trait: row["trait_text"],
                name: row["name_text"], old: row["old"], new: row["new"])
        }
    }
}
