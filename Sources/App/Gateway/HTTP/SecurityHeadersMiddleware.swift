import HTTPTypes
import Hummingbird

/// Headers that keep a browser from doing more with a response than it should.
struct SecurityHeadersMiddleware: RouterMiddleware {
    /// The page needs its own scripts and styles, the API, and media over WebRTC; nothing else.
    static let contentSecurityPolicy = contentSecurityPolicy(frameAncestors: [])

    /// The policy of a page that pages of these origins may show in a frame.
    static func contentSecurityPolicy(frameAncestors: [String]) -> String {
        (directives + ["frame-ancestors " + (frameAncestors.isEmpty ? "'none'" : frameAncestors.joined(separator: " "))])
            .joined(separator: "; ")
    }

    private static let directives = [
        "default-src 'none'", "script-src 'self'", "style-src 'self'", "connect-src 'self'",
        "img-src 'self' data: blob:",
        "media-src 'self' blob: mediastream:", "manifest-src 'self'", "base-uri 'none'", "form-action 'none'",
    ]

    func handle(
        _ request: Request, context: GatewayRequestContext,
        next: (Request, GatewayRequestContext) async throws -> Response
    ) async throws -> Response {
        var response = try await next(request, context)
        // A camera's page says itself who may show it in a frame, and a picture whose address has a token who may load it.
        if response.headers[.contentSecurityPolicy] == nil {
            response.headers[.contentSecurityPolicy] = Self.contentSecurityPolicy
        }
        response.headers[.xContentTypeOptions] = "nosniff"
        response.headers[Self.referrerPolicy] = "no-referrer"
        response.headers[Self.permissionsPolicy] = "microphone=(self), camera=(self), geolocation=()"
        if response.headers[Self.crossOriginResourcePolicy] == nil {
            response.headers[Self.crossOriginResourcePolicy] = "same-origin"
        }
        return response
    }

    private static let referrerPolicy = HTTPField.Name("Referrer-Policy") ?? .from
    private static let permissionsPolicy = HTTPField.Name("Permissions-Policy") ?? .from
    static let crossOriginResourcePolicy = HTTPField.Name("Cross-Origin-Resource-Policy") ?? .from
}
