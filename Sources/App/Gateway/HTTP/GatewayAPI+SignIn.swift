import Foundation
import HTTPTypes
import HomeTypes
import Hummingbird

/// Signing in with a name and a password, and signing out.
extension GatewayAPI {
    /// The body of `POST /v1/sign-in`.
    private struct Credentials: Decodable {
        var name: String
        var password: String
    }

    /// Its response.
    struct SignedIn: Codable, Sendable, Equatable {
        var token: String
        var principal: String
        var expiresAt: Date
    }

    func addSignInRoutes(to router: Router<GatewayRequestContext>) {
        router.post("/v1/sign-in") { request, context in
            let credentials = try await JSONBody.read(Credentials.self, from: request)
            let host = context.remoteHost.map(Self.literal) ?? "unknown"
            let session: TokenRegistry.Session
            do throws(HomeError) {
                session = try await passwords.signIn(credentials.name, credentials.password, from: host)
            } catch {
                guard error.code == .unauthenticated else { throw error }
                shared.refusals.record(context.remoteHost ?? "unknown", at: .http)
                throw HTTPFailure(error: error, headers: [.wwwAuthenticate: "Bearer realm=\"gatehouse\""])
            }
            return try JSONBody.response(
                SignedIn(token: session.token, principal: session.principal, expiresAt: session.expiresAt))
        }
        router.post("/v1/sign-out") { request, _ in
            try await tokens.endSession(of: AuthenticationMiddleware.bearerToken(request.headers[.authorization]) ?? "")
            return Response(status: .noContent)
        }
    }
}
