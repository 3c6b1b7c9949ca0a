import Foundation
import HTTPTypes
import HomeTypes
import Testing
import Transport

@testable import Gateway

/// The tokens of linked clients: how long they work, how many there are, and whose they are.
@Suite struct AccountLinkTests {
    private static let clients: [GatewayConfiguration.OAuthClient] = [
        .init(id: "google", name: "Google Home", secret: "the-secret-of-google", redirects: ["https://g.example/"]),
        .init(id: "app", name: "App", redirects: ["com.example.app:/done"]),
    ]

    /// The links of a home with a clock.
    private struct Home {
        let clock = Locked(Date(timeIntervalSince1970: 1_000))
        let registry: TokenRegistry
        let links: AccountLinks

        init() {
            let clock = clock
            registry = TokenRegistry(file: TokenStore(tokens: []), now: { clock.withLock { $0 } })
            links = AccountLinks(clients: AccountLinkTests.clients, registry: registry)
        }

        /// Links a client, and returns its first tokens.
        func link(_ client: GatewayConfiguration.OAuthClient) async throws -> AccountLinks.Tokens {
            let code = try links.code(
                for: .init(
                    clientID: client.id, redirect: "r", challenge: nil, access: .everything, principal: "owner"))
            return try await links.redeem(code, client: client, redirect: "r", verifier: nil)
        }

        func works(_ token: String) -> Bool { registry.authorization(holding: token) != nil }
    }

    @Test func `an access token works for an hour, and the refresh token longer`() async throws {
        let home = Home()
        let tokens = try await home.link(Self.clients[0])
        home.clock.withLock { $0 += Double(AccountLinks.accessLifetime) - 1 }
        #expect(home.works(tokens.access_token))
        home.clock.withLock { $0 += 1 }
        #expect(!home.works(tokens.access_token))
        let refresh = try #require(tokens.refresh_token)
        let refreshed = try await home.links.refresh(refresh, client: Self.clients[0])
        #expect(home.works(refreshed.access_token) && !home.works(tokens.access_token))
    }

    @Test func `a link has a few access tokens at a time, and the oldest gives way`() async throws {
        let home = Home()
        let first = try await home.link(Self.clients[0])
        let refresh = try #require(first.refresh_token)
        var tokens = [first.access_token]
        for _ in 0..<AccountLinks.accessTokens {
            tokens.append(try await home.links.refresh(refresh, client: Self.clients[0]).access_token)
        }
        let working = tokens.filter { home.works($0) }
        #expect(working == Array(tokens.dropFirst()))
    }

    @Test func `a link remembers a bounded number of used refresh tokens`() async throws {
        let home = Home()
        var refresh = try #require(try await home.link(Self.clients[1]).refresh_token)
        for _ in 0..<2 * AccountLinks.usedTokens {
            refresh = try #require(try await home.links.refresh(refresh, client: Self.clients[1]).refresh_token)
        }
        let secrets = try #require(home.registry.all.first).record.secrets
        #expect(secrets.count { $0.kind == .used } == AccountLinks.usedTokens)
        #expect(secrets.count { $0.kind == .refresh } == 1)
    }

    @Test func `a client ends only its own links`() async throws {
        let home = Home()
        let tokens = try await home.link(Self.clients[1])
        await home.links.revoke(tokens.access_token, client: Self.clients[0])
        #expect(home.works(tokens.access_token))
        await home.links.revoke(try #require(tokens.refresh_token), client: Self.clients[1])
        #expect(!home.works(tokens.access_token))
    }

    @Test func `a client proves itself in one place, and a wrong secret counts as a refused sign-in`() async throws {
        let gateway = try TestGateway { $0.oauthClients = Self.clients }
        try await gateway.run { client in
            func exchange(_ secret: String, _ form: String) async throws -> TestResponse {
                let header = "Basic " + Data("google:\(secret)".utf8).base64EncodedString()
                return try await client.send(
                    .post, "/oauth/token", "grant_type=refresh_token&refresh_token=none\(form)",
                    type: "application/x-www-form-urlencoded", token: nil, headers: [.authorization: header])
            }
            let twice = try await exchange("the-secret-of-google", "&client_secret=the-secret-of-google")
            #expect(twice.status == .badRequest && twice.text.contains("invalid_request"), "\(twice.text)")
            #expect(gateway.api.shared.refusals.total(at: .http) == 0)
            let wrong = try await exchange("another", "")
            #expect(wrong.status == .unauthorized && wrong.text.contains("invalid_client"), "\(wrong.text)")
            #expect(gateway.api.shared.refusals.total(at: .http) == 1)
        }
    }
}
