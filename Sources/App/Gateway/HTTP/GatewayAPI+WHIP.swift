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
            try await self.hub.requirePublishing(device)
            let started = try await self.hub.startPublishing(
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
            try await self.hub.requirePublishing(context.parameters.require("device"))
            return self.endpointDescription(status: .ok)
        }
        router.patch("/whip/:device/:session") { request, context in
            let device = try context.parameters.require("device")
            let session = try context.parameters.require("session")
            let principal = try await self.owner(of: session, self.whipSessions, device: device, context)
            try await self.hub.requirePublisher(session, of: device, principal: principal)
            return try await self.patch(request, session, of: self.whipSessions) { fragment in
                try await self.hub.tricklePublisher(fragment, session, of: device, principal: principal)
            }
        }
        router.delete("/whip/:device/:session") { _, context in
            let session = try context.parameters.require("session")
            let device = try context.parameters.require("device")
            try await self.hub.stopPublishing(
                session, of: device,
                principal: await self.owner(of: session, self.whipSessions, device: device, context))
            await self.whipSessions.remove(session)
            return Response(status: .ok)
        }
        router.on("/whip/:device/:session", method: .options) { _, context in
            try await self.hub.requirePublisher(
                context.parameters.require("session"), of: context.parameters.require("device"),
                principal: self.principal(context))
            return Response(
                status: .ok,
                headers: [Self.acceptPatch: Self.fragmentMediaType, .allow: "DELETE, OPTIONS, PATCH"])
        }
    }
}
