import Foundation
import HTTPTypes
import HomeTypes
import Hummingbird
import NIOCore

/// Account linking by OAuth 2: the authorization code with PKCE, refresh and revocation (RFC 6749, 7636, 7009, 8414).
///
/// `GET /oauth/authorize` is a file of the page. It asks the person to sign in, and what the client may do.
extension GatewayAPI {
    /// What the consent page shows of a client.
    struct OAuthClientAnswer: Codable, Sendable, Equatable {
        var id: String
        var name: String
    }

    /// The body of `POST /v1/oauth/authorizations`: the parameters of the client's request, and what the person decided.
    private struct Decision: Codable, Sendable {
        var clientID: String
        var redirect: String
        var responseType: String
        var state: String
        var codeChallenge: String?
        var codeChallengeMethod: String?
        /// What the client may do; absent when the person refuses.
        var grants: [Access.Grant]?
    }

    /// Where the browser goes next.
    struct RedirectAnswer: Codable, Sendable, Equatable {
        var location: String
    }

    /// The metadata of RFC 8414, section 2, in the names of that document.
    private struct ServerMetadata: Codable, Sendable {
        var issuer: String
        var authorization_endpoint: String
        var token_endpoint: String
        var revocation_endpoint: String
        var response_types_supported = ["code"]
        var grant_types_supported = ["authorization_code", "refresh_token"]
        var code_challenge_methods_supported = ["S256"]
        var token_endpoint_auth_methods_supported = ["client_secret_basic", "client_secret_post", "none"]
        var revocation_endpoint_auth_methods_supported = ["client_secret_basic", "client_secret_post", "none"]
    }

    private struct OAuthFailure: Codable, Sendable {
        var error: String
        var error_description: String
    }

    func addOAuthRoutes(to router: Router<GatewayRequestContext>, addresses: AbsoluteAddresses) {
        router.get("/.well-known/oauth-authorization-server") { request, context in
            let issuer = addresses.base(of: request, localHost: context.localHost)
            return try JSONBody.response(
                ServerMetadata(
                    issuer: issuer, authorization_endpoint: issuer + "/oauth/authorize",
                    token_endpoint: issuer + "/oauth/token", revocation_endpoint: issuer + "/oauth/revoke"))
        }
        router.get("/oauth/authorize") { request, _ in
            guard let page = page.assets[WebPage.linkPage] else {
                throw HomeError.notFound("the page \(WebPage.linkPage) is missing")
            }
            return Self.response(page, to: request, caching: "no-store")
        }
        router.get("/v1/oauth/clients/:client") { _, context in
            let client = try client(context.parameters.require("client"))
            return try JSONBody.response(OAuthClientAnswer(id: client.id, name: client.name))
        }
        router.post("/v1/oauth/authorizations") { request, context in
            let decision = try await JSONBody.read(Decision.self, from: request)
            return try JSONBody.response(
                RedirectAnswer(location: try decide(decision, by: authorization(context))), status: .created)
        }
        router.post("/oauth/token") { request, context in
            try await answering(request, context) { form, client in
                switch try form.require("grant_type") {
                case "authorization_code":
                    return try await links.redeem(
                        form.require("code"), client: client, redirect: form["redirect_uri"],
                        verifier: form["code_verifier"])
                case "refresh_token":
                    return try await links.refresh(form.require("refresh_token"), client: client)
                default:
                    throw OAuthError(
                        .unsupportedGrantType, "grant_type must be authorization_code or refresh_token")
                }
            }
        }
        router.post("/oauth/revoke") { request, context in
            try await answering(request, context) { form, client -> AccountLinks.Tokens? in
                await links.revoke(try form.require("token"), client: client)
                return nil
            }
        }
    }

    private func client(_ id: String) throws(HomeError) -> GatewayConfiguration.OAuthClient {
        guard let client = links.client(id) else {
            throw .notFound(
                "this gateway knows no client with this client_id; list it under oauth.clients in the config")
        }
        return client
    }

