import Foundation
import HTTPTypes
import HomeFakes
import HomeTypes
import Testing
import Transport

@testable import Gateway

/// Signing in with a name and a password.
@Suite struct PasswordTests {
    static let json = "application/json"
    static let password = "correct horse battery"

    private static func make(_ client: TestGateway.Client, _ name: String = "ana") async throws -> String {
        let body = #"{"name":"\#(name)","grants":[{"scopes":["read","media"]}],"password":"\#(password)"}"#
        let made = try await client.send(.post, "/v1/tokens", body, type: json)
        #expect(made.status == .created)
        let answer = try made.decoded(GatewayAPI.TokenAnswer.self)
        #expect(answer.token == nil && answer.hasPassword == true)
        return answer.id
    }

    private static func signIn(
        _ client: TestGateway.Client, _ name: String = "ana", _ password: String = password
    ) async throws -> TestResponse {
        try await client.send(
            .post, "/v1/sign-in", #"{"name":"\#(name)","password":"\#(password)"}"#, type: json, token: nil)
    }

    @Test func `a person signs in, is who the token says, and signs out`() async throws {
        let gateway = try TestGateway()
        try await gateway.run { client in
            _ = try await Self.make(client)
            let first = try await Self.signIn(client).decoded(GatewayAPI.SignedIn.self)
            let second = try await Self.signIn(client).decoded(GatewayAPI.SignedIn.self)
            #expect(first.principal == "ana" && first.token != second.token)
            let own = try await client.send(.get, "/v1/access", token: first.token)
                .decoded(GatewayAPI.AccessAnswer.self)
            #expect(own.principal == "ana" && own.grants == [.init([.read, .media])])
            #expect(own.expiresAt == first.expiresAt)
            #expect(try await client.send(.post, "/v1/sign-out", token: first.token).status == .noContent)
            #expect(try await client.send(.get, "/v1/access", token: first.token).status == .unauthorized)
            #expect(try await client.send(.get, "/v1/access", token: second.token).status == .ok)
            // A token that nobody has signed in for is not thrown away by accident.
            #expect(try await client.send(.post, "/v1/sign-out").status == .conflict)
            #expect(!(try await client.get("/v1/tokens")).text.contains(Self.password))
        }
    }

    @Test func `a wrong name and a wrong password look alike`() async throws {
        let gateway = try TestGateway()
        try await gateway.run { client in
            _ = try await Self.make(client)
            let texts = [
                try await Self.signIn(client, "ana", "wrong horse battery"), try await Self.signIn(client, "bob"),
                try await Self.signIn(client, "owner", TestGateway.token), try await Self.signIn(client, "ana", ""),
            ].map { "\($0.status.code) \($0.text)" }
            #expect(Set(texts).count == 1 && texts[0].hasPrefix("401 "))
            #expect(
                try await client.send(.post, "/v1/sign-in", "{}", type: Self.json, token: nil).status == .badRequest)
        }
        #expect(gateway.api.shared.refusals.total(at: .http) == 4)
    }

