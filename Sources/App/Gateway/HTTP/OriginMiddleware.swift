import HTTPTypes
import HomeTypes
import Hummingbird

/// Refuses requests from other origins' web pages, answers the preflights of listed ones, and adds the CORS headers.
struct OriginMiddleware: RouterMiddleware {
    let policy: OriginPolicy
    let scheme: String

    static let requestMethod = HTTPField.Name.accessControlRequestMethod

    func handle(
        _ request: Request, context: GatewayRequestContext,
        next: (Request, GatewayRequestContext) async throws -> Response
    ) async throws -> Response {
        var verdict = policy.verdict(
            origin: request.headers[.origin], scheme: scheme, host: request.head.authority)
        // A cloud's display has an origin that nobody here knows. The stream's own token is what opens it.
        if case .refused = verdict, request.uri.path.hasPrefix(Self.streams), let origin = request.headers[.origin],
            origin.utf8.count <= Self.maximumOrigin
        {
            verdict = .listed(origin)
        }
        // Such displays send their requests with credentials, and their browsers want to read that they may (Google's
        // cloud-to-cloud CameraStream, "Signaling"). No cookie of the gateway opens a stream, so nothing is given away.
        let credentials: HTTPFields =
            request.uri.path.hasPrefix(Self.streams) ? [.accessControlAllowCredentials: "true"] : [:]
        switch verdict {
        case .sameOrigin:
            return try await next(request, context)
        case .refused:
            let origin = request.headers[.origin].flatMap { $0.utf8.count <= Self.maximumOrigin ? $0 : nil }
            // The preflight lets the browser send the request, which is then refused in a way that the page can read.
            // Otherwise a developer would see a network error without a reason.
            if let origin, Self.isPreflight(request) { return Self.preflightResponse(origin: origin) }
            throw HTTPFailure(
                error: .permissionDenied(
                    "pages of this origin may not use the gateway; list the origin under http.origins in the config"),
                headers: origin.map(Self.headers) ?? [:])
        case .listed(let origin):
            // A preflight carries no token. It reveals only what the page's origin may know anyway.
            if Self.isPreflight(request) { return Self.preflightResponse(origin: origin, credentials) }
            var response = try await next(request, context)
            for field in Self.headers(for: origin) + credentials { response.headers[field.name] = field.value }
            return response
        }
    }

    private static let streams = "/v1/camera-streams/"

    /// Longer origins are not echoed to their senders.
    private static let maximumOrigin = 300

    private static func isPreflight(_ request: Request) -> Bool {
        request.method == .options && request.headers[requestMethod] != nil
    }

    private static func headers(for origin: String) -> HTTPFields {
        [
            .accessControlAllowOrigin: origin,
            .accessControlExposeHeaders:
                "Location, ETag, Link, Accept-Patch, Accept-Post, Retry-After, Age, Age-Milliseconds",
            .vary: "Origin",
        ]
    }

    private static func preflightResponse(origin: String, _ more: HTTPFields = [:]) -> Response {
        let headers: HTTPFields = [
            .accessControlAllowOrigin: origin,
            .accessControlAllowMethods: "GET, POST, PUT, PATCH, DELETE, OPTIONS",
            .accessControlAllowHeaders:
                "Authorization, Content-Type, Grpc-Timeout, Idempotency-Key, If-Match, Last-Event-ID",
            .accessControlMaxAge: "600",
            .vary: "Origin",
        ]
        return Response(status: .noContent, headers: headers + more)
    }
}
