import Foundation
import HTTPTypes
import HomeHub
import HomeTypes
import Hummingbird

extension GatewayAPI {
    /// The response to `GET /v1/cameras`.
    struct CameraList: Codable, Sendable, Equatable {
        var cameras: [CameraAnswer]
        /// The cameras of the config file that were removed here.
        var removed: [RemovedCamera]
    }

    /// A camera whose entry is still in the config file, and does not count because the camera was removed.
    struct RemovedCamera: Codable, Sendable, Equatable {
        /// The key in the config.
        var id: String
        var name: String
        var type: String
    }

    /// The settings of the cameras. Secrets go in and never come out.
    func addCameraRoutes(to router: Router<GatewayRequestContext>) {
        router.get("/v1/configuration") { _, _ in
            try JSONBody.response(await keeper.configurationStatus)
        }
        router.get("/v1/cameras") { _, _ in
            var cameras: [CameraAnswer] = []
            for entry in await keeper.entries { cameras.append(await answer(entry)) }
            let removed = await keeper.replacedEntries.filter(\.isRemoved).map { entry in
                RemovedCamera(id: entry.id, name: entry.name, type: entry.kind == .doorbell ? "doorbell" : "camera")
            }
            return try JSONBody.response(CameraList(cameras: cameras, removed: removed))
        }
        router.get("/v1/cameras/:camera") { _, context in
            let entry = try await keeper.entry(of: camera(context))
            return try Self.response(await answer(entry), version: entry.version)
        }
        router.put("/v1/cameras/:camera") { request, context in
            let body = try await Self.cameraEntry(request)
            let (entry, isNew) = try await keeper.put(
                body, id: camera(context), ifVersion: Self.expectedContent(request))
            return try Self.response(
                await answer(entry), version: entry.version, status: isNew ? .created : .ok)
        }
        router.patch("/v1/cameras/:camera") { request, context in
            let body = try await Self.cameraEntry(request)
            let entry = try await keeper.patch(body, id: camera(context), ifVersion: Self.expectedContent(request))
            return try Self.response(await answer(entry), version: entry.version)
        }
        router.delete("/v1/cameras/:camera") { request, context in
            try await keeper.remove(camera(context), ifVersion: Self.expectedContent(request))
            return Response(status: .noContent)
        }
        router.delete("/v1/cameras/:camera/override") { request, context in
            try await keeper.restoreFileEntry(of: camera(context), ifVersion: Self.expectedContent(request))
            return Response(status: .noContent)
        }
        router.post("/v1/cameras/:camera/reconnect") { _, context in
            try await keeper.reconnect(camera(context))
            return Response(status: .noContent)
        }
    }

    private func answer(_ entry: ConfigurationKeeper.Entry) async -> CameraAnswer {
        let id = hub.names.id(of: entry.camera.id)
        return CameraAnswer(
            entry, device: try? await hub.device(id), findings: await keeper.findings(of: id))
    }

    /// The key of the camera that the path names by its key or by its device's identifier.
    private func camera(_ context: GatewayRequestContext) throws -> String {
        hub.names.label(of: try context.parameters.require("camera"))
    }

    static func cameraEntry(_ request: Request) async throws -> CameraEntry {
        guard let entry = CameraEntry(json: try await JSONBody.data(from: request)) else {
            throw HomeError.invalidArgument("the body is not a JSON object")
        }
        return entry
    }
}

extension ConfigurationKeeper.Entry {
    /// Names the settings as they are now. It does not depend on secrets: a reader could try out what they are.
    var version: String? { try? ContentVersion.of(CameraAnswer(self, device: nil)) }

    /// Fails if a client has read other settings than those of now.
    func require(_ version: String?) throws(HomeError) {
        try ContentVersion.require(version, of: CameraAnswer(self, device: nil), "the camera \(camera.id)")
    }
}
