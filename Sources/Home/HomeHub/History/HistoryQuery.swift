import Foundation
import HomeTypes

/// A query for items of the history.
public struct HistoryQuery: Sendable, Hashable {
    /// The maximum number of items in a page.
    public static let maximumPageSize = 200

    /// Only these devices; nil for all.
    public var devices: Set<String>?
    /// Only these kinds; nil for all.
    public var kinds: Set<HistoryRecord.Kind>?
    /// Only events with these names; nil for all items.
    public var events: Set<String>?
    /// Only what happened then or later.
    public var since: Date?
    /// Only what happened earlier.
    public var until: Date?
    /// Print at most this many items.
    public var pageSize: Int
    /// Where an earlier page ended.
    public var cursor: String?

    /// Asks for everything.
    public init(pageSize: Int = 50) {
        self.pageSize = pageSize
    }
}

/// Where a page ended. To clients it is an opaque string.
///
/// It also names the newest item at the time of the first page. An item that is added later with an earlier time,
/// because the clock was set back, does not appear on the following pages.
struct HistoryCursor: Hashable, Sendable {
    /// Names the history; one that replaces a damaged one has another name.
    var history: String
    /// The time of the last item, in milliseconds since 1970.
    var time: Int64
    /// The number of the last item.
    var id: Int64
    /// The number of the newest item when the first page was read.
    var newest: Int64

    init(history: String, time: Int64, id: Int64, newest: Int64) {
        self.history = history
        self.time = time
        self.id = id
        self.newest = newest
    }

    /// Reads a cursor; nil for a text that is not a cursor of a history.
    init?(_ text: String) {
        guard text.utf8.count <= 128 else { return nil }
        let base = text.replacing("-", with: "+").replacing("_", with: "/")
        let padded = base + String(repeating: "=", count: (4 - base.utf8.count % 4) % 4)
        guard let data = Data(base64Encoded: padded), let line = String(bytes: data, encoding: .utf8) else {
            return nil
        }
        let parts = line.split(separator: " ", omittingEmptySubsequences: false)
        guard parts.count == 4, !parts[0].isEmpty, let time = Int64(parts[1]), let id = Int64(parts[2]), id >= 0,
            let newest = Int64(parts[3]), newest >= id
        else { return nil }
        self.init(history: String(parts[0]), time: time, id: id, newest: newest)
    }

    /// The cursor as clients hold it. It does not need escaping in a query.
    var text: String {
        Data("\(history) \(time) \(id) \(newest)".utf8).base64EncodedString()
            .replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
    }
}
