import Foundation
import GatewayClient
import HomeTypes

/// A query for the history of a structure. Each filter returns a narrower query.
public struct HistoryQuery: Sendable {
    let model: HomeModel
    let structureID: String
    private var objectIDs: [String]?
    private var kinds: [HistoryRecord.Kind]?
    private var events: [String]?
    private var start: Date?
    private var end: Date?

    init(model: HomeModel, structureID: String) {
        self.model = model
        self.structureID = structureID
    }

    /// Only items of these devices, by their identifiers.
    public func objects(_ ids: some Sequence<String>) -> HistoryQuery {
        var query = self
        query.objectIDs = Array(ids)
        return query
    }

    /// Only items of these kinds, for example `.kinds(.stateChange, .recording)`.
    public func kinds(_ kinds: HistoryItem.Kind...) -> HistoryQuery { self.kinds(kinds) }

    /// Only items of these kinds.
    public func kinds(_ kinds: some Sequence<HistoryItem.Kind>) -> HistoryQuery {
        var query = self
        let wanted = Array(kinds)
        query.kinds = query.kinds?.filter(wanted.contains) ?? wanted
        return query
    }

    /// Only what cameras have seen. Several calls together ask for the events of all of them.
    /// - Parameter filters: names such as `EVENT_TYPE_MOTION`; none for all events. A name that cameras of this gateway
    ///   do not report adds nothing.
    public func cameraEvents(_ filters: String...) -> HistoryQuery { cameraEvents(filters) }

    /// Only what cameras have seen. Several calls together ask for the events of all of them.
    public func cameraEvents(_ filters: [String]) -> HistoryQuery {
        var query = kinds(.cameraEvent, .press)
        let wanted =
            filters.isEmpty ? CameraHistoryEvents.names : filters.flatMap(CameraHistoryEvents.events(ofFilter:))
        let known = query.events ?? []
        query.events = known + wanted.filter { !known.contains($0) }
        return query
    }

    /// Only what began within a time.
    /// - Parameters:
    ///   - start: not earlier than this; nil for no limit.
    ///   - end: earlier than this; nil for no limit.
    public func date(start: Date? = nil, end: Date? = nil) -> HistoryQuery {
        var query = self
        query.start = start
        query.end = end
        return query
    }

    /// The pages, newest items first. The first page is fetched when an iterator asks for it.
    /// - Parameter pageSize: the maximum number of items in a page, up to 200.
    public func execute(pageSize: UInt) -> HistoryPages { execute(pageSize: Int(clamping: pageSize)) }

    /// The pages, newest items first. The first page is fetched when an iterator asks for it.
    /// - Parameter pageSize: the maximum number of items in a page, up to 200.
    public func execute(pageSize: Int = 50) -> HistoryPages {
        HistoryPages(
            model: model, path: path(pageSize),
            isEmpty: [objectIDs?.isEmpty, kinds?.isEmpty, events?.isEmpty].contains(true))
    }

    private func path(_ pageSize: Int) -> String {
        var parts = [
            "structure=\(GatewayConnection.segment(structureID))", "pageSize=\(min(max(1, pageSize), 200))",
        ]
        func add(_ name: String, _ values: [String]?) {
            guard let values else { return }
            parts.append("\(name)=\(values.map(GatewayConnection.segment).joined(separator: ","))")
        }
        add("device", objectIDs)
        add("kind", kinds.map { $0.map(\.rawValue) })
        add("event", events)
        add("since", start.map { [Self.text($0)] })
        add("until", end.map { [Self.text($0)] })
        return "/v1/history?\(parts.joined(separator: "&"))"
    }

    private static func text(_ date: Date) -> String {
        let formatter = ISO8601DateFormatter()
        formatter.formatOptions = [.withInternetDateTime, .withFractionalSeconds]
        return formatter.string(from: date)
    }
}
