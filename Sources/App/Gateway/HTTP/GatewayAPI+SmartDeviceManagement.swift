import DatagramPort
import Foundation
import HTTPTypes
import HomeHub
import HomeTypes
import Hummingbird
import NIOCore
import Signalling
import SmartDeviceManagement
import Stations
import Transport

/// The paths of the Smart Device Management API. Programs that were written for it work with this gateway as their host and
/// a token of the gateway as their access token. Project names are not checked: a gateway has one home.
extension GatewayAPI {
    private struct DeviceListing: Encodable {
        var devices: [SDMDevice]
    }

    private struct StructureListing: Encodable {
        var structures: [SDMPlace]
    }

    private struct RoomListing: Encodable {
        var rooms: [SDMPlace]
    }

    private struct Executed: Encodable {
        var results: SDMStreams.Results
    }

    /// A message of Pub/Sub as its REST API writes it.
    private struct PulledMessages: Encodable {
        struct Received: Encodable {
            struct Message: Encodable {
                var data: Data
                var messageId: String
                var publishTime: String
            }

            var ackId: String
            var message: Message
        }

        var receivedMessages: [Received]
    }

    private struct PullSettings: Decodable {
        var maxMessages: Int?
        var returnImmediately: Bool?
    }

    private struct Acknowledgement: Decodable {
        var ackIds: [String]?
    }

    func addSmartDeviceManagementRoutes(to router: Router<GatewayRequestContext>, addresses: AbsoluteAddresses) {
        addPlaceRoutes(to: router)
        router.get("/v1/enterprises/:project/devices") { _, context in
            let project = try Self.project(context)
            let access = try authorization(context).access
            var devices: [SDMDevice] = []
            for device in await hub.devices(for: access) {
                if let described = await described(device, project: project, for: access) { devices.append(described) }
            }
            return try JSONBody.response(DeviceListing(devices: devices))
        }
        router.get("/v1/enterprises/:project/devices/:device") { _, context in
            let project = try Self.project(context)
            let id = try deviceID(context)
            let access = try authorization(context).access
            guard let device = await described(try await hub.device(id), project: project, for: access) else {
                throw HomeError.notFound("device \(id) is of a kind that this API does not have")
            }
            return try JSONBody.response(device)
        }
        // The router has no path that ends in a fixed text after a variable part, so the handler looks at its end.
        router.post("/v1/enterprises/:project/devices/:device") { request, context in
            _ = try Self.project(context)
            let id = hub.names.id(of: try Self.target(context.parameters.require("device"), verb: "executeCommand"))
            let caller = try self.caller(request, context)
            return try JSONBody.response(
                Executed(
                    results: try await execute(
                        try SDMCommand(json: await JSONBody.data(from: request)), of: id, by: caller,
                        holding: authorization(context), base: addresses.base(of: request))))
        }
        router.post("/v1/projects/:project/subscriptions/:subscription") { request, context in
            let project = try Self.project(context)
            let call = try context.parameters.require("subscription")
            let authorization = try self.authorization(context)
            if let name = try? Self.target(call, verb: "acknowledge") {
                let body = try await JSONBody.read(Acknowledgement.self, from: request)
                let acknowledgements = body.ackIds ?? []
                guard acknowledgements.count <= SDMSubscription.capacity else {
                    throw HomeError.invalidArgument("ackIds has more than \(SDMSubscription.capacity) entries")
                }
                await eventFeeds.acknowledge(acknowledgements, of: name, for: authorization.principal)
                return JSONBody.response(json: Data("{}".utf8))
            }
            let name = try Self.target(call, verb: "pull")
            guard name.utf8.count <= 255 else {
                throw HomeError.invalidArgument("the name of a subscription has at most 255 characters")
            }
            let settings = try await JSONBody.read(PullSettings.self, from: request)
            guard (1...1_000).contains(settings.maxMessages ?? 100) else {
                throw HomeError.invalidArgument("maxMessages must be from 1 to 1000")
            }
            let messages = try await eventFeeds.pull(
                name, upTo: settings.maxMessages ?? 100, waits: settings.returnImmediately != true,
                project: project, base: addresses.base(of: request), for: authorization)
            return try JSONBody.response(
                PulledMessages(
                    receivedMessages: messages.map {
                        .init(
                            ackId: $0.acknowledgement,
                            message: .init(
                                data: $0.data, messageId: $0.id, publishTime: SDMEvent.text($0.publishedAt)))
                    }))
        }
        router.get("/v1/event-images/:image") { request, context in
            let id = try context.parameters.require("image")
            // The path names the picture, and the token opens it.
            let token = request.headers[.authorization].map { $0.hasPrefix("Basic ") ? String($0.dropFirst(6)) : "" }
            guard let picture = eventPictures.picture(id, token: token ?? "", at: MonotonicClock.now) else {
                throw HomeError.notFound("the picture has expired; events keep theirs for 30 seconds")
            }
            return try Self.response(picture.jpeg, try await permitToShow(picture.device, as: .snapshot))
        }
    }

