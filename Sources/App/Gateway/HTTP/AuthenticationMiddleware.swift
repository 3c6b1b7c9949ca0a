import DatagramPort
import Foundation
import HTTPTypes
import HomeHub
import HomeTypes
import Hummingbird

/// Refuses every request without a token, except for public paths. Requests from loopback need one as well.
struct AuthenticationMiddleware: RouterMiddleware {
    let tokens: TokenRegistry
    /// The secrets of devices, which open one path each.
    let webhooks: WebhookTokens
    /// The identifiers and keys of the devices.
    let names: DeviceNames
    /// Tracks who is connected and who was refused.
    let shared: ConnectionGuard
    /// The paths that everybody may read (GET): they reveal nothing about the home.
    let publicPaths: Set<String>

    func handle(
        _ request: Request, context: GatewayRequestContext,
        next: (Request, GatewayRequestContext) async throws -> Response
    ) async throws -> Response {
        if request.method == .get, publicPaths.contains(request.uri.path) {
            return try await next(request, context)
        }
        if request.method == .get, context.endpointPath == GatewayAPI.cameraPage.description {
            return try await next(request, context)
        }
        // The secret is in the path or, for clients of OAuth, in the form. The route checks it.
        if Self.secretPaths.contains(where: { request.uri.path.hasPrefix($0) }) {
            return try await next(request, context)
        }
        let header = request.headers[.authorization]
        guard let token = Self.bearerToken(header) ?? (Self.isGo2RTC(request) ? Self.basicToken(header) : nil) else {
            if request.headers[.authorization] == nil {
                // The path itself is the permission, and the route checks it.
                if Self.isSession(request) { return try await next(request, context) }
                if let token = WebSocketHandshake.token(in: request) {
                    return try await next(request, admit(try authorization(holding: token, context), context))
                }
                if let token = try AddressToken.find(in: request, of: context) {
                    return try await handle(request, context, withAddressToken: token, next: next)
                }
            }
            throw Self.failure("send the header Authorization: Bearer with a token; gatehouse token shows it", nil)
        }
        if let device = webhooks.device(holding: token) {
            guard request.method == .post, isEvents(request.uri.path, of: device) else {
                throw HomeError.permissionDenied("a webhook token is only valid for the events of its own device")
            }
            return try await next(request, context)
        }
        let sender = try authorization(holding: token, context)
        return try await next(held(request, by: sender), admit(sender, context))
    }

    /// The request with a body that counts only if the token permits as much at its end. The tokens of the file do not
    /// change.
    private func held(_ request: Request, by authorization: Authorization) -> Request {
        guard authorization.secretDigest != nil, request.method != .get, request.method != .head else { return request }
        var request = request
        request.body = RequestBody(
            asyncSequence: AuthorizedBody(body: request.body) { [tokens] in try tokens.requireStill(authorization) })
        return request
    }

    /// Handles a request whose token is in the address.
    private func handle(
        _ request: Request, _ context: GatewayRequestContext, withAddressToken token: String,
        next: (Request, GatewayRequestContext) async throws -> Response
    ) async throws -> Response {
        let authorization = try authorization(holding: token, context)
        guard authorization.access.isViewingOnly else {
            throw HomeError.permissionDenied(
                "a token in an address may permit only the scope view, because addresses are stored and passed on; "
                    + "gatehouse share makes such a token")
        }
        return AddressToken.protect(
            try await next(held(request, by: authorization), admit(authorization, context)))
    }

    private func authorization(
        holding token: String, _ context: GatewayRequestContext
    ) throws(HTTPFailure) -> Authorization {
        if let authorization = tokens.authorization(holding: token) { return authorization }
        shared.refusals.record(context.remoteHost ?? "unknown", at: .http)
        throw Self.failure(
            "the token is not valid or has expired; gatehouse token shows the right one", "invalid_token")
    }

    /// The context of a request whose sender is known.
    private func admit(_ authorization: Authorization, _ context: GatewayRequestContext) -> GatewayRequestContext {
        if shared.connections.vouch(for: context.channel, principal: authorization.principal) {
            context.channel.triggerUserOutboundEvent(SignedIn(), promise: nil)
        }
        var context = context
        context.authorization = authorization
        return context
    }

    /// Whether a path is that of a device's events. It may name the device by its identifier or its key.
    private func isEvents(_ path: String, of key: String) -> Bool {
        let parts = path.split(separator: "/", omittingEmptySubsequences: false)
        return parts.count == 5 && path.hasPrefix("/v1/devices/") && parts[4] == "events"
            && names.id(of: String(parts[3])) == names.id(of: key)
    }
    private static let secretPaths = [
        "/v1/webhooks/", "/v1/recording-links/", "/oauth/token", "/oauth/revoke", "/v1/sign-in", "/v1/event-images/",
        "/v1/camera-streams/", "/v1/push-pictures/",
    ]

    /// Whether a request changes or ends a WHEP or WHIP session. Its path contains 128 random bits that only the player
    /// knows, and widely used players send no token there (RFC 9725, section 4.8, leaves the choice to the server).
    static func isSession(_ request: Request) -> Bool {
        guard request.method == .patch || request.method == .delete else { return false }
        let parts = request.uri.path.split(separator: "/", omittingEmptySubsequences: false)
        return parts.count == 4 && parts[0].isEmpty && (parts[1] == "whep" || parts[1] == "whip")
    }

    /// The token of a header in the form `Bearer <token>` (RFC 6750, section 2.1).
    static func bearerToken(_ header: String?) -> String? {
        guard let header, header.utf8.count <= 512 else { return nil }
        let parts = header.split(separator: " ", maxSplits: 1, omittingEmptySubsequences: true)
        guard parts.count == 2, parts[0].lowercased() == "bearer" else { return nil }
        let token = parts[1].drop { $0 == " " }
        return token.isEmpty ? nil : String(token)
    }

    /// Whether a request is for the API of go2rtc, whose clients know no other sign-in than Basic.
    private static func isGo2RTC(_ request: Request) -> Bool {
        request.uri.path == "/api" || request.uri.path.hasPrefix("/api/")
    }

    /// The token of a header in the form `Basic <user:token>` (RFC 7617). The user name is ignored.
    static func basicToken(_ header: String?) -> String? {
        guard let header, header.utf8.count <= 1_024 else { return nil }
        let parts = header.split(separator: " ", omittingEmptySubsequences: true)
        guard parts.count == 2, parts[0].lowercased() == "basic", let bytes = Data(base64Encoded: String(parts[1])),
            let text = String(validating: bytes, as: UTF8.self), let colon = text.firstIndex(of: ":")
        else { return nil }
        let token = text[text.index(after: colon)...]
        return token.isEmpty ? nil : String(token)
    }

    private static func failure(_ message: String, _ error: String?) -> HTTPFailure {
        let challenge = "Bearer realm=\"gatehouse\"" + (error.map { ", error=\"\($0)\"" } ?? "")
        return HTTPFailure(error: .unauthenticated(message), headers: [.wwwAuthenticate: challenge])
    }
}