    @Test func `another password signs everybody out`() async throws {
        let gateway = try TestGateway()
        await gateway.api.tokens.observe { [enforcement = gateway.api.enforcement] in
            await enforcement.enforce($1, on: $0)
        }
        try await gateway.run { client in
            let id = try await Self.make(client)
            let session = try await Self.signIn(client).decoded(GatewayAPI.SignedIn.self)
            let view = try await client.send(
                .post, "/whep/door", "v=0\r\n", type: "application/sdp", token: session.token)
            #expect(view.status == .created)
            let change = try await client.send(
                .patch, "/v1/tokens/\(id)", #"{"password":"another password"}"#, type: Self.json)
            #expect(change.status == .ok)
            #expect(await gateway.liveView.leases().isEmpty)
            #expect(try await client.send(.get, "/v1/access", token: session.token).status == .unauthorized)
            #expect(try await Self.signIn(client).status == .unauthorized)
            #expect(try await Self.signIn(client, "ana", "another password").status == .ok)
            #expect(try await client.send(.delete, "/v1/tokens/\(id)").status == .noContent)
            #expect(try await Self.signIn(client, "ana", "another password").status == .unauthorized)
        }
    }

    @Test(arguments: ["", "too short", String(repeating: "x", count: 257)])
    func `a password has a sensible length`(password: String) async throws {
        let gateway = try TestGateway()
        try await gateway.run { client in
            let body = #"{"name":"ana","grants":[{"scopes":["read"]}],"password":"\#(password)"}"#
            let response = try await client.send(.post, "/v1/tokens", body, type: Self.json)
            #expect(response.status == .badRequest)
        }
        #expect(gateway.api.tokens.all.isEmpty)
    }

    @Test func `somebody who guesses has to wait, even with the right password`() async throws {
        let registry = TokenRegistry(file: TokenStore(tokens: []))
        let hash = try #require(PasswordHash(Self.password))
        try await registry.add(
            TokenRecord(
                id: "t1", name: "ana", access: .everything, createdAt: Date(timeIntervalSince1970: 5),
                createdBy: "owner", password: hash, secrets: []))
        // The clock stands still, so that the test does not depend on how fast a password is hashed.
        let passwords = Passwords(registry: registry, clock: { Instant(nanoseconds: 1) })
        func code(_ password: String, from host: String) async -> HomeError.Code? {
            do {
                _ = try await passwords.signIn("ana", password, from: host)
                return nil
            } catch {
                return error.code
            }
        }
        // Passwords of a length that nobody has cost no hash.
        for _ in 0..<SignInDelays.attempts { #expect(await code("wrong", from: "192.0.2.1") == .unauthenticated) }
        #expect(await code(Self.password, from: "192.0.2.1") == .resourceExhausted)
        #expect(await code(Self.password, from: "192.0.2.2") == nil)
    }

    @Test func `a host whose passwords wait keeps nobody else from signing in`() async throws {
        let registry = TokenRegistry(file: TokenStore(tokens: []))
        let hash = try #require(PasswordHash(Self.password))
        try await registry.add(
            TokenRecord(
                id: "t1", name: "ana", access: .everything, createdAt: Date(timeIntervalSince1970: 5),
                createdBy: "owner", password: hash, secrets: []))
        let passwords = Passwords(registry: registry, clock: { Instant(nanoseconds: 1) })
        func code(from host: String) async -> HomeError.Code? {
            do {
                _ = try await passwords.signIn("ana", Self.password, from: host)
                return nil
            } catch {
                return error.code
            }
        }
        let busy = SignInPlaces.Holder.signIn(SignInHost("192.0.2.1"))
        for _ in 0..<SignInPlaces.total { _ = passwords.places.withLock { $0.take(busy) } }
        // More than the wrong passwords after which a host has to wait: what is not looked at does not count.
        for _ in 0...SignInDelays.attemptsOfAnyName { #expect(await code(from: "192.0.2.1") == .resourceExhausted) }
        #expect(await code(from: "192.0.2.2") == nil)
        #expect(try await passwords.hash("a new password").matches("a new password"))
        passwords.places.withLock { $0.release(busy) }
        #expect(await code(from: "192.0.2.1") == nil)
    }

    @Test func `the places for passwords are shared by hosts, and are given back`() {
        var places = SignInPlaces()
        func holder(_ host: String) -> SignInPlaces.Holder { .signIn(SignInHost(host)) }
        for _ in 0..<SignInPlaces.share { #expect(places.take(holder("2001:db8::1")) == nil) }
        // Addresses of one IPv6 network are one host.
        #expect(places.take(holder("2001:db8::2")) == .share)
        for index in SignInPlaces.share..<SignInPlaces.total { #expect(places.take(holder("192.0.2.\(index)")) == nil) }
        #expect(places.take(.newPassword) == .full)
        places.release(holder("2001:db8::3"))
        #expect(places.take(.newPassword) == nil)
    }

    @Test func `a hash knows its password in both ways of writing a letter, and survives its JSON`() throws {
        let hash = try #require(PasswordHash("caf\u{E9} cr\u{E8}me 1"))
        #expect(hash.matches("cafe\u{301} cre\u{300}me 1") && !hash.matches("cafe creme 1"))
        let data = try JSONEncoder().encode(hash)
        #expect(try JSONDecoder().decode(PasswordHash.self, from: data) == hash)
        #expect(try #require(PasswordHash("caf\u{E9} cr\u{E8}me 1")) != hash)
    }

    @Test func `one person has a bounded number of sessions`() async throws {
        let registry = TokenRegistry(file: TokenStore(tokens: []))
        let hash = try #require(PasswordHash(Self.password))
        try await registry.add(
            TokenRecord(
                id: "t1", name: "ana", access: .everything, createdAt: Date(timeIntervalSince1970: 5),
                createdBy: "owner", password: hash, secrets: []))
        var tokens: [String] = []
        for _ in 0...TokenRegistry.sessionsOfOne {
            tokens.append(try await registry.addSession(to: "t1", signedInWith: hash).token)
        }
        #expect(registry.authorization(holding: tokens[0]) == nil)
        for token in tokens.dropFirst() { #expect(registry.authorization(holding: token)?.principal == "ana") }
    }

    @Test func `waiting grows to half a minute, is forgotten, and concerns one host and name`() {
        var delays = SignInDelays()
        let start = Instant(nanoseconds: 1_000_000_000)
        for _ in 0..<SignInDelays.attempts { #expect(delays.begin("192.0.2.1", "ana", at: start) == nil) }
        #expect(delays.begin("192.0.2.1", "ana", at: start) == .seconds(1))
        #expect(delays.begin("192.0.2.1", "bob", at: start) == nil)
        #expect(delays.begin("192.0.2.2", "ana", at: start) == nil)
        var now = start
        var waits: [Duration] = []
        for _ in 0..<8 {
            now = now + (delays.begin("192.0.2.1", "ana", at: now) ?? .zero)
            #expect(delays.begin("192.0.2.1", "ana", at: now) == nil)
            waits.append(delays.begin("192.0.2.1", "ana", at: now) ?? .zero)
        }
        #expect(waits.max() == SignInDelays.maximumDelay)
        delays.succeed("192.0.2.1", "ana")
        #expect(delays.begin("192.0.2.1", "ana", at: now) == nil)
        // Addresses of one IPv6 network are one host.
        for index in 0..<SignInDelays.attempts { _ = delays.begin("2001:db8::\(index)", "eve", at: now) }
        #expect(delays.begin("2001:db8::77", "eve", at: now) != nil)
        #expect(delays.begin("2001:db8:0:1::7", "eve", at: now) == nil)
    }

    @Test func `of a name that is longer than anybody's only the beginning is remembered`() {
        var delays = SignInDelays()
        let now = Instant(nanoseconds: 1_000_000_000)
        let longest = String(repeating: "n", count: TokenRegistry.longestName)
        for index in 0..<SignInDelays.attempts {
            let name = longest + "n" + String(repeating: "\(index)", count: 1_000)
            #expect(delays.begin("192.0.2.1", name, at: now) == nil)
        }
        #expect(delays.begin("192.0.2.1", longest + "n and more", at: now) == .seconds(1))
        // The longest name that somebody can have is a name of its own.
        #expect(delays.begin("192.0.2.1", longest, at: now) == nil)
    }
}
