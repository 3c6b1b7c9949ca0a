import HTTPTypes
import HomeHub
import HomeTypes
import Hummingbird
import NIOCore
import Signalling
import Transport

/// WHEP: `POST` an offer, get an answer; `PATCH` candidates or an ICE restart; `DELETE` to end
/// (RFC 9725 for the parts shared with WHIP, and the WHEP draft).
extension GatewayAPI {
    static let sdpMediaType = "application/sdp"
    static let fragmentMediaType = "application/trickle-ice-sdpfrag"
    /// The largest body of the two, in bytes. Browsers' largest offers are a tenth of it.
    static let maximumSDPSize = 64 * 1024

    func addWHEPRoutes(to router: Router<GatewayRequestContext>) {
        router.post("/whep/:device") { request, context in
            try await startWHEP(request, context)
        }
        router.on("/whep/:device", method: .options) { _, context in
            _ = try await hub.device(deviceID(context))
            return endpointDescription(status: .noContent)
        }
        router.patch("/whep/:device/:session") { request, context in
            try await patchWHEP(request, context)
        }
        router.delete("/whep/:device/:session") { _, context in
            let session = try await self.session(whepSessions, context)
            try await hub.signalling.views.stopLiveView(session)
            await whepSessions.remove(session.mediaSessionId)
            return Response(status: .ok)
        }
        router.on("/whep/:device/:session", method: .options) { _, context in
            try await hub.signalling.views.requireSession(self.session(whepSessions, context))
            return Response(
                status: .noContent,
                headers: [Self.acceptPatch: Self.fragmentMediaType, .allow: "DELETE, OPTIONS, PATCH"])
        }
    }

    private func startWHEP(_ request: Request, _ context: GatewayRequestContext) async throws -> Response {
        let device = try deviceID(context)
        // Players of early drafts let the server make the offer: they send nothing.
        guard request.headers[.contentType] != nil else { throw HTTPFailure.withoutOffer }
        let offer = try await request.text(mediaType: Self.sdpMediaType)
        let started = try await startView(
            offer, of: device, usernameFragment: Self.usernameFragments(in: offer).first, request, context)
        let description = "</v1/sessions/\(started.mediaSessionId)>; rel=\"describedby\"; type=\"application/json\""
        return Self.created(
            started, at: "/whep/\(hub.names.label(of: device))/\(started.mediaSessionId)",
            links: iceServerLinks + [description])
    }

    /// Starts a live view whose lease the gateway extends for as long as the viewer is connected.
    ///
    /// A loss of rights does not end this view before it is registered. So the rights are checked again once it is.
    /// - Parameter usernameFragment: see ``WHEPSessions/Entry/usernameFragment``.
    func startView(
        _ offer: String, of device: String, usernameFragment: String? = nil, _ request: Request,
        _ context: GatewayRequestContext
    ) async throws -> StartLiveViewResponse {
        let authorization = try self.authorization(context)
        let principal = authorization.principal
        let started = try await hub.signalling.views.startLiveView(
            StartLiveViewRequest(
                deviceID: device, principal: principal, offerSdp: offer,
                reachedAddresses: reachedAddresses(request, context),
                viewerAddress: context.remoteHost.map(Self.literal)))
        await whepSessions.add(
            started.mediaSessionId,
            .init(
                deviceID: device, principal: principal, entityTag: started.iceGeneration,
                usernameFragment: usernameFragment))
        do throws(HomeError) {
            try requireStill(authorization, .view, of: device)
        } catch {
            // If it has already ended, there is nothing to do.
            try? await hub.signalling.views.stopLiveView(
                SessionReference(started.mediaSessionId, of: device, principal: principal))
            await whepSessions.remove(started.mediaSessionId)
            throw error
        }
        return started
    }

    /// The response to an accepted offer (RFC 9725, section 4.2).
    static func created(_ started: StartLiveViewResponse, at location: String, links: [String]) -> Response {
        var headers: HTTPFields = [
            .contentType: Self.sdpMediaType, .location: location, .eTag: "\"\(started.iceGeneration)\"",
            Self.acceptPatch: Self.fragmentMediaType, .cacheControl: "no-store",
        ]
        for link in links { headers.append(HTTPField(name: Self.link, value: link)) }
        return Response(
            status: .created, headers: headers, body: .init(byteBuffer: ByteBuffer(string: started.answerSdp)))
    }

