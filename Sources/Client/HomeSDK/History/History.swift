import Foundation
import GatewayClient
import HomeTypes

/// What happened in a structure (Home APIs, `Structure.history`): camera events, presses, changes of state and recordings.
public struct History: Sendable {
    let model: HomeModel
    let structureID: String

    /// What the history can be asked for.
    public struct ApplicableFilters: Sendable, Hashable {
        /// The devices that have items.
        public var objects: [String]
        /// The camera events that have occurred, as `cameraEvents(_:)` takes them.
        public var cameraEvents: [String]
        /// When the oldest item happened; nil for an empty history.
        public var oldest: Date?
    }

    /// Asks for everything. Filters narrow it.
    public func query() -> HistoryQuery {
        HistoryQuery(model: model, structureID: structureID)
    }

    /// What the history can be asked for.
    public func fetchApplicableFilters() async throws(HomeError) -> ApplicableFilters {
        let path = "/v1/history/filters?structure=\(GatewayConnection.segment(structureID))"
        let contents = try await model.history(HistoryContents.self, path)
        let events = contents.events.compactMap { CameraHistoryEvents.filter(ofEvent: $0) }
        return ApplicableFilters(
            objects: contents.devices, cameraEvents: Array(Set(events)).sorted(), oldest: contents.oldest)
    }
}

extension Structure {
    /// What happened in the structure.
    public var history: History { History(model: model, structureID: id) }
}

extension HomeModel {
    /// Reads an answer of the history.
    func history<Answer: Decodable>(_ type: Answer.Type, _ path: String) async throws(HomeError) -> Answer {
        var request = GatewayRequest(.get, path)
        request.timeout = configuration.commandTimeout
        let data = try await connection.send(request).body
        let decoder = JSONDecoder()
        decoder.dateDecodingStrategy = .iso8601
        do {
            return try decoder.decode(type, from: data)
        } catch {
            throw .parseError("the gateway's answer to GET \(path) cannot be read: \(error)")
        }
    }
}
