import HTTPTypes
import HomeHub
import HomeTypes
import Hummingbird
import NIOCore
import Signalling

/// WHIP (RFC 9725): `POST` an offer to publish to a camera; `PATCH` candidates or an ICE restart; `DELETE` to end.
extension GatewayAPI {
    func addWHIPRoutes(to router: Router<GatewayRequestContext>) {
        router.post("/whip/:device") { request, context in
            try await startWHIP(request, context)
        }
        router.on("/whip/:device", method: .options) { _, context in
            try await requirePublishing(deviceID(context))
            return endpointDescription(status: .ok)
        }
        router.patch("/whip/:device/:session") { request, context in
            let session = try await self.session(whipSessions, context)
            try await hub.signalling.publishing.requirePublisher(session)
            return try await patch(request, session, of: whipSessions) { fragment in
                try await hub.signalling.publishing.tricklePublisher(
                    fragment, session, reachedAddresses: reachedAddresses(request, context))
            }
        }
        router.delete("/whip/:device/:session") { _, context in
            let session = try await self.session(whipSessions, context)
            try await hub.signalling.publishing.stopPublishing(session)
            await whipSessions.remove(session.mediaSessionId)
            return Response(status: .ok)
        }
        router.on("/whip/:device/:session", method: .options) { _, context in
            try await hub.signalling.publishing.requirePublisher(self.session(whipSessions, context))
            return Response(
                status: .ok,
                headers: [Self.acceptPatch: Self.fragmentMediaType, .allow: "DELETE, OPTIONS, PATCH"])
        }
    }

    private func startWHIP(_ request: Request, _ context: GatewayRequestContext) async throws -> Response {
        let device = try deviceID(context)
        let authorization = try self.authorization(context)
        let principal = authorization.principal
        let offer = try await request.text(mediaType: Self.sdpMediaType)
        try await requirePublishing(device)
        let started = try await hub.signalling.publishing.startPublishing(
            StartLiveViewRequest(
                deviceID: device, principal: principal, offerSdp: offer,
                reachedAddresses: reachedAddresses(request, context),
                viewerAddress: context.remoteHost.map(Self.literal)))
        await whipSessions.replace(
            started.mediaSessionId,
            .init(deviceID: device, principal: principal, entityTag: started.iceGeneration)
        ) { [hub] session in
            (try? await hub.signalling.publishing.requirePublisher(session)) != nil
        }
        do throws(HomeError) {
            // Checked again once it can be ended, as for a view (`startView`).
            try requireStill(authorization, .media, of: device)
        } catch {
            // If it has already ended, there is nothing to do.
            try? await hub.signalling.publishing.stopPublishing(
                SessionReference(started.mediaSessionId, of: device, principal: principal))
            await whipSessions.remove(started.mediaSessionId)
            throw error
        }
        return Self.created(
            started, at: "/whip/\(hub.names.label(of: device))/\(started.mediaSessionId)", links: iceServerLinks)
    }

    /// Fails unless the device exists and its media is published rather than pulled.
    private func requirePublishing(_ device: String) async throws {
        try await hub.requireDevice(device)
        try await hub.signalling.publishing.requirePublishing(deviceID: device)
    }
}
