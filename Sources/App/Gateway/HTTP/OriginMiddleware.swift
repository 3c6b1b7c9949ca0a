import HTTPTypes
import HomeTypes
import Hummingbird

/// Refuses requests of foreign web pages, answers the preflights of listed ones, and adds the CORS headers.
struct OriginMiddleware: RouterMiddleware {
    let policy: OriginPolicy
    let scheme: String

    static let requestMethod = HTTPField.Name.accessControlRequestMethod

    func handle(
        _ request: Request, context: GatewayRequestContext,
        next: (Request, GatewayRequestContext) async throws -> Response
    ) async throws -> Response {
        let verdict = self.policy.verdict(
            origin: request.headers[.origin], scheme: self.scheme, host: request.head.authority)
        switch verdict {
        case .sameOrigin:
            return try await next(request, context)
        case .refused:
            throw HomeError.permissionDenied(
                "pages of this origin may not use the gateway; list the origin under http.origins in the config")
        case .listed(let origin):
            // A preflight carries no token; it learns only what the page's origin is told anyway.
            if request.method == .options, request.headers[Self.requestMethod] != nil {
                return Self.preflightResponse(origin: origin)
            }
            var response = try await next(request, context)
            response.headers[.accessControlAllowOrigin] = origin
            response.headers[.accessControlExposeHeaders] =
                "Location, ETag, Link, Accept-Patch, Accept-Post, Retry-After, Age, Age-Milliseconds"
            response.headers[.vary] = "Origin"
            return response
        }
    }

    private static func preflightResponse(origin: String) -> Response {
        Response(
            status: .noContent,
            headers: [
                .accessControlAllowOrigin: origin,
                .accessControlAllowMethods: "GET, POST, PUT, PATCH, DELETE, OPTIONS",
                .accessControlAllowHeaders: "Authorization, Content-Type, If-Match, Last-Event-ID",
                .accessControlMaxAge: "600",
                .vary: "Origin",
            ])
    }
}
