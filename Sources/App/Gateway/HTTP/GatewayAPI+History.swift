import Foundation
import HTTPTypes
import HomeHub
import HomeTypes
import Hummingbird

/// What happened in the home.
extension GatewayAPI {
    func addHistoryRoutes(to router: Router<GatewayRequestContext>) {
        router.get("/v1/history") { request, context in
            let access = try authorization(context).access
            let place = try await historyPlace(request, access)
            var query = HistoryQuery(
                pageSize: try RecordingQueries.number(
                    "pageSize", request, in: 1...HistoryQuery.maximumPageSize, otherwise: 50))
            query.devices = place.devices
            query.kinds = try Self.list("kind", request).map { try Set($0.map(Self.kind)) }
            query.events = try Self.list("event", request).map(Set.init)
            query.since = try Self.date("since", request)
            query.until = try Self.date("until", request)
            query.cursor = request.uri.queryParameters["cursor"].map(String.init)
            var page = try await hub.history(
                query, structure: place.structure, room: place.room, access: access)
            page.items = await HistoryLinks(recordings: recordingAccess, pictures: pictures) { [hub] device in
                access.permits(.media, hub.directory.device(device))
            }.added(to: page.items)
            return try JSONBody.response(page)
        }
        router.get("/v1/history/filters") { request, context in
            let access = try authorization(context).access
            let place = try await historyPlace(request, access)
            return try JSONBody.response(await hub.historyFilters(structure: place.structure, access: access))
        }
    }

    /// The part of the home that a query is about.
    private struct HistoryPlace {
        var devices: Set<String>?
        var structure: String?
        var room: String?
    }

    /// The part of the home that a query is about. What the caller may not know of looks as if it did not exist.
    private func historyPlace(_ request: Request, _ access: Access) async throws(HomeError) -> HistoryPlace {
        func require(_ object: Access.Object, _ name: String, orElse failure: HomeError) throws(HomeError) {
            guard access.sees(object) else { throw failure }
            guard access.permits(.read, object) else {
                throw .notGranted(
                    "the token does not have the scope read for \(name.prefix(64).debugDescription)")
            }
        }
        var place = HistoryPlace()
        if let names = try Self.list("device", request) {
            place.devices = []
            for name in names {
                let object = hub.directory.device(name)
                guard case .device(let id, .some) = object else { throw HomeHub.unknownDevice(name) }
                try require(object, name, orElse: HomeHub.unknownDevice(name))
                place.devices?.insert(id)
            }
        }
        if let structure = request.uri.queryParameters["structure"].map(String.init) {
            try require(.structure(structure), structure, orElse: HomeDirectory.unknownStructure(structure))
            _ = try await hub.structure(structure)
            place.structure = structure
        }
        if let room = request.uri.queryParameters["room"].map(String.init) {
            let structure = try await hub.room(room).value.structureID
            try require(.structure(structure), room, orElse: HomeDirectory.unknownRoom(room))
            place.room = room
        }
        return place
    }

    /// The words of a list with commas; nil when the query does not have it.
    private static func list(_ name: String, _ request: Request) throws(HomeError) -> [String]? {
        guard let text = request.uri.queryParameters[name[...]] else { return nil }
        let words = text.split(separator: ",", omittingEmptySubsequences: false).map(String.init)
        guard words.count <= 100, words.allSatisfy({ (1...128).contains($0.utf8.count) }) else {
            throw .invalidArgument("\(name): expected up to 100 values with commas between them")
        }
        return words
    }

    private static func kind(_ word: String) throws(HomeError) -> HistoryRecord.Kind {
        guard let kind = HistoryRecord.Kind.allCases.first(where: { $0.rawValue == word }) else {
            let words = HistoryRecord.Kind.allCases.map(\.rawValue).joined(separator: ", ")
            throw .invalidArgument("kind: expected one of \(words), or several with commas between them")
        }
        return kind
    }

    private static func date(_ name: String, _ request: Request) throws(HomeError) -> Date? {
        try RecordingQueries.time(name, request).map { Date(timeIntervalSince1970: Double($0) / 1_000_000) }
    }
}
