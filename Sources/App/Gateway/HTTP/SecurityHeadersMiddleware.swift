import HTTPTypes
import Hummingbird

/// Headers that keep a browser from doing more with a response than it should.
struct SecurityHeadersMiddleware: RouterMiddleware {
    /// The page needs its own scripts and styles, the API, and media over WebRTC; nothing else.
    static let contentSecurityPolicy = [
        "default-src 'none'", "script-src 'self'", "style-src 'self'", "connect-src 'self'",
        "img-src 'self' data: blob:",
        "media-src 'self' blob: mediastream:", "manifest-src 'self'", "base-uri 'none'", "form-action 'none'",
        "frame-ancestors 'none'",
    ].joined(separator: "; ")

    func handle(
        _ request: Request, context: GatewayRequestContext,
        next: (Request, GatewayRequestContext) async throws -> Response
    ) async throws -> Response {
        var response = try await next(request, context)
        response.headers[.contentSecurityPolicy] = Self.contentSecurityPolicy
        response.headers[.xContentTypeOptions] = "nosniff"
        response.headers[Self.referrerPolicy] = "no-referrer"
        response.headers[Self.permissionsPolicy] = "microphone=(self), camera=(self), geolocation=()"
        response.headers[Self.crossOriginResourcePolicy] = "same-origin"
        return response
    }

    private static let referrerPolicy = HTTPField.Name("Referrer-Policy") ?? .from
    private static let permissionsPolicy = HTTPField.Name("Permissions-Policy") ?? .from
    private static let crossOriginResourcePolicy = HTTPField.Name("Cross-Origin-Resource-Policy") ?? .from
}
