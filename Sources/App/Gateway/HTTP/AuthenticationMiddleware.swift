import DatagramPort
import HTTPTypes
import HomeTypes
import Hummingbird

/// Lets no request pass without a token, but for the paths that are public. Loopback is no exception.
struct AuthenticationMiddleware: RouterMiddleware {
    let tokens: TokenStore
    /// The secrets of devices, which open one path each.
    let webhooks: WebhookTokens
    /// Who is connected, and who was refused.
    let shared: ConnectionGuard
    /// The paths that may be read (GET) by everybody: they tell nothing of the home.
    let publicPaths: Set<String>

    func handle(
        _ request: Request, context: GatewayRequestContext,
        next: (Request, GatewayRequestContext) async throws -> Response
    ) async throws -> Response {
        if request.method == .get, self.publicPaths.contains(request.uri.path) {
            return try await next(request, context)
        }
        // The secret stands in the path, and the route looks at it.
        if request.uri.path.hasPrefix("/v1/webhooks/") { return try await next(request, context) }
        guard let token = Self.bearerToken(request.headers[.authorization]) else {
            // The path itself is the permission, and the route looks at it.
            if request.headers[.authorization] == nil, Self.isSession(request) {
                return try await next(request, context)
            }
            throw Self.failure("send the header Authorization: Bearer with a token; gatehouse token shows it", nil)
        }
        if let device = self.webhooks.device(holding: token) {
            guard request.method == .post, request.uri.path == "/v1/devices/\(device)/events" else {
                throw HomeError.permissionDenied("a webhook token opens nothing but its own device's events")
            }
            return try await next(request, context)
        }
        guard let principal = self.tokens.principal(holding: token) else {
            self.shared.refusals.note(context.remoteHost ?? "unknown", at: .http)
            throw Self.failure("the token is not known here; gatehouse token shows the right one", "invalid_token")
        }
        if self.shared.connections.vouch(for: context.channel, principal: principal) {
            context.channel.triggerUserOutboundEvent(SignedIn(), promise: nil)
        }
        var context = context
        context.principal = principal
        return try await next(request, context)
    }

    /// Whether a request changes or ends a session of WHEP or WHIP. Its path holds 128 random bits that only the player
    /// was told, and widely used players send no token there (RFC 9725, section 4.8, leaves the choice to the server).
    static func isSession(_ request: Request) -> Bool {
        guard request.method == .patch || request.method == .delete else { return false }
        let parts = request.uri.path.split(separator: "/", omittingEmptySubsequences: false)
        return parts.count == 4 && parts[0].isEmpty && (parts[1] == "whep" || parts[1] == "whip")
    }

    /// The token of a header of the form `Bearer <token>` (RFC 6750, section 2.1).
    static func bearerToken(_ header: String?) -> String? {
        guard let header, header.utf8.count <= 512 else { return nil }
        let parts = header.split(separator: " ", maxSplits: 1, omittingEmptySubsequences: true)
        guard parts.count == 2, parts[0].lowercased() == "bearer" else { return nil }
        let token = parts[1].drop { $0 == " " }
        return token.isEmpty ? nil : String(token)
    }

    private static func failure(_ message: String, _ error: String?) -> HTTPFailure {
        let challenge = "Bearer realm=\"gatehouse\"" + (error.map { ", error=\"\($0)\"" } ?? "")
        return HTTPFailure(error: .unauthenticated(message), headers: [.wwwAuthenticate: challenge])
    }
}
