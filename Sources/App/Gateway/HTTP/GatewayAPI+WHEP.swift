import HTTPTypes
import HomeHub
import HomeTypes
import Hummingbird
import NIOCore
import Signalling

/// WHEP: `POST` an offer, get an answer; `PATCH` candidates or an ICE restart; `DELETE` to end
/// (RFC 9725 for the parts shared with WHIP, and the WHEP draft).
extension GatewayAPI {
    static let sdpMediaType = "application/sdp"
    static let fragmentMediaType = "application/trickle-ice-sdpfrag"

    func addWHEPRoutes(to router: Router<GatewayRequestContext>) {
        router.post("/whep/:device") { request, context in
            try await self.startWHEP(request, context)
        }
        router.on("/whep/:device", method: .options) { _, context in
            _ = try await self.hub.device(context.parameters.require("device"))
            return Response(
                status: .noContent,
                headers: [Self.acceptPost: Self.sdpMediaType, .allow: "OPTIONS, POST"])
        }
        router.patch("/whep/:device/:session") { request, context in
            try await self.patchWHEP(request, context)
        }
        router.delete("/whep/:device/:session") { _, context in
            let session = try context.parameters.require("session")
            try await self.hub.stopLiveView(
                deviceID: context.parameters.require("device"), mediaSessionId: session,
                principal: self.principal(context))
            await self.whepSessions.remove(session)
            return Response(status: .ok)
        }
        router.on("/whep/:device/:session", method: .options) { _, context in
            try await self.hub.requireSession(
                context.parameters.require("session"), of: context.parameters.require("device"),
                principal: self.principal(context))
            return Response(
                status: .noContent,
                headers: [Self.acceptPatch: Self.fragmentMediaType, .allow: "DELETE, OPTIONS, PATCH"])
        }
    }

    private func startWHEP(_ request: Request, _ context: GatewayRequestContext) async throws -> Response {
        let device = try context.parameters.require("device")
        let principal = try self.principal(context)
        let offer = try await JSONBody.text(mediaType: Self.sdpMediaType, from: request)
        let started = try await self.hub.startLiveView(
            StartLiveViewRequest(
                deviceID: device, principal: principal, offerSdp: offer,
                reachedAddresses: self.reachedAddresses(request, context)))
        await self.whepSessions.add(
            started.mediaSessionId,
            .init(deviceID: device, principal: principal, entityTag: started.iceGeneration))
        var headers: HTTPFields = [
            .contentType: Self.sdpMediaType,
            .location: "/whep/\(device)/\(started.mediaSessionId)",
            .eTag: "\"\(started.iceGeneration)\"",
            Self.acceptPatch: Self.fragmentMediaType,
            .cacheControl: "no-store",
        ]
        for link in self.links(session: started.mediaSessionId) {
            headers.append(HTTPField(name: Self.link, value: link))
        }
        return Response(
            status: .created, headers: headers, body: .init(byteBuffer: ByteBuffer(string: started.answerSdp)))
    }

    /// The configured STUN and TURN servers (RFC 9725, section 4.6), and where the session can be looked at.
    private func links(session: String) -> [String] {
        let servers = self.configuration.media.iceServers.map { server in
            var link = "<\(server.url)>; rel=\"ice-server\""
            if let username = server.username { link += "; username=\"\(username)\"" }
            if let credential = server.credential {
                link += "; credential=\"\(credential)\"; credential-type=\"password\""
            }
            return link
        }
        return servers + ["</v1/sessions/\(session)>; rel=\"describedby\"; type=\"application/json\""]
    }

    /// Trickle must name the ICE generation that its candidates belong to; a restart names none with `*`
    /// (RFC 9725, sections 4.3.1 to 4.3.3).
    private func patchWHEP(_ request: Request, _ context: GatewayRequestContext) async throws -> Response {
        let device = try context.parameters.require("device")
        let session = try context.parameters.require("session")
        let principal = try self.principal(context)
        try await self.hub.requireSession(session, of: device, principal: principal)
        let fragment = try await JSONBody.text(mediaType: Self.fragmentMediaType, from: request)
        guard let condition = request.headers[.ifMatch] else {
            throw HTTPFailure(
                error: .failedPrecondition(
                    "the header If-Match is missing: send the session's ETag with candidates, or * to restart ICE"),
                status: .preconditionRequired)
        }
        let entityTag = await self.whepSessions[session]?.entityTag
        guard Self.matches(condition, entityTag) else {
            throw HTTPFailure(
                error: .failedPrecondition("If-Match does not name the session's present ETag; ICE was restarted"),
                status: .preconditionFailed)
        }
        switch try await self.hub.trickle(fragment, deviceID: device, mediaSessionId: session, principal: principal) {
        case .added:
            return Response(status: .noContent)
        case .restarted(let answer, let generation):
            await self.whepSessions.setEntityTag(generation, of: session)
            return Response(
                status: .ok,
                headers: [
                    .contentType: Self.fragmentMediaType, .eTag: "\"\(generation)\"", .cacheControl: "no-store",
                ],
                body: .init(byteBuffer: ByteBuffer(string: answer)))
        }
    }

    /// Whether a header `If-Match` holds `*` or the tag (RFC 9110, section 13.1.1; weak tags never match).
    static func matches(_ condition: String, _ entityTag: String?) -> Bool {
        condition.split(separator: ",").contains { part in
            let tag = part.drop { $0 == " " }
            let trimmed = tag.prefix(tag.count - tag.reversed().prefix { $0 == " " }.count)
            return trimmed == "*" || (entityTag.map { trimmed == "\"\($0)\"" } ?? false)
        }
    }

    private static let acceptPost = HTTPField.Name("Accept-Post") ?? .accept
    private static let acceptPatch = HTTPField.Name("Accept-Patch") ?? .accept
    private static let link = HTTPField.Name("Link") ?? .from
}
