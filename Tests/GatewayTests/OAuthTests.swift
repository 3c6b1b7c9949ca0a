import Foundation
import HTTPTypes
import HomeTypes
import NIOConcurrencyHelpers
import Signalling
import Testing
import Transport

@testable import Gateway

@Suite struct OAuthTests {
    static let verifier = "the-verifier-of-the-tests-which-is-long-enough-0000"
    static let google = "https://oauth-redirect.googleusercontent.com/r/project-1"
    static let form = "application/x-www-form-urlencoded"
    static let secret = "the-secret-of-google"

    func gateway() throws -> TestGateway {
        try TestGateway {
            $0.oauthClients = [
                .init(id: "google", name: "Google Home", secret: Self.secret, redirects: [Self.google]),
                .init(id: "app", name: "App", redirects: ["com.example.app:/done", "https://app.example/done?x=1"]),
            ]
        }
    }

    /// What the consent page sends.
    func decision(_ changes: [String: Any] = [:]) throws -> String {
        var body: [String: Any] = [
            "clientID": "app", "redirect": "com.example.app:/done", "responseType": "code", "state": "s&1",
            "codeChallenge": AuthorizationCodes.challenge(of: Self.verifier), "codeChallengeMethod": "S256",
            "grants": [["scopes": ["read"], "deviceID": "door"]],
        ]
        for (key, value) in changes { body[key] = value }
        return String(decoding: try JSONSerialization.data(withJSONObject: body), as: UTF8.self)
    }

    func code(_ client: TestGateway.Client, _ changes: [String: Any] = [:]) async throws -> String {
        let response = try await client.send(
            .post, "/v1/oauth/authorizations", decision(changes), type: "application/json")
        #expect(response.status == .created, "\(response.text)")
        let location = try response.decoded(GatewayAPI.RedirectAnswer.self).location
        let code = try #require(URLComponents(string: location)?.queryItems?.first { $0.name == "code" }?.value)
        return code
    }

    func exchange(
        _ client: TestGateway.Client, _ fields: [String: String], header: String? = nil
    ) async throws -> TestResponse {
        let body = fields.map { "\($0)=\(FormBody.encoded($1))" }.joined(separator: "&")
        return try await client.send(
            .post, "/oauth/token", body, type: Self.form, token: nil,
            headers: header.map { [.authorization: $0] } ?? [:])
    }

    func redeem(_ client: TestGateway.Client, _ code: String, _ changes: [String: String] = [:]) async throws
        -> TestResponse
    {
        try await exchange(
            client,
            [
                "grant_type": "authorization_code", "client_id": "app", "code": code,
                "redirect_uri": "com.example.app:/done", "code_verifier": Self.verifier,
            ].merging(changes) { $1 })
    }

    @Test func `a link ends when the token ends that it was made with`() async throws {
        let gateway = try gateway()
        let end = Date(timeIntervalSince1970: Double(Int(Date().timeIntervalSince1970)) + 3_600)
        try await gateway.addToken(
            "gatehouse_guest", named: "visitor", Access([.init([.read], deviceID: "door")]), expiresAt: end)
        try await gateway.run { client in
            let decided = try await client.send(
                .post, "/v1/oauth/authorizations", decision(), type: "application/json", token: "gatehouse_guest")
            let location = try decided.decoded(GatewayAPI.RedirectAnswer.self).location
            let code = try #require(URLComponents(string: location)?.queryItems?.first { $0.name == "code" }?.value)
            #expect(try await redeem(client, code).status == .ok)
        }
        let link = try #require(gateway.api.tokens.all.first { $0.record.clientID == "app" })
        #expect(link.record.expiresAt == end)
    }

