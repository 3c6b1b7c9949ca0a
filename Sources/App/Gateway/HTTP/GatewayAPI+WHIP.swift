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
            let device = try context.parameters.require("device")
            let principal = try self.principal(context)
            let offer = try await JSONBody.text(mediaType: Self.sdpMediaType, from: request)
            try await self.requirePublishing(device)
            let started = try await self.hub.signalling.publishing.startPublishing(
                StartLiveViewRequest(
                    deviceID: device, principal: principal, offerSdp: offer,
                    reachedAddresses: self.reachedAddresses(request, context),
                    viewerAddress: context.remoteHost.map(Self.literal)))
            await self.whipSessions.replace(
                started.mediaSessionId,
                .init(deviceID: device, principal: principal, entityTag: started.iceGeneration))
            return Self.created(
                started, at: "/whip/\(device)/\(started.mediaSessionId)", links: self.iceServerLinks)
        }
        router.on("/whip/:device", method: .options) { _, context in
            try await self.requirePublishing(context.parameters.require("device"))
            return self.endpointDescription(status: .ok)
        }
        router.patch("/whip/:device/:session") { request, context in
            let session = try await self.session(self.whipSessions, context)
            try await self.hub.signalling.publishing.requirePublisher(session)
            return try await self.patch(request, session, of: self.whipSessions) { fragment in
                try await self.hub.signalling.publishing.tricklePublisher(fragment, session)
            }
        }
        router.delete("/whip/:device/:session") { _, context in
            let session = try await self.session(self.whipSessions, context)
            try await self.hub.signalling.publishing.stopPublishing(session)
            await self.whipSessions.remove(session.mediaSessionId)
            return Response(status: .ok)
        }
        router.on("/whip/:device/:session", method: .options) { _, context in
            try await self.hub.signalling.publishing.requirePublisher(self.session(self.whipSessions, context))
            return Response(
                status: .ok,
                headers: [Self.acceptPatch: Self.fragmentMediaType, .allow: "DELETE, OPTIONS, PATCH"])
        }
    }

    /// Fails unless the device exists and its media is published rather than pulled.
    private func requirePublishing(_ device: String) async throws {
        try await self.hub.requireDevice(device)
        try await self.hub.signalling.publishing.requirePublishing(deviceID: device)
    }
}
