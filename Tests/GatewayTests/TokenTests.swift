import DatagramPort
import Foundation
import HTTPTypes
import HomeFakes
import HomeHub
import HomeTypes
import NIOConcurrencyHelpers
import Signalling
import Testing
import Transport

@testable import Gateway

@Suite struct TokenTests {
    static let json = "application/json"

    @Test func `a token is made, shown once, used, changed under its version and revoked`() async throws {
        let gateway = try TestGateway()
        try await gateway.run { client in
            let body = #"{"name":"phone","grants":[{"scopes":["read"],"deviceID":"door"}],"expiresInSeconds":3600}"#
            let made = try await client.send(.post, "/v1/tokens", body, type: Self.json)
            #expect(made.status == .created)
            let answer = try made.decoded(GatewayAPI.TokenAnswer.self)
            let token = try #require(answer.token)
            #expect(answer.createdBy == "owner" && answer.expiresAt != nil)
            let unused = try await client.get("/v1/tokens/\(answer.id)").decoded(GatewayAPI.TokenAnswer.self)
            #expect(unused.lastUsedAt == nil)
            // The name is taken: a request that is repeated makes no second token.
            #expect(try await client.send(.post, "/v1/tokens", body, type: Self.json).status == .conflict)

            let own = try await client.send(.get, "/v1/access", token: token)
            #expect(try own.decoded(GatewayAPI.AccessAnswer.self).grants == [.init([.read], deviceID: "door")])
            let list = try await client.send(.get, "/v1/devices", token: token)
            #expect(try list.decoded(GatewayAPI.DeviceList.self).devices.map(\.id) == ["door"])
            #expect(!(try await client.get("/v1/tokens")).text.contains(token))

            let path = "/v1/tokens/\(answer.id)"
            let used = try await client.get(path).decoded(GatewayAPI.TokenAnswer.self)
            #expect(try #require(used.lastUsedAt) >= answer.createdAt)
            let tag = try #require(try await client.get(path).headers[.eTag])
            let change = #"{"grants":[{"scopes":["read"]}]}"#
            #expect(
                try await client.send(.patch, path, change, type: Self.json, headers: [.ifMatch: tag]).status == .ok)
            #expect(
                try await client.send(.patch, path, change, type: Self.json, headers: [.ifMatch: tag]).status
                    == .conflict)
            let more = try await client.send(.get, "/v1/devices", token: token)
            #expect(try more.decoded(GatewayAPI.DeviceList.self).devices.count == 2)

