import Foundation
import HTTPTypes
import HomeHub
import HomeTypes
import Hummingbird

/// The structures and rooms of the home.
extension GatewayAPI {
    /// The response to `GET /v1/structures`.
    struct StructureList: Codable, Sendable, Equatable {
        var structures: [StructureSnapshot]
    }

    /// The response to `GET /v1/rooms`.
    struct RoomList: Codable, Sendable, Equatable {
        var rooms: [RoomSnapshot]
    }

    /// The response to `GET /v1/structures/{structure}/presence`.
    struct PresenceList: Codable, Sendable, Equatable {
        var persons: [PersonPresence]
    }

    func addStructureRoutes(to router: Router<GatewayRequestContext>) {
        router.get("/v1/structures") { _, context in
            try JSONBody.response(StructureList(structures: await hub.structures(for: authorization(context).access)))
        }
        router.post("/v1/structures") { request, context in
            let data = try await JSONBody.data(from: request)
            let update = PlaceUpdate(try JSONBody.decode(StructureBody.self, data))
            let id = try await hub.make("structure", by: caller(request, context), parameters: data) {
                () async throws(HomeError) in try await hub.addStructure(update).value.id
            }
            return try Self.response(await hub.structure(id), status: .created, at: "/v1/structures")
        }
        router.get("/v1/structures/:structure") { _, context in
            try Self.response(await hub.structure(context.parameters.require("structure")))
        }
        router.patch("/v1/structures/:structure") { request, context in
            let update = PlaceUpdate(try await JSONBody.read(StructureBody.self, from: request))
            return try Self.response(
                await hub.changeStructure(
                    context.parameters.require("structure"), update, ifVersion: Self.expectedVersion(request)))
        }
        router.delete("/v1/structures/:structure") { request, context in
            let structure = try context.parameters.require("structure")
            let holders = tokens.all
            let moved = try await hub.removeStructure(structure, ifVersion: Self.expectedVersion(request))
            // All of them have moved, so one that fails does not keep the others.
            var failure: (any Error)?
            for move in moved {
                do {
                    try await tokens.follow(move, heldBefore: holders)
                } catch {
                    failure = failure ?? error
                }
            }
            if let failure { throw failure }
            return Response(status: .noContent)
        }
        router.get("/v1/structures/:structure/presence") { _, context in
            let persons = try await hub.presence(in: context.parameters.require("structure"))
            return try JSONBody.response(PresenceList(persons: persons))
        }
        router.post("/v1/structures/:structure/presence") { request, context in
            let report = try await JSONBody.read(PresenceReport.self, from: request)
            let structure = try context.parameters.require("structure")
            guard let person = report.person else {
                throw HomeError.invalidArgument("person: say who has come or left")
            }
            let isHome: Bool?
            switch report.isHome {
            case .unchanged: throw HomeError.invalidArgument("isHome: true, false, or null to forget the person")
            case .cleared: isHome = nil
            case .value(let value): isHome = value
            }
            try await hub.reportPresence(of: person, isHome: isHome, in: structure)
            return try JSONBody.response(PresenceList(persons: await hub.presence(in: structure)))
        }
        addRoomRoutes(to: router)
    }

    private func addRoomRoutes(to router: Router<GatewayRequestContext>) {
        router.get("/v1/rooms") { _, context in
            try JSONBody.response(RoomList(rooms: await hub.rooms(for: authorization(context).access)))
        }
        router.post("/v1/structures/:structure/rooms") { request, context in
            let data = try await JSONBody.data(from: request)
            guard let name = try JSONBody.decode(RoomBody.self, data).name else {
                throw HomeError.invalidArgument("name: a room needs a name")
            }
            let structure = try context.parameters.require("structure")
            let id = try await hub.make("room in \(structure)", by: caller(request, context), parameters: data) {
                () async throws(HomeError) in try await hub.addRoom(name, in: structure).value.id
            }
            return try Self.response(await hub.room(id), status: .created, at: "/v1/rooms")
        }
        router.get("/v1/rooms/:room") { _, context in
            try Self.response(await hub.room(context.parameters.require("room")))
        }
        router.patch("/v1/rooms/:room") { request, context in
            let body = try await JSONBody.read(RoomBody.self, from: request)
            return try Self.response(
                await hub.renameRoom(
                    context.parameters.require("room"), body.name, ifVersion: Self.expectedVersion(request)))
        }
        router.delete("/v1/rooms/:room") { request, context in
            try await hub.removeRoom(context.parameters.require("room"), ifVersion: Self.expectedVersion(request))
            return Response(status: .noContent)
        }
    }

    /// The response to a request for one object, with the object's version as its `ETag`.
    private static func response<Value: Encodable & Identifiable>(
        _ object: Versioned<Value>, status: HTTPResponse.Status = .ok, at folder: String? = nil
    ) throws -> Response where Value.ID == String {
        var response = try JSONBody.response(object.value, status: status)
        response.headers[.eTag] = "\"\(object.version)\""
        if let folder { response.headers[.location] = "\(folder)/\(object.value.id)" }
        return response
    }

    /// The version in `If-Match`; nil when the client does not insist on one (RFC 9110, section 13.1.1). A tag that no
    /// object of ours ever had is a version that none has now.
    static func expectedVersion(_ request: Request) throws(HomeError) -> Int64? {
        guard let condition = request.headers[.ifMatch] else { return nil }
        let text = condition.trimmingCharacters(in: .whitespaces)
        if text == "*" { return nil }
        guard text.utf8.count <= 64, !text.contains(",") else {
            throw HomeError.invalidArgument("If-Match must be one ETag, such as \"3\", or *")
        }
        return Int64(unquoted(text)) ?? -1
    }
}

/// The body of a request that makes or changes a structure. `null` clears a field.
private struct StructureBody: Decodable {
    var name: String?
    var address: PlaceUpdate.Field<String>
    var latitude: PlaceUpdate.Field<Double>
    var longitude: PlaceUpdate.Field<Double>
    var timeZone: String?

    private enum CodingKeys: String, CodingKey {
        case name, address, latitude, longitude, timeZone
    }

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        name = try container.decodeIfPresent(String.self, forKey: .name)
        address = try container.field(.address)
        latitude = try container.field(.latitude)
        longitude = try container.field(.longitude)
        timeZone = try container.decodeIfPresent(String.self, forKey: .timeZone)
    }
}

/// A report about a person. `null` forgets the person.
private struct PresenceReport: Decodable {
    var person: String?
    var isHome: PlaceUpdate.Field<Bool>

    private enum CodingKeys: String, CodingKey {
        case person, isHome
    }

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        person = try container.decodeIfPresent(String.self, forKey: .person)
        isHome = try container.field(.isHome)
    }
}

/// The body of a request that makes or renames a room.
private struct RoomBody: Decodable {
    var name: String?
}

extension PlaceUpdate {
    fileprivate init(_ body: StructureBody) {
        self.init()
        name = body.name
        address = body.address
        latitude = body.latitude
        longitude = body.longitude
        timeZone = body.timeZone
    }
}

extension KeyedDecodingContainer {
    /// A field that `null` clears and that stays as it is when it is missing.
    func field<Value: Decodable & Sendable>(_ key: Key) throws -> PlaceUpdate.Field<Value> {
        guard contains(key) else { return .unchanged }
        return try decodeNil(forKey: key) ? .cleared : .value(try decode(Value.self, forKey: key))
    }
}