    /// What a person has decided, as the address that the browser goes to. A forged address is never visited: it is
    /// compared as a whole with those of the config before anything else.
    private func decide(_ decision: Decision, by person: Authorization) throws(HomeError) -> String {
        let client = try client(decision.clientID)
        guard client.redirects.contains(decision.redirect) else {
            throw .invalidArgument("redirect_uri is not one of the addresses that the config lists for this client")
        }
        guard decision.responseType == "code" else {
            throw .invalidArgument("response_type must be code")
        }
        guard (1...2_048).contains(decision.state.utf8.count) else {
            throw .invalidArgument("state is missing, or longer than 2048 bytes")
        }
        guard let grants = decision.grants else {
            return Self.redirect(decision.redirect, [("error", "access_denied"), ("state", decision.state)])
        }
        // The owner's own token has no record.
        let record = try person.tokenID.map { id throws(HomeError) in try tokens.token(id).record }
        // A program that was let in does not let others in.
        guard record?.clientID == nil else {
            throw .permissionDenied("a linked account cannot link others; sign in with a token of your own")
        }
        let challenge = try Self.challenge(decision, isPublic: client.secret == nil)
        let code = try links.code(
            for: .init(
                clientID: client.id, redirect: decision.redirect, challenge: challenge,
                access: try access(grants, by: person), principal: person.principal,
                secretDigest: person.secretDigest))
        return Self.redirect(decision.redirect, [("code", code), ("state", decision.state)])
    }

    private static func challenge(_ decision: Decision, isPublic: Bool) throws(HomeError) -> String? {
        guard let challenge = decision.codeChallenge else {
            guard !isPublic else { throw .invalidArgument("code_challenge is missing; this client needs PKCE") }
            return nil
        }
        guard decision.codeChallengeMethod == "S256" else {
            throw .invalidArgument("code_challenge_method must be S256")
        }
        guard challenge.utf8.count == 43 else {
            throw .invalidArgument("code_challenge must be the 43 characters of a SHA-256 in Base64url")
        }
        return challenge
    }

    private static func redirect(_ address: String, _ parameters: [(String, String)]) -> String {
        let query = parameters.map { "\($0.0)=\(FormBody.encoded($0.1))" }.joined(separator: "&")
        return address + (address.contains("?") ? "&" : "?") + query
    }

    /// Reads the form, finds the client, and answers in OAuth's own form. Nothing of it is cached (RFC 6749, section 5.1).
    private func answering(
        _ request: Request, _ context: GatewayRequestContext,
        _ body: (FormBody, GatewayConfiguration.OAuthClient) async throws -> AccountLinks.Tokens?
    ) async throws -> Response {
        do {
            let text = try await request.bytes(
                mediaTypes: ["application/x-www-form-urlencoded"], limit: 16 << 10)
            let form = try FormBody(String(decoding: text, as: UTF8.self))
            let (id, secret) = try Self.credentials(request, form)
            let client = try links.authenticated(id: id, secret: secret)
            guard let tokens = try await body(form, client) else {
                return Response(status: .ok, headers: [.cacheControl: "no-store"])
            }
            return try JSONBody.response(tokens)
        } catch let error as OAuthError {
            var headers: HTTPFields = [:]
            if error.code == .invalidClient {
                headers[.wwwAuthenticate] = "Basic realm=\"gatehouse\""
                shared.refusals.record(context.remoteHost ?? "unknown", at: .http)
            }
            var response = try JSONBody.response(
                OAuthFailure(error: error.code.rawValue, error_description: error.description),
                status: error.code == .invalidClient ? .unauthorized : .badRequest)
            for field in headers { response.headers[field.name] = field.value }
            return response
        }
    }

    /// The client's id and secret, from the header (RFC 6749, section 2.3.1: both are form-encoded inside) or from the
    /// form, but not from both.
    private static func credentials(
        _ request: Request, _ form: FormBody
    ) throws(OAuthError) -> (id: String, secret: String?) {
        guard let header = request.headers[.authorization] else {
            return (try form.require("client_id"), form["client_secret"])
        }
        let parts = header.split(separator: " ", maxSplits: 1)
        guard parts.count == 2, parts[0].lowercased() == "basic", form["client_secret"] == nil,
            let data = Data(base64Encoded: String(parts[1])),
            let text = String(data: data, encoding: .utf8)?.split(
                separator: ":", maxSplits: 1, omittingEmptySubsequences: false),
            text.count == 2, let id = text[0].removingPercentEncoding, let secret = text[1].removingPercentEncoding
        else {
            throw OAuthError(.invalidRequest, "the header Authorization must be Basic with the client's id and secret")
        }
        return (id, secret)
    }
}