            #expect(try await client.send(.delete, path).status == .noContent)
            #expect(try await client.send(.delete, path).status == .notFound)
            #expect(try await client.send(.get, "/v1/devices", token: token).status == .unauthorized)
        }
    }

    @Test func `a token that ends makes and changes none that outlive it`() async throws {
        let gateway = try TestGateway()
        let end = Date().addingTimeInterval(3_600)
        let own = try await gateway.addToken(
            "gatehouse_visitor", named: "visitor", Access([.init([.admin, .read])]), expiresAt: end)
        let other = try await gateway.addToken("gatehouse_other", named: "other", Access([.init([.read])]))
        try await gateway.run { client in
            func send(_ method: HTTPRequest.Method, _ path: String, _ body: String) async throws -> TestResponse {
                try await client.send(method, path, body, type: Self.json, token: "gatehouse_visitor")
            }
            #expect(try await send(.patch, "/v1/tokens/\(own)", #"{"expiresInSeconds":7200}"#).status == .forbidden)
            #expect(try await send(.patch, "/v1/tokens/\(own)", #"{"expiresInSeconds":60}"#).status == .ok)
            let long = #"{"name":"long","grants":[{"scopes":["read"]}],"expiresInSeconds":7200}"#
            #expect(try await send(.post, "/v1/tokens", long).status == .forbidden)
            let made = try await send(.post, "/v1/tokens", #"{"name":"short","grants":[{"scopes":["read"]}]}"#)
            let short = try made.decoded(GatewayAPI.TokenAnswer.self)
            #expect(try #require(short.expiresAt) <= end)
            let more = #"{"grants":[{"scopes":["admin"]}]}"#
            #expect(try await send(.patch, "/v1/tokens/\(other)", more).status == .forbidden)
            #expect(try await send(.patch, "/v1/tokens/\(short.id)", more).status == .ok)
        }
    }

    @Test func `nobody grants more than they have, or touches a token that has more`() async throws {
        let gateway = try TestGateway()
        try await gateway.addToken("gatehouse_admin", named: "admin", Access([.init([.admin])]))
        let strong = try await gateway.addToken("gatehouse_strong", named: "strong", .everything)
        try await gateway.run { client in
            for grants in [#"[{"scopes":["read"]}]"#, #"[{"scopes":["admin","media"],"deviceID":"door"}]"#] {
                let response = try await client.send(
                    .post, "/v1/tokens", #"{"name":"x","grants":\#(grants)}"#, type: Self.json,
                    token: "gatehouse_admin")
                #expect(response.status == .forbidden)
            }
            for method in [HTTPRequest.Method.patch, .delete] {
                let response = try await client.send(
                    method, "/v1/tokens/\(strong)", "{}", type: Self.json, token: "gatehouse_admin")
                #expect(response.status == .forbidden)
            }
            let one = #"{"name":"y","grants":[{"scopes":["admin"],"deviceID":"door"}]}"#
            #expect(
                try await client.send(.post, "/v1/tokens", one, type: Self.json, token: "gatehouse_admin").status
                    == .created)
        }
        #expect(gateway.api.tokens.all.count == 3)
    }

    @Test(arguments: [
        "{}", #"{"name":"a"}"#, #"{"name":"","grants":[{"scopes":["read"]}]}"#, #"{"name":"a","grants":[]}"#,
        #"{"name":"a","grants":[{"scopes":[]}]}"#, #"{"name":"a","grants":[{"scopes":["all"]}]}"#,
        #"{"name":"a","grants":[{"scopes":["read"],"structureID":"s","deviceID":"d"}]}"#,
        #"{"name":"a","grants":[{"scopes":["read"]}],"expiresInSeconds":0}"#, #"{"name":7}"#,
    ])
    func `settings that make no sense are refused`(body: String) async throws {
        let gateway = try TestGateway()
        try await gateway.run { client in
            let response = try await client.send(.post, "/v1/tokens", body, type: Self.json)
            #expect(response.status == .badRequest && response.failure?.message.isEmpty == false)
        }
        #expect(gateway.api.tokens.all.isEmpty)
    }

    @Test func `a grant for what the home does not have is refused, and a stored one is kept`() async throws {
        let gateway = try TestGateway()
        let id = try await gateway.addToken("gatehouse_old", named: "old", Access([.init([.read], deviceID: "gone")]))
        try await gateway.run { client in
            for place in [#""deviceID":"nope""#, #""structureID":"nope""#] {
                let body = #"{"name":"bad","grants":[{"scopes":["read"],\#(place)}]}"#
                let made = try await client.send(.post, "/v1/tokens", body, type: Self.json)
                #expect(made.status == .notFound && made.failure?.message.contains("nope") == true, "\(made.text)")
                let grants = #"{"grants":[{"scopes":["read"],\#(place)}]}"#
                let changed = try await client.send(.patch, "/v1/tokens/\(id)", grants, type: Self.json)
                #expect(changed.status == .notFound)
            }
            let more =
                #"{"grants":[{"scopes":["read","view"],"deviceID":"gone"},"#
                + #"{"scopes":["read"],"deviceID":"door"}]}"#
            #expect(try await client.send(.patch, "/v1/tokens/\(id)", more, type: Self.json).status == .ok)
        }
        #expect(gateway.api.tokens.all.count == 1)
    }

    @Test func `revoking a token ends its views and streams, and nobody else's`() async throws {
        let gateway = try TestGateway()
        await gateway.api.tokens.observe { [enforcement = gateway.api.enforcement] in
            await enforcement.enforce($1, on: $0)
        }
        let id = try await gateway.addToken("gatehouse_phone", named: "phone", Access([.init([.read, .media])]))
        try await gateway.run { client in
            let mine = try await client.start()
            let start = "/v1/devices/door/traits/WebRtcLiveView/commands/startLiveView"
            let response = try await client.send(
                .post, start, #"{"offerSdp":"v=0"}"#, type: Self.json, token: "gatehouse_phone")
            #expect(response.status == .ok)
            #expect(await gateway.liveView.leases().count == 2)
            let cuts = NIOLockedValueBox(0)
            var events = try await gateway.hub.changes(
                principal: "phone", access: Access([.init([.read, .media])]),
                onCutOff: { cuts.withLockedValue { $0 += 1 } }
            ).makeAsyncIterator()
            #expect(await events.next()?.name == "structure")
            #expect(await events.next()?.name == "device")
            try await gateway.api.tokens.revoke(id)
            #expect(cuts.withLockedValue { $0 } == 1)
            #expect(await gateway.liveView.leases().map(\.mediaSessionId) == [mine])
        }
    }

    @Test func `the connections of a revoked token keep no places from others`() async throws {
        final class Connection: Sendable {}
        let gateway = try TestGateway()
        await gateway.api.tokens.observe { [enforcement = gateway.api.enforcement] in
            await enforcement.enforce($1, on: $0)
        }
        let id = try await gateway.addToken("gatehouse_phone", named: "phone", Access([.init([.read, .media])]))
        let ledger = gateway.api.shared.connections
        let held = ["phone", "owner"].map { (principal: $0, connection: Connection()) }
        for one in held {
            let hasPlace = ledger.enter(one.connection, from: TransportAddress(ipv4: 0xC000_0201, port: 1), close: {})
            #expect(hasPlace)
            #expect(ledger.vouch(for: one.connection, principal: one.principal))
        }
        // It may still do something.
        try await gateway.api.tokens.change(id) { $0.access = Access([.init([.read])]) }
        #expect(ledger.counts.signedIn == 2)
        try await gateway.api.tokens.revoke(id)
        #expect(ledger.counts.signedIn == 1)
        for one in held { ledger.leave(one.connection) }
        #expect(ledger.counts.signedIn == 0)
    }

    @Test func `a view ends when its device moves to a structure that the token does not name`() async throws {
        let gateway = try TestGateway()
        await gateway.api.tokens.observe { [enforcement = gateway.api.enforcement] in
            await enforcement.enforce($1, on: $0)
        }
        let structure = try #require(await gateway.hub.structures().first?.id)
        for (name, place) in [("visitor", structure), ("relative", nil)] {
            _ = try await gateway.addToken(
                "gatehouse_\(name)", named: name, Access([.init([.read, .media], structureID: place)]))
        }
        try await gateway.run { client in
            let start = "/v1/devices/door/traits/WebRtcLiveView/commands/startLiveView"
            for name in ["visitor", "relative"] {
                let response = try await client.send(
                    .post, start, #"{"offerSdp":"v=0"}"#, type: Self.json, token: "gatehouse_\(name)")
                #expect(response.status == .ok)
            }
            // A new name moves nothing.
            let named = try await client.send(.patch, "/v1/devices/door", #"{"name":"Gate"}"#, type: Self.json)
            #expect(named.status == .ok)
            #expect(await gateway.liveView.leases().count == 2)
            let made = try await client.send(.post, "/v1/structures", #"{"name":"Cabin"}"#, type: Self.json)
            let cabin = try made.decoded(StructureSnapshot.self).id
            let moved = try await client.send(
                .patch, "/v1/devices/door", #"{"structureID":"\#(cabin)"}"#, type: Self.json)
            #expect(moved.status == .ok)
            #expect(await gateway.liveView.leases().map(\.principal) == ["relative"])
        }
    }

    @Test func `the tokens that a token has made end with it, and those that they have made`() async throws {
        let registry = TokenRegistry(file: TokenStore(tokens: []))
        func add(_ name: String, madeBy creator: String) async throws -> String {
            let record = TokenRecord(
                id: TokenRegistry.newID(), name: name, access: .everything, createdAt: Date(timeIntervalSince1970: 5),
                createdBy: creator, secrets: [.init(kind: .access, digest: TokenRegistry.digest(of: name))])
            try await registry.add(record)
            return record.id
        }
        let stolen = try await add("stolen", madeBy: "owner")
        _ = try await add("second", madeBy: "stolen")
        _ = try await add("third", madeBy: "second")
        _ = try await add("other", madeBy: "owner")
        try await registry.revoke(stolen)
        #expect(registry.all.map(\.record.name) == ["other"])
        for name in ["stolen", "second", "third"] { #expect(registry.authorization(holding: name) == nil) }
    }

    @Test func `a name of the file's tokens is taken`() async throws {
        let gateway = try TestGateway()
        try await gateway.run { client in
            let body = #"{"name":"guest","grants":[{"scopes":["read"]}]}"#
            let refused = try await client.send(.post, "/v1/tokens", body, type: Self.json)
            #expect(refused.status == .conflict)
        }
        #expect(gateway.api.tokens.all.isEmpty)
    }

    @Test func `a watcher gets nothing of devices that it was not granted`() async throws {
        let gateway = try TestGateway()
        let access = Access([.init([.read], deviceID: "yard")])
        var events = try await gateway.hub.changes(principal: "guest", access: access).makeAsyncIterator()
        #expect(await events.next()?.data.contains(#""id":"yard""#) == true)
        await gateway.hub.setDevices([], drivers: [])
        #expect(await events.next()?.change == .deviceRemoved(deviceID: "yard"))
    }

    @Test func `a token ends by itself, and what it holds ends with it`() async throws {
        let gateway = try TestGateway()
        await gateway.api.tokens.observe { [enforcement = gateway.api.enforcement] in
            await enforcement.enforce($1, on: $0)
        }
        try await gateway.addToken(
            "gatehouse_old", named: "old", .everything, expiresAt: Date().addingTimeInterval(-1))
        #expect(gateway.api.tokens.authorization(holding: "gatehouse_old") == nil)
        _ = try await gateway.liveView.startLiveView(.init(deviceID: "door", principal: "old", offerSdp: "v=0"))
        await gateway.api.tokens.endExpired()
        #expect(await gateway.liveView.leases().isEmpty)
    }

    @Test func `a token ends at its time, although the clock was ahead before`() async throws {
        let clock = Locked(Date(timeIntervalSince1970: 1_000))
        let registry = TokenRegistry(file: TokenStore(tokens: []), now: { clock.withLock { $0 } })
        let ended = Locked<[String]>([])
        await registry.observe { name, _ in ended.withLock { $0.append(name) } }
        try await registry.add(
            TokenRecord(
                id: "t1", name: "guest", access: Access([.init([.read])]),
                createdAt: Date(timeIntervalSince1970: 5), createdBy: "owner",
                expiresAt: Date(timeIntervalSince1970: 2_000),
                secrets: [.init(kind: .access, digest: TokenRegistry.digest(of: "gatehouse_guest"))]))
        let added = ended.withLock { $0.count }
        for (time, ends) in [(1_500, 0), (2_500, 1), (2_600, 1), (1_600, 1), (1_999, 1), (2_000, 2), (2_001, 2)] {
            clock.withLock { $0 = Date(timeIntervalSince1970: Double(time)) }
            await registry.endExpired()
            #expect(ended.withLock { $0.count } - added == ends, "at \(time)")
        }
    }

    @Test func `a token with the name of one that has just ended keeps what it holds`() async throws {
        let clock = Locked(Date(timeIntervalSince1970: 1_000))
        let registry = TokenRegistry(file: TokenStore(tokens: []), now: { clock.withLock { $0 } })
        let told = Locked<[String]>([])
        await registry.observe { name, access in told.withLock { $0.append("\(name) \(access.grants.count)") } }
        func add(_ id: String, until end: Double?) async throws {
            try await registry.add(
                TokenRecord(
                    id: id, name: "guest", access: Access([.init([.read])]), createdAt: clock.withLock { $0 },
                    createdBy: "owner", expiresAt: end.map { Date(timeIntervalSince1970: $0) },
                    secrets: [.init(kind: .access, digest: TokenRegistry.digest(of: id))]))
        }
        func end(at time: Double) async -> [String] {
            clock.withLock { $0 = Date(timeIntervalSince1970: time) }
            told.withLock { $0 = [] }
            await registry.endExpired()
            return told.withLock { $0 }
        }
        try await add("t1", until: 2_000)
        clock.withLock { $0 = Date(timeIntervalSince1970: 2_000) }
        told.withLock { $0 = [] }
        // Before anybody has looked for tokens that have ended.
        try await add("t2", until: nil)
        #expect(told.withLock { $0 } == ["guest 0", "guest 1"])
        #expect(await end(at: 2_001) == [])
        // The clock was ahead, so both work. What the first has begun does not go on under the name of the second.
        #expect(await end(at: 1_500) == [])
        #expect(await end(at: 2_001) == ["guest 0", "guest 1"])
        #expect(registry.authorization(holding: "t2") != nil)
    }

    @Test func `tokens survive a restart as digests, and a damaged one does not work`() async throws {
        let folder = try TemporaryFolder()
        try folder.directory.create()
        let path = folder.directory.file(SQLiteSharedStore.fileName)
        let secret = "gatehouse_the-secret-of-the-phone-0000000000"
        let record = TokenRecord(
            id: "t1", name: "phone", access: Access([.init([.read], structureID: "s1")]),
            createdAt: Date(timeIntervalSince1970: 5), createdBy: "owner",
            secrets: [.init(kind: .access, digest: TokenRegistry.digest(of: secret))])
        do {
            let store = try SQLiteSharedStore(path: path)
            let registry = TokenRegistry(file: TokenStore(tokens: []), store: store)
            try await registry.add(record)
            _ = try store.write(TokenRecord.kind, "t2", "{", expecting: 0)
            for object in try store.objects(TokenRecord.kind) { #expect(!object.body.contains("phone-000")) }
        }
        let registry = TokenRegistry(file: TokenStore(tokens: []), store: try SQLiteSharedStore(path: path))
        #expect(registry.authorization(holding: secret)?.access == record.access)
        #expect(registry.authorization(holding: secret + "0") == nil)
        #expect(registry.all.map(\.record) == [record])
        try await registry.revoke("t1")
        let again = TokenRegistry(file: TokenStore(tokens: []), store: try SQLiteSharedStore(path: path))
        #expect(again.authorization(holding: secret) == nil && again.all.isEmpty)
    }
}
