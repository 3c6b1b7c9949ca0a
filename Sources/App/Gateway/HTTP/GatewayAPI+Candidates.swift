import Foundation
import HTTPTypes
import HomeHub
import HomeTypes
import Hummingbird
import NIOCore

/// What automations can use, and what they could do.
extension GatewayAPI {
    func addCandidateRoutes(to router: Router<GatewayRequestContext>) {
        router.get("/v1/structures/:structure/candidates") { request, context in
            let structure = try await knownStructure(context)
            let home = await AutomationHomes(hub)
            let candidates = Candidates(
                home: home, structure: structure, access: try authorization(context).access,
                hasReceivers: !configuration.automations.receivers.isEmpty)
            var devices = home.devices[structure] ?? []
            let name = request.uri.queryParameters["device"].map { hub.names.id(of: String($0)) }
            if let name {
                devices = devices.filter { $0.id == name }
                guard let device = devices.first,
                    candidates.access.sees(.device(device.id, structureID: structure))
                else { throw HomeHub.unknownDevice(name) }
            }
            let chosen = devices
            let first = name == nil ? candidates.ofStructure() : []
            return Response(
                status: .ok, headers: [.contentType: "application/json", .cacheControl: "no-store"],
                // A large home has many megabytes of them. They are made for one device after the other.
                body: ResponseBody { writer in
                    try await writer.write(ByteBuffer(string: "{\"candidates\":[" + first.joined(separator: ",")))
                    var isEmpty = first.isEmpty
                    for device in chosen {
                        let list = candidates.of(device)
                        guard !list.isEmpty else { continue }
                        try await writer.write(
                            ByteBuffer(string: (isEmpty ? "" : ",") + list.joined(separator: ",")))
                        isEmpty = false
                    }
                    try await writer.write(ByteBuffer(string: "]}"))
                    try await writer.finish(nil)
                })
        }
        router.get("/v1/structures/:structure/automations/suggestions") { _, context in
            let structure = try await knownStructure(context)
            let access = try authorization(context).access
            let home = await AutomationHomes(hub)
            let presence = home.structures[structure]?.traits[Google.AreaPresenceStateTrait.self]?.attributes
                .presenceState
            let suggestions = Suggestions(
                structure: structure,
                devices: (home.devices[structure] ?? []).filter {
                    access.permits(.control, .device($0.id, structureID: structure))
                },
                home: home.validationHome(of: structure, for: access),
                isPresenceKnown: presence != nil && presence != .presenceStateUnspecified)
            let drafts = suggestions.drafts.map(\.json).joined(separator: ",")
            return JSONBody.response(json: Data("{\"suggestions\":[\(drafts)]}".utf8))
        }
    }
}
