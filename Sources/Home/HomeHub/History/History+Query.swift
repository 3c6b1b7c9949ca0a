import Foundation
import HomeTypes

/// Queries.
extension History {
    /// A page of the history.
    /// - Parameter sees: whether the caller may read a device.
    /// - Throws: `invalidArgument` for a cursor that the history did not issue, `unavailable` when the file cannot be
    ///   read.
    public func page(
        _ query: HistoryQuery, sees: @escaping @Sendable (String) -> Bool
    ) async throws(HomeError) -> HistoryRecordPage {
        var cursor: HistoryCursor?
        if let text = query.cursor {
            cursor = HistoryCursor(text)
            guard cursor?.history == file.name else {
                throw .invalidArgument(
                    "cursor: expected the value of cursor in an earlier response; leave it out to begin with the newest"
                )
            }
        }
        let size = min(max(1, query.pageSize), HistoryQuery.maximumPageSize)
        let after = cursor
        let (rows, newest) = try await read { (file) throws(StoreFailure) -> ([HistoryRow], Int64) in
            var newest = after?.newest ?? 0
            // Before the devices: whatever a device that is not among them has is newer, and is not on the page.
            if after == nil { newest = try file.newest() }
            let known = try file.devices()
            let allowed = known.filter { query.devices?.contains($0) != false && sees($0) }
            let rows = try file.items(
                HistoryFile.Request(
                    devices: allowed.count == known.count ? nil : Set(allowed), kinds: query.kinds,
                    events: query.events, since: query.since.map(Self.milliseconds),
                    until: query.until.map(Self.milliseconds), newest: newest, after: after, limit: size + 1))
            return (rows, newest)
        }
        let shown = rows.prefix(size)
        var page = HistoryRecordPage(items: shown.map(item))
        if rows.count > size, let last = shown.last {
            page.cursor =
                HistoryCursor(history: file.name, time: last.time, id: last.id, newest: newest).text
        }
        return page
    }

    /// What a caller can ask for.
    /// - Parameter sees: whether the caller may read a device.
    public func filters(sees: @escaping @Sendable (String) -> Bool) async throws(HomeError) -> HistoryContents {
        try await read { (file) throws(StoreFailure) -> HistoryContents in
            let devices = try file.devices().filter(sees)
            let extent = try file.extent(of: Set(devices))
            return HistoryContents(devices: devices, events: extent.events, oldest: extent.oldest.map(Self.date))
        }
    }

    private func item(_ row: HistoryRow) -> HistoryRecord {
        var item = HistoryRecord(
            id: "h\(file.name)-\(row.id)", kind: row.kind.kind, deviceID: row.device, timestamp: Self.date(row.time))
        item.endpoint = row.endpoint
        item.trait = row.trait
        item.endTimestamp = row.ended.map(Self.date)
        if row.kind == .stateChange, row.isAttribute {
            item.attribute = row.name
            item.from = row.old.flatMap(Self.value)
            item.to = row.new.flatMap(Self.value)
        } else {
            item.event = row.name
        }
        return item
    }

    private static func value(_ text: String) -> JSONObject.Value? {
        try? JSONDecoder.home.decode(JSONObject.Value.self, from: Data(text.utf8))
    }

    static func milliseconds(_ date: Date) -> Int64 { Int64((date.timeIntervalSince1970 * 1_000).rounded()) }

    static func date(_ milliseconds: Int64) -> Date { Date(timeIntervalSince1970: Double(milliseconds) / 1_000) }
}

extension HistoryRow {
    /// Whether it is a change of an attribute. Its values before and after are never both null.
    var isAttribute: Bool { old != nil || new != nil }
}