    /// The configured STUN and TURN servers (RFC 9725, section 4.6).
    var iceServerLinks: [String] {
        configuration.media.iceServers.map { server in
            var link = "<\(server.url)>; rel=\"ice-server\""
            if let username = server.username { link += "; username=\"\(username)\"" }
            if let credential = server.credential {
                link += "; credential=\"\(credential)\"; credential-type=\"password\""
            }
            return link
        }
    }

    /// A trickle request must name the ICE generation that its candidates belong to; a restart names none, with `*`
    /// (RFC 9725, sections 4.3.1 to 4.3.3).
    private func patchWHEP(_ request: Request, _ context: GatewayRequestContext) async throws -> Response {
        let session = try await self.session(whepSessions, context)
        try await hub.signalling.views.requireSession(session)
        return try await patch(request, session, of: whepSessions) { fragment in
            try await hub.signalling.views.trickle(
                fragment, session, reachedAddresses: reachedAddresses(request, context))
        }
    }

    /// The session that a request names. The principal is the holder of the token that came with the request or,
    /// without a token, regardless of who started the session, because nobody else knows its path.
    ///
    /// The time of a lookup does not reveal how much of a guess is right: the table's hashes are seeded at random.
    func session(_ sessions: WHEPSessions, _ context: GatewayRequestContext) async throws -> SessionReference {
        let device = try deviceID(context)
        let session = try context.parameters.require("session")
        if let principal = context.principal { return SessionReference(session, of: device, principal: principal) }
        guard let entry = await sessions[session], entry.deviceID == device else {
            throw HomeError.notFound("the session has ended or never existed")
        }
        return SessionReference(session, of: device, principal: entry.principal)
    }

    /// The response to `OPTIONS` of an endpoint: players ask there for the STUN and TURN servers.
    func endpointDescription(status: HTTPResponse.Status) -> Response {
        var headers: HTTPFields = [Self.acceptPost: Self.sdpMediaType, .allow: "OPTIONS, POST"]
        for link in iceServerLinks { headers.append(HTTPField(name: Self.link, value: link)) }
        return Response(status: status, headers: headers)
    }

    /// Adds candidates or restarts ICE, for viewers and publishers alike.
    func patch(
        _ request: Request, _ session: SessionReference, of sessions: WHEPSessions,
        _ trickle: (String) async throws -> TrickleResult
    ) async throws -> Response {
        let fragment = try await request.text(mediaType: Self.fragmentMediaType)
        let entry = await sessions[session.mediaSessionId]
        if let condition = request.headers[.ifMatch] {
            guard Self.matches(condition, entry?.entityTag) else {
                throw HTTPFailure(
                    error: .failedPrecondition("If-Match is not the session's current ETag; ICE was restarted"),
                    status: .preconditionFailed)
            }
        } else if !Self.names(fragment, onlyGenerationOf: entry?.usernameFragment) {
            throw HTTPFailure(
                error: .failedPrecondition(
                    "the header If-Match is missing: send the session's ETag with candidates, or * to restart ICE"),
                status: .preconditionRequired)
        }
        switch try await trickle(fragment) {
        case .added:
            return Response(status: .noContent)
        case .restarted(let answer, let generation):
            await sessions.restart(
                session.mediaSessionId, entityTag: generation,
                usernameFragment: Self.usernameFragments(in: fragment).first)
            return Response(
                status: .ok,
                headers: [
                    .contentType: Self.fragmentMediaType, .eTag: "\"\(generation)\"", .cacheControl: "no-store",
                ],
                body: .init(byteBuffer: ByteBuffer(string: answer)))
        }
    }

    /// Whether an `If-Match` header contains `*` or the tag (RFC 9110, section 13.1.1; weak tags never match).
    ///
    /// `"*"` means `*` too: RFC 9725 writes the value in quotation marks (section 4.3.3), examples in the drafts send
    /// them, and clients were made from these. As a tag it would match nothing, because no tag of the gateway's is a
    /// star.
    static func matches(_ condition: String, _ entityTag: String?) -> Bool {
        condition.split(separator: ",").contains { part in
            let tag = part.drop { $0 == " " }
            let trimmed = tag.prefix(tag.count - tag.reversed().prefix { $0 == " " }.count)
            return trimmed == "*" || trimmed == "\"*\"" || (entityTag.map { trimmed == "\"\($0)\"" } ?? false)
        }
    }

