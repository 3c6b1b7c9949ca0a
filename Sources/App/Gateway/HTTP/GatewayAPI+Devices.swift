import Foundation
import HTTPTypes
import HomeHub
import HomeTypes
import Hummingbird

extension GatewayAPI {
    /// The response to `GET /v1/devices`.
    struct DeviceList: Codable, Sendable, Equatable {
        var devices: [DeviceSnapshot]
    }

    /// The body of `PATCH /v1/devices/{device}`. `null` clears a field.
    private struct DeviceChange: Decodable {
        var name: PlaceUpdate.Field<String>
        var roomID: PlaceUpdate.Field<String>
        var structureID: String?

        private enum CodingKeys: String, CodingKey {
            case name, roomID, structureID
        }

        init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: CodingKeys.self)
            name = try container.field(.name)
            roomID = try container.field(.roomID)
            structureID = try container.decodeIfPresent(String.self, forKey: .structureID)
        }
    }

    /// Fails unless the caller may move devices into the place. A place that it may not know of looks as if it did not
    /// exist.
    private func requireTargets(of change: DeviceChange, _ context: GatewayRequestContext) throws {
        let access = try authorization(context).access
        if let structure = change.structureID {
            guard access.sees(.structure(structure)) else { throw HomeDirectory.unknownStructure(structure) }
            guard access.permits(.admin, .structure(structure)) else {
                throw HomeError.notGranted("moving a device to another structure needs the scope admin there")
            }
        }
        if case .value(let room) = change.roomID, let structure = hub.directory.structure(ofRoom: room) {
            guard access.sees(.structure(structure)) else { throw HomeDirectory.unknownRoom(room) }
            guard access.permits(.admin, .structure(structure)) else {
                throw HomeError.notGranted("moving a device to another structure needs the scope admin there")
            }
        }
    }

    func addDeviceRoutes(to router: Router<GatewayRequestContext>) {
        router.get("/v1/devices") { _, context in
            try JSONBody.response(DeviceList(devices: await hub.devices(for: authorization(context).access)))
        }
        router.get("/v1/devices/:device") { _, context in
            try response(try await hub.device(deviceID(context)))
        }
        router.patch("/v1/devices/:device") { request, context in
            let change = try await JSONBody.read(DeviceChange.self, from: request)
            try requireTargets(of: change, context)
            let holders = tokens.all
            let move = try await hub.moveDevice(
                deviceID(context), name: change.name, room: change.roomID, structure: change.structureID,
                ifVersion: Self.expectedVersion(request))
            if move.changesStructure { try await tokens.follow(move, heldBefore: holders) }
            return try response(try await hub.device(move.deviceID))
        }
        router.get("/v1/devices/:device/traits/:trait") { request, context in
            let (name, device) = (try context.parameters.require("trait"), try deviceID(context))
            let endpoint = try Self.endpoint(request)
            // The principal's own view may have more, which nobody writes.
            return try Self.response(
                try await hub.trait(name, of: device, endpoint: endpoint, for: principal(context)),
                version: HomeHub.version(of: try await hub.trait(name, of: device, endpoint: endpoint)))
        }
        router.patch("/v1/devices/:device/traits/:trait") { request, context in
            let trait = try await hub.update(
                context.parameters.require("trait"), of: deviceID(context),
                endpoint: Self.endpoint(request), body: JSONBody.data(from: request),
                by: caller(request, context), ifVersion: Self.expectedContent(request))
            return try Self.response(trait, version: HomeHub.version(of: trait))
        }
        router.post("/v1/devices/:device/traits/:trait/report") { request, context in
            try JSONBody.response(
                try await hub.simulate(
                    context.parameters.require("trait"), of: deviceID(context),
                    endpoint: Self.endpoint(request), body: JSONBody.data(from: request),
                    by: caller(request, context)))
        }
        router.post("/v1/devices/:device/traits/:trait/commands/:command") { request, context in
            // The caller's time starts here, before the body is read.
            let call = CommandCall(
                deviceID: try deviceID(context), endpoint: try Self.endpoint(request),
                trait: try context.parameters.require("trait"),
                command: try context.parameters.require("command"), caller: try caller(request, context))
            return JSONBody.response(json: try await hub.send(call, body: JSONBody.data(from: request)))
        }
        addBatchRoute(to: router)
    }

    /// A device, with the version of its name and place as the `ETag`. Its state changes on its own, and nobody writes it here.
    private func response(_ device: DeviceSnapshot) throws -> Response {
        try Self.response(device, version: "\(hub.directory.version(ofDevice: device.id))")
    }

    /// A response to a request for one object, with the object's version as its `ETag`.
    static func response(
        _ value: some Encodable, version: String?, status: HTTPResponse.Status = .ok
    ) throws -> Response {
        var response = try JSONBody.response(value, status: status)
        response.headers[.eTag] = version.map { "\"\($0)\"" }
        return response
    }

    /// The version in `If-Match` of an object whose content is its version; nil when the client does not insist on one.
    static func expectedContent(_ request: Request) throws(HomeError) -> String? {
        guard let condition = request.headers[.ifMatch] else { return nil }
        let text = condition.trimmingCharacters(in: .whitespaces)
        if text == "*" { return nil }
        guard text.utf8.count <= 64, !text.contains(",") else {
            throw HomeError.invalidArgument("If-Match must be one ETag, such as \"3\", or *")
        }
        return unquoted(text)
    }

    /// The endpoint that a request names in its query; nil where it names none.
    static func endpoint(_ request: Request) throws(HomeError) -> UInt16? {
        guard let text = request.uri.queryParameters["endpoint"] else { return nil }
        guard let number = UInt16(text) else {
            throw HomeError.invalidArgument("endpoint must be a whole number from 0 to 65535")
        }
        return number
    }
}