    /// The structures and rooms.
    private func addPlaceRoutes(to router: Router<GatewayRequestContext>) {
        router.get("/v1/enterprises/:project/structures") { _, context in
            let project = try Self.project(context)
            let structures = await hub.structures(for: try authorization(context).access)
            return try JSONBody.response(
                StructureListing(structures: structures.map { SDMPlace($0, project: project) }))
        }
        router.get("/v1/enterprises/:project/structures/:structure") { _, context in
            let structure = try await hub.structure(context.parameters.require("structure")).value
            return try JSONBody.response(SDMPlace(structure, project: Self.project(context)))
        }
        router.get("/v1/enterprises/:project/structures/:structure/rooms") { _, context in
            let project = try Self.project(context)
            let structure = try await hub.structure(context.parameters.require("structure")).value.id
            let rooms = await hub.rooms(for: try authorization(context).access).filter { $0.structureID == structure }
            return try JSONBody.response(RoomListing(rooms: rooms.map { SDMPlace($0, project: project) }))
        }
        router.get("/v1/enterprises/:project/structures/:structure/rooms/:room") { _, context in
            let project = try Self.project(context)
            let room = try await hub.room(context.parameters.require("room")).value
            guard try room.structureID == context.parameters.require("structure") else {
                throw HomeError.notFound("the structure has no room with this id")
            }
            return try JSONBody.response(SDMPlace(room, project: project))
        }
    }

    /// A device with the place that it is in; nil for one of a kind that the API does not have.
    private func described(_ device: DeviceSnapshot, project: String, for access: Access) async -> SDMDevice? {
        let parent = SDMParent(
            of: device, structures: await hub.structures(for: access), rooms: await hub.rooms(for: access),
            project: project)
        return SDMDevice(device, project: project, place: parent)
    }

    private func execute(
        _ command: SDMCommand, of device: String, by caller: Caller, holding authorization: Authorization,
        base: String
    ) async throws -> SDMStreams.Results {
        let streams = SDMStreams(hub)
        switch command {
        case .generateWebRtcStream(let offer): return try await streams.generate(offer, of: device, by: caller)
        case .extendWebRtcStream(let session): return try await streams.extend(session, of: device, by: caller)
        case .stopWebRtcStream(let session): return try await streams.stop(session, of: device, by: caller)
        case .generateImage(let event):
            try await hub.requireView(of: device, for: caller)
            let place = try snapshotPlaces.take(for: caller.principal)
            defer { withExtendedLifetime(place) {} }
            // The picture is one of now, so it shows an event only for a moment. The API has the same limit.
            // After the clock has been set back, an old event lies in the future.
            guard let age = try await hub.age(ofEvent: event, of: device), age.magnitude <= Self.longestEvent else {
                throw HomeError.failedPrecondition("The camera image is no longer available for download.")
            }
            let picture = try await picture(of: device, maximumWidth: 640, for: authorization)
            do { try picture.permit?.check() } catch {
                throw HomeError.failedPrecondition("The camera's pictures are switched off.")
            }
            let (id, token) = eventPictures.add(
                Array(picture.jpeg), of: device, for: caller.principal, at: MonotonicClock.now)
            picture.permit?.end()
            return SDMStreams.Results(url: "\(base)/v1/event-images/\(id)", token: token)
        }
    }

    /// How old an event may be to get a picture, in seconds (source: Device Access, `CameraEventImage`).
    private static let longestEvent = 30.0

    private static func project(_ context: GatewayRequestContext) throws -> String {
        let project = try context.parameters.require("project")
        guard (1...64).contains(project.utf8.count),
            project.unicodeScalars.allSatisfy({
                $0.isASCII && ($0 == "-" || $0.properties.isAlphabetic || $0.properties.numericType != nil)
            })
        else { throw HomeError.invalidArgument("the project must have 1 to 64 letters, digits and hyphens") }
        return project
    }

    /// The name before `:verb`.
    private static func target(_ call: String, verb: String) throws(HomeError) -> String {
        guard call.hasSuffix(":\(verb)"), call.count > verb.count + 1 else {
            throw .notFound("the method does not exist; the path must end in :\(verb)")
        }
        return String(call.dropLast(verb.count + 1))
    }
}