    static let acceptPost = HTTPField.Name("Accept-Post") ?? .accept
    static let acceptPatch = HTTPField.Name("Accept-Patch") ?? .accept
    static let link = HTTPField.Name("Link") ?? .from
}

/// Which ICE generation a trickled fragment belongs to, where its sender names no entity tag.
///
/// A deviation from the WHEP draft (draft-ietf-wish-whep-03), which asks for 428 then. The players of medooze and Meetecho send no
/// `If-Match`: one loses its candidates by a 428, and the other also covers the picture with an error for each of them. Their
/// fragments name the credentials that the candidates belong to (RFC 8840, section 9), which says the same as the entity tag. WHIP
/// is a standard (RFC 9725, section 4.3.1) whose clients send the header, so there it stays necessary.
extension GatewayAPI {
    /// Whether a fragment names a user name fragment, and no other than the present one. Then it is not late, and it cannot restart
    /// ICE.
    /// - Parameter usernameFragment: the viewer's present one; nil where candidates need the entity tag.
    static func names(_ fragment: String, onlyGenerationOf usernameFragment: String?) -> Bool {
        let named = usernameFragments(in: fragment)
        return !named.isEmpty && named.allSatisfy { $0 == usernameFragment }
    }

    /// The values of `a=ice-ufrag` in a description or a fragment, in order.
    static func usernameFragments(in text: String) -> [String] {
        let name = Array("a=ice-ufrag:".utf8)
        let lines = text.utf8.split { $0 == UInt8(ascii: "\r") || $0 == UInt8(ascii: "\n") }
        return lines.filter { $0.starts(with: name) }.map { String(decoding: $0.dropFirst(name.count), as: UTF8.self) }
    }
}

/// What the WHEP endpoint knows about the sessions that were started through it.
///
/// A WHEP player cannot extend a lease, so the gateway does it for as long as the viewer is connected. The limit on a
/// session's whole length still applies.
actor WHEPSessions {
    /// One session.
    struct Entry: Sendable, Equatable {
        let deviceID: String
        let principal: String
        /// The entity tag, without its quotation marks: the ICE generation.
        var entityTag: String
        /// The viewer's user name fragment of this ICE generation; nil where candidates need the entity tag.
        var usernameFragment: String?
    }

    /// How often a session has been added.
    nonisolated let beginnings = Awaitable<UInt64>(0)
    private var entries: [String: Entry] = [:]

    subscript(session: String) -> Entry? { entries[session] }

    func add(_ session: String, _ entry: Entry) {
        entries[session] = entry
        beginnings.withLock { $0 &+= 1 }
    }

    /// Adds a publisher's session, and removes those of its device that have ended.
    ///
    /// Of two publishers that start at once, the earlier may come here after the later, which has replaced it. So only the
    /// publishers know which one it is, not the order here.
    /// - Parameter isPublishing: whether a session still publishes.
    func replace(
        _ session: String, _ entry: Entry, isPublishing: @Sendable (SessionReference) async -> Bool
    ) async {
        entries[session] = entry
        for (id, known) in entries where known.deviceID == entry.deviceID {
            let reference = SessionReference(id, of: known.deviceID, principal: known.principal)
            if await !isPublishing(reference) { entries[id] = nil }
        }
    }

    /// Takes the ICE generation that a restart has begun.
    func restart(_ session: String, entityTag: String, usernameFragment: String?) {
        entries[session]?.entityTag = entityTag
        if entries[session]?.usernameFragment != nil { entries[session]?.usernameFragment = usernameFragment }
    }

    func remove(_ session: String) {
        entries[session] = nil
    }

    /// A principal's sessions, each with its device.
    func sessions(of principal: String) -> [(session: String, device: String)] {
        entries.filter { $0.value.principal == principal }.map { ($0.key, $0.value.deviceID) }
    }

    /// The sessions that have begun.
    var begun: Set<String> { Set(entries.keys) }

    /// Removes those of the sessions `begun` that are not alive, and returns the rest. One that has begun since then stays.
    func removeEnded(of begun: Set<String>, alive: Set<String>) -> [String: Entry] {
        for session in begun.subtracting(alive) { entries[session] = nil }
        return entries
    }
}