    @Test func `an app is linked, refreshes its tokens and revokes them`() async throws {
        let gateway = try gateway()
        try await gateway.run { client in
            let tokens = try await redeem(client, code(client)).decoded(AccountLinks.Tokens.self)
            let first = try #require(tokens.refresh_token)
            let devices = try await client.send(.get, "/v1/devices", token: tokens.access_token)
            #expect(try devices.decoded(GatewayAPI.DeviceList.self).devices.map(\.id) == ["door"])
            // A refresh token does not open the API.
            #expect(try await client.send(.get, "/v1/devices", token: first).status == .unauthorized)

            let refreshed = try await exchange(
                client, ["grant_type": "refresh_token", "client_id": "app", "refresh_token": first]
            ).decoded(AccountLinks.Tokens.self)
            #expect(refreshed.refresh_token != first && refreshed.access_token != tokens.access_token)
            #expect(try await client.send(.get, "/v1/access", token: refreshed.access_token).status == .ok)

            let revoke = "client_id=app&token=\(refreshed.access_token)"
            #expect(
                try await client.send(.post, "/oauth/revoke", revoke, type: Self.form, token: nil).status == .ok)
            #expect(try await client.send(.get, "/v1/access", token: refreshed.access_token).status == .unauthorized)
            // An unknown token is not an error (RFC 7009, section 2.2).
            #expect(
                try await client.send(.post, "/oauth/revoke", revoke, type: Self.form, token: nil).status == .ok)
        }
    }

    @Test func `a refresh token that comes twice ends the link`() async throws {
        let gateway = try gateway()
        try await gateway.run { client in
            let tokens = try await redeem(client, code(client)).decoded(AccountLinks.Tokens.self)
            let fields = [
                "grant_type": "refresh_token", "client_id": "app", "refresh_token": try #require(tokens.refresh_token),
            ]
            let refreshed = try await exchange(client, fields).decoded(AccountLinks.Tokens.self)
            #expect(try await exchange(client, fields).text.contains("invalid_grant"))
            #expect(try await client.send(.get, "/v1/access", token: refreshed.access_token).status == .unauthorized)
        }
        #expect(gateway.api.tokens.all.isEmpty)
    }

    @Test func `Google keeps its refresh token, and proves itself with its secret`() async throws {
        let gateway = try gateway()
        try await gateway.run { client in
            let changes: [String: Any] = [
                "clientID": "google", "redirect": Self.google, "codeChallenge": NSNull(),
                "codeChallengeMethod": NSNull(),
            ]
            let fields = [
                "grant_type": "authorization_code", "client_id": "google", "client_secret": Self.secret,
                "redirect_uri": Self.google, "code": try await code(client, changes),
            ]
            let wrong = try await exchange(client, fields.merging(["client_secret": "wrong"]) { $1 })
            #expect(wrong.status == .unauthorized && wrong.text.contains("invalid_client"))
            let tokens = try await exchange(client, fields).decoded(AccountLinks.Tokens.self)
            let refresh = ["grant_type": "refresh_token", "refresh_token": try #require(tokens.refresh_token)]
            let header = "Basic " + Data("google:\(Self.secret)".utf8).base64EncodedString()
            for _ in 0..<2 {
                let again = try await exchange(client, refresh, header: header).decoded(AccountLinks.Tokens.self)
                #expect(again.refresh_token == nil)
            }
            // Another client's refresh token opens nothing.
            #expect(try await exchange(client, refresh.merging(["client_id": "app"]) { $1 }).status == .badRequest)
            // The link is one of the tokens that the owner sees.
            #expect(gateway.api.tokens.all.map(\.record.name) == ["Google Home of owner"])
        }
    }

    @Test func `a code that is sent several times at once leaves no token that works`() async throws {
        let gateway = try gateway()
        let links = gateway.api.links
        let client = try #require(links.client("app"))
        for _ in 0..<20 {
            let code = try links.code(
                for: .init(
                    clientID: "app", redirect: "r", challenge: nil, access: .everything, principal: "owner"))
            let tokens = await withTaskGroup(of: AccountLinks.Tokens?.self) { group in
                for _ in 0..<8 {
                    group.addTask {
                        try? await links.redeem(code, client: client, redirect: "r", verifier: nil)
                    }
                }
                return await group.reduce(into: []) { $0.append($1) }.compactMap { $0 }
            }
            #expect(tokens.count <= 1)
            #expect(gateway.api.tokens.all.isEmpty)
        }
    }

    @Test func `a code that is replayed revokes what it led to`() async throws {
        let gateway = try gateway()
        try await gateway.run { client in
            let code = try await code(client)
            let tokens = try await redeem(client, code).decoded(AccountLinks.Tokens.self)
            #expect(try await redeem(client, code).text.contains("invalid_grant"))
            #expect(try await client.send(.get, "/v1/access", token: tokens.access_token).status == .unauthorized)
        }
    }

    @Test(arguments: [
        ["code_verifier": "another-verifier-of-the-tests-which-is-long-too-00"], ["code_verifier": ""],
        ["redirect_uri": "https://evil.example/"], ["redirect_uri": ""], ["client_id": "google"],
        ["code": "gatehouse_code_x"], ["grant_type": "password"], ["grant_type": ""], ["code": ""],
    ])
    func `a code is refused with anything else than what it was made for`(changes: [String: String]) async throws {
        let gateway = try gateway()
        try await gateway.run { client in
            let response = try await redeem(client, code(client), changes)
            #expect(response.status == .badRequest || response.status == .unauthorized)
            #expect(response.text.contains(#""error":"#))
        }
        #expect(gateway.api.tokens.all.isEmpty)
    }

    @Test(
        arguments: [
            ["redirect": "https://evil.example/"], ["redirect": "com.example.app:/done/"], ["redirect": ""],
            ["redirect": "https://oauth-redirect.googleusercontent.com/r/project-1"], ["state": ""],
            ["responseType": "token"], ["codeChallengeMethod": "plain"], ["codeChallenge": "short"],
            ["codeChallenge": nil], ["clientID": "nobody"],
        ] as [[String: String?]])
    func `a forged request gets no code and is sent nowhere`(changes: [String: String?]) async throws {
        let gateway = try gateway()
        try await gateway.run { client in
            let response = try await client.send(
                .post, "/v1/oauth/authorizations", decision(changes.mapValues { $0 ?? NSNull() as Any }),
                type: "application/json")
            #expect(response.status == .badRequest || response.status == .notFound, "\(changes)")
            #expect(!response.text.contains("location"))
        }
    }

    @Test func `a refusal goes back to the client, and a linked program links no other`() async throws {
        let gateway = try gateway()
        try await gateway.run { client in
            let refused = try await client.send(
                .post, "/v1/oauth/authorizations", decision(["grants": NSNull()]), type: "application/json")
            #expect(
                try refused.decoded(GatewayAPI.RedirectAnswer.self).location
                    == "com.example.app:/done?error=access_denied&state=s%261")
            let tokens = try await redeem(client, code(client)).decoded(AccountLinks.Tokens.self)
            let chain = try await client.send(
                .post, "/v1/oauth/authorizations", decision(), type: "application/json", token: tokens.access_token)
            #expect(chain.status == .forbidden)
        }
    }

    @Test func `the metadata and the page are open, and forms that are not forms are refused`() async throws {
        let gateway = try gateway()
        try await gateway.run { client in
            let page = try await client.send(.get, "/oauth/authorize?client_id=app", token: nil)
            #expect(page.status == .ok && page.text.contains("consent"))
            let metadata = try await client.send(.get, "/.well-known/oauth-authorization-server", token: nil)
            #expect(metadata.text.contains("S256"))
            // Without another setting, the addresses are those of the listener that was asked.
            #expect(metadata.text.contains("\"issuer\":\"http://"))
            #expect(
                try await client.send(.post, "/oauth/token", "{}", type: "application/json", token: nil).status
                    == .unsupportedMediaType)
            for body in ["client_id=app&client_id=app", "client_id=%zz", ""] {
                let response = try await client.send(.post, "/oauth/token", body, type: Self.form, token: nil)
                #expect(response.status == .badRequest && response.text.contains("invalid_request"), "\(body)")
            }
            let large = try await client.send(
                .post, "/oauth/token", String(repeating: "a", count: 20_000), type: Self.form, token: nil)
            #expect(large.status == .contentTooLarge)
        }
    }

    @Test func `codes and refresh tokens end by the clock`() {
        var codes = AuthorizationCodes()
        let consent = AuthorizationCodes.Consent(
            clientID: "app", redirect: "r", challenge: nil, access: .everything, principal: "owner")
        let start = Date(timeIntervalSince1970: 1_000)
        let refusal = codes.add("c", consent, at: start)
        #expect(refusal == nil)
        let late = codes.redeem(
            "c", clientID: "app", redirect: "r", verifier: nil, at: start.addingTimeInterval(60))
        #expect(late == .refused("the code has expired"))
        let again = codes.redeem("c", clientID: "app", redirect: "r", verifier: nil, at: start)
        #expect(again == .replayed(tokenID: nil))
        let refusals = (0..<AuthorizationCodes.shares.total).compactMap { codes.add("\($0)", consent, at: start) }
        #expect(refusals == [.full(AuthorizationCodes.shares.total)])
        let later = codes.add("later", consent, at: start.addingTimeInterval(AuthorizationCodes.memory))
        #expect(later == nil)
    }

    @Test func `one principal does not take all codes`() {
        var codes = AuthorizationCodes()
        var consent = AuthorizationCodes.Consent(
            clientID: "app", redirect: "r", challenge: nil, access: .everything, principal: "ana")
        let start = Date(timeIntervalSince1970: 1_000)
        let share = AuthorizationCodes.shares.share
        let refusals = (0...share).compactMap { codes.add("\($0)", consent, at: start) }
        #expect(refusals == [.share(share)])
        consent.principal = "bea"
        let ofBea = codes.add("bea", consent, at: start)
        #expect(ofBea == nil)
    }

    /// What happens to a person's own token between the consent and the redemption of its code.
    enum Loss: CaseIterable, Sendable { case revoked, reduced, signedOut, otherPassword, expired }

    private static let hashes = (1...2).compactMap { PasswordHash("correct horse battery \($0)") }

    @Test(arguments: Loss.allCases)
    func `a code does not outlive the rights of the person who agreed`(loss: Loss) async throws {
        let clock = Locked(Date(timeIntervalSince1970: 1_000))
        let registry = TokenRegistry(file: TokenStore(tokens: []), now: { clock.withLock { $0 } })
        registry.use { _ in "s1" }
        let client = GatewayConfiguration.OAuthClient(id: "app", name: "App", redirects: ["r"])
        let links = AccountLinks(clients: [client], registry: registry, structureOf: { _ in "s1" })
        let own = "gatehouse_ana"
        let digest = TokenRegistry.digest(of: own)
        let record = TokenRecord(
            id: TokenRegistry.newID(), name: "ana", access: Access([.init([.read, .control], structureID: "s1")]),
            createdAt: clock.withLock { $0 }, createdBy: "owner", expiresAt: clock.withLock { $0 + 30 },
            password: Self.hashes[0], secrets: [.init(kind: .access, digest: digest)])
        try await registry.add(record)
        func code() throws -> String {
            try links.code(
                for: .init(
                    clientID: "app", redirect: "r", challenge: nil,
                    access: Access([.init([.read, .control], deviceID: "door")]), principal: "ana",
                    secretDigest: digest))
        }
        _ = try await links.redeem(code(), client: client, redirect: "r", verifier: nil)
        let link = try #require(registry.all.first { $0.record.clientID == "app" })
        #expect(link.record.expiresAt == record.expiresAt)

        let kept = try code()
        switch loss {
        case .revoked: try await registry.revoke(record.id)
        case .reduced: try await registry.change(record.id) { $0.access.grants[0].scopes = [.read] }
        case .signedOut: try await registry.endSession(of: own)
        case .otherPassword:
            try await registry.change(record.id) {
                $0.password = Self.hashes[1]
                $0.secrets = []
            }
        case .expired: clock.withLock { $0 += 31 }
        }
        let error = await #expect(throws: OAuthError.self) {
            try await links.redeem(kept, client: client, redirect: "r", verifier: nil)
        }
        #expect(error?.code == .invalidGrant)
        // Nor does a link that was made before.
        let remaining = registry.all.filter { $0.record.clientID == "app" }.map(\.record.access)
        switch loss {
        case .revoked, .otherPassword, .expired: #expect(remaining.isEmpty)
        case .reduced: #expect(remaining == [Access([.init([.read], deviceID: "door")])])
        // The token has all of its rights.
        case .signedOut: #expect(remaining == [Access([.init([.read, .control], deviceID: "door")])])
        }
    }

    @Test func `a code of a token that is revoked is refused`() async throws {
        let gateway = try gateway()
        let id = try await gateway.addToken("gatehouse_guest", named: "visitor", Access([.init([.read])]))
        try await gateway.run { client in
            let decided = try await client.send(
                .post, "/v1/oauth/authorizations", decision(), type: "application/json", token: "gatehouse_guest")
            let location = try decided.decoded(GatewayAPI.RedirectAnswer.self).location
            let code = try #require(URLComponents(string: location)?.queryItems?.first { $0.name == "code" }?.value)
            #expect(try await client.send(.delete, "/v1/tokens/\(id)").status == .noContent)
            #expect(try await redeem(client, code).text.contains("invalid_grant"))
        }
        #expect(gateway.api.tokens.all.isEmpty)
    }

    @Test func `the section oauth of the config is checked key by key`() throws {
        func read(_ client: String) throws -> GatewayConfiguration {
            try GatewayConfiguration(
                yaml: "oauth: {clients: [\(client)]}", environment: ["S": "a-secret-long-enough", "SHORT": "x"])
        }
        let read1 = try read(#"{id: g, name: G, secret: "${S}", redirects: ["https://a.example/b"]}"#)
        #expect(
            read1.oauthClients == [
                .init(id: "g", name: "G", secret: "a-secret-long-enough", redirects: ["https://a.example/b"])
            ])
        for wrong in [
            "{}", "{id: g}", #"{id: g, redirects: ["http://a.example/"]}"#, #"{id: g, redirects: ["/x"]}"#,
            #"{id: g, redirects: ["https://a.example/#f"]}"#, #"{id: g, secret: plain, redirects: ["https://a.b/"]}"#,
            #"{id: g, secret: "${NONE}", redirects: ["https://a.b/"]}"#,
            #"{id: g, secret: "${SHORT}", redirects: ["https://a.b/"]}"#,
            #"{id: g, redirects: ["https://a.b/"]}, {id: g, redirects: ["https://a.b/"]}"#,
        ] {
            #expect(throws: ConfigurationError.self, "\(wrong)") { try read(wrong) }
        }
    }
}
