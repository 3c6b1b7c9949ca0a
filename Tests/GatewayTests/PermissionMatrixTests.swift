import Foundation
import HTTPTypes
import HomeFakes
import HomeHub
import HomeTypes
import Hummingbird
import Testing

@testable import Gateway

/// Every route with every scope on every kind of object. The expectations follow from the table of permissions, and the
/// answers from the real server.
@Suite struct PermissionMatrixTests {
    /// A grant of the matrix: one scope in one place.
    struct Cell: CustomStringConvertible {
        enum Place: String, CaseIterable { case home, ownStructure, otherStructure, grantedDevice, otherDevice }

        var scope: Caller.Scope
        var place: Place

        var grant: Access.Grant {
            switch place {
            case .home: .init([scope])
            case .ownStructure: .init([scope], structureID: "s1")
            case .otherStructure: .init([scope], structureID: "s2")
            case .grantedDevice: .init([scope], deviceID: "door")
            case .otherDevice: .init([scope], deviceID: "yard")
            }
        }

        /// Whether the grant has a scope. The scope `media` includes `view`.
        func has(_ scope: Caller.Scope) -> Bool {
            self.scope == scope || (self.scope == .media && scope == .view)
        }

        /// Whether the grant covers the device of the paths, which is in the structure `s1`.
        var coversDevice: Bool { place != .otherStructure && place != .otherDevice }
        var description: String { "\(scope.rawValue) for \(place.rawValue)" }

        static let all = Caller.Scope.allCases.flatMap { scope in
            Place.allCases.map { Cell(scope: scope, place: $0) }
        }
    }

    /// What the server should do.
    enum Verdict { case allowed, forbidden, notFound }

    static func verdict(_ need: RoutePermissions.Need, _ cell: Cell) -> Verdict {
        switch need {
        case .nothing, .secret, .token: return .allowed
        case .owner: return .forbidden
        case .command: return verdict(.scope(.view, .device), cell)
        case .scope(let scope, .home): return cell.has(scope) && cell.place == .home ? .allowed : .forbidden
        case .scope(let scope, .device):
            guard cell.coversDevice else { return .notFound }
            return cell.has(scope) ? .allowed : .forbidden
        case .scope(let scope, .structure):
            guard cell.place == .home || cell.place == .ownStructure else { return .notFound }
            return cell.has(scope) ? .allowed : .forbidden
        case .scope(let scope, .room), .scope(let scope, .automation):
            guard cell.place == .home || cell.place == .ownStructure else { return .notFound }
            return cell.has(scope) ? .allowed : .forbidden
        }
    }

    static let values = [
        "device": "door", "trait": "WebRtcLiveView", "command": "startLiveView", "structure": "s1", "room": "r1",
        "camera": "door", "token": "t0", "session": "none", "clip": "none", "recording": "none", "track": "video",
        "file": "init.mp4", "name": "cloud", "link": "none", "client": "none", "project": "home",
        "subscription": "feed:none", "image": "none", "stream": "none", "secret": "none", "type": "motion",
        "automation": "a1", "run": "none", "snapshot": "none", "picture": "none",
    ]

    /// A home with two structures, a device in each, and a room in the first.
    private static func home() -> MemorySharedStore {
        let store = MemorySharedStore()
        func add(_ kind: String, _ id: String, _ fields: String) {
            _ = store.write(kind, id, #"{"id":"\#(id)",\#(fields)}"#, expecting: 0)
        }
        let made = #""createdAt":"2026-01-01T00:00:00Z""#
        for id in ["s1", "s2"] { add("structure", id, #""name":"\#(id)","timeZone":"UTC",\#(made)"#) }
        add("room", "r1", #""name":"Hall","structureID":"s1",\#(made)"#)
        add(
            "automation", "a1",
            #""structureID":"s1","owner":"owner","name":"Light","description":"","isActive":false,"graceSeconds":900,"#
                + #""customData":{},"createdAt":0,"changedAt":0,"graph":"{\"version\":1,\"nodes\":[{\"type\":\"manualStarter\"}]}""#
        )
        add("device", "door", #""key":"door","structureID":"s1""#)
        add("device", "yard", #""key":"yard","structureID":"s2""#)
        return store
    }

    static func path(_ template: String) -> String {
        values.reduce(template) { $0.replacing("{\($1.key)}", with: $1.value) }
    }

    @Test func `every route says what it needs, and nothing else does`() throws {
        let gateway = try TestGateway()
        let pages = gateway.api.page.paths
        let entries = RouteTable(gateway.api.router(scheme: "http")).entries.filter { !pages.contains($0.path) }
        for entry in entries {
            #expect(RoutePermissions.need(of: entry) != nil, "\(entry.method) \(entry.path) is in no table")
        }
        let served = Set(entries.map { "\($0.method.rawValue) \($0.path)" })
        for route in RoutePermissions.table.keys { #expect(served.contains(route), "\(route) is not served") }
    }

    /// A route of the table, with what a request to it needs.
    private struct Route {
        var name: String
        var need: RoutePermissions.Need
        var method: HTTPRequest.Method
        var path: String
        /// A body that would do something, for the refusals; it must not be read then.
        var body: String? { [.get, .head, .options].contains(method) ? nil : "{}" }

        /// Sends a request to it.
        func send(_ client: TestGateway.Client, _ token: String?) async throws -> TestResponse {
            try await client.send(method, path, body, type: body.map { _ in "application/json" }, token: token)
        }
    }

    private static func routes() throws -> [Route] {
        try RoutePermissions.table.sorted { $0.key < $1.key }.compactMap { name, need in
            // These streams have no end; they have tests of their own. Secrets are not a matter of scopes.
            guard !name.hasSuffix("/events") || name.contains("devices"), !name.hasSuffix("/live.mjpeg"),
                need != .secret
            else { return nil }
            let parts = name.split(separator: " ").map(String.init)
            return Route(
                name: name, need: need, method: try #require(HTTPRequest.Method(parts[0])), path: path(parts[1]))
        }
    }

    private static let tokens = Cell.all.enumerated().map { ($1, "gatehouse_cell-\($0)") }

    private static func gateway(_ tokens: some Sequence<(Cell, String)>) async throws -> TestGateway {
        let gateway = try TestGateway(directory: HomeDirectory(home()))
        for (cell, token) in tokens { try await gateway.addToken(token, named: token, Access([cell.grant])) }
        return gateway
    }

    @Test func `a scope or an object that a route does not permit is refused, and a refusal changes nothing`()
        async throws
    {
        // Nothing changes, so that one gateway is enough for all routes.
        try await Self.gateway(Self.tokens).run { client in
            let before = try await Self.state(client)
            for route in try Self.routes() {
                if route.need != .nothing {
                    let stranger = try await route.send(client, nil)
                    #expect(stranger.status == .unauthorized, "\(route.name) without a token")
                }
                for (cell, token) in Self.tokens {
                    let verdict = Self.verdict(route.need, cell)
                    guard verdict != .allowed else { continue }
                    let response = try await route.send(client, token)
                    let expected: HTTPResponse.Status = verdict == .forbidden ? .forbidden : .notFound
                    // The owner's things on a device that the token may not know of look as if the device were unknown.
                    if route.need == .owner, route.path.contains("door"), !cell.coversDevice {
                        #expect(response.status == .notFound, "\(route.name) with \(cell)")
                    } else {
                        #expect(response.status == expected, "\(route.name) with \(cell): \(response.text)")
                    }
                    // An answer to HEAD has no body.
                    #expect((response.failure == nil) == (route.method == .head), "\(route.name) with \(cell)")
                }
                #expect(try await Self.state(client) == before, "\(route.name) changed something when it was refused")
            }
        }
    }

    @Test func `what a route permits is not refused`() async throws {
        for route in try Self.routes() {
            let allowed = Self.tokens.filter { Self.verdict(route.need, $0.0) == .allowed }.prefix(6)
            guard !allowed.isEmpty else { continue }
            // Requests may change the home, so each route gets a new one.
            try await Self.gateway(allowed).run { client in
                for (cell, token) in allowed {
                    let response = try await route.send(client, token)
                    #expect(
                        response.status != .forbidden && response.status != .unauthorized,
                        "\(route.name) with \(cell): \(response.text)")
                    #expect(
                        response.failure?.message.hasPrefix("no device has the id") != true,
                        "\(route.name) with \(cell)")
                }
            }
        }
    }

    @Test func `a recording connection, which sends footage to a server, needs control and media`() async throws {
        let gateway = try await Self.gateway(Self.tokens)
        let both = Access([.init([.control, .media], deviceID: "door")])
        try await gateway.addToken("gatehouse_both", named: "both", both)
        try await gateway.run { client in
            for command in ["allocatePushTransport", "modifyPushTransport"] {
                let path = "/v1/devices/door/traits/PushAvStreamTransport/commands/\(command)"
                func send(_ token: String) async throws -> TestResponse {
                    try await client.send(.post, path, "{}", type: "application/json", token: token)
                }
                // None of these tokens has more than one scope.
                for (cell, token) in Self.tokens {
                    let response = try await send(token)
                    #expect(response.status == (cell.coversDevice ? .forbidden : .notFound), "\(command) with \(cell)")
                    if cell.coversDevice, cell.scope == .control {
                        #expect(response.failure?.message.contains("scope media") == true, "\(response.text)")
                    }
                }
                #expect(try await send("gatehouse_both").status != .forbidden)
            }
            // Who switches a camera on and off, or asks for a recording, needs no more than before.
            for command in ["setTransportStatus", "manuallyTriggerTransport", "findTransport"] {
                let path = "/v1/devices/door/traits/PushAvStreamTransport/commands/\(command)"
                for (cell, token) in Self.tokens where cell.coversDevice {
                    let response = try await client.send(.post, path, "{}", type: "application/json", token: token)
                    #expect((response.status == .forbidden) == (cell.scope != .control), "\(command) with \(cell)")
                }
            }
        }
    }

    /// What the owner sees of everything that requests could change.
    private static func state(_ client: TestGateway.Client) async throws -> [String] {
        var texts: [String] = []
        for path in [
            "/v1/structures", "/v1/rooms", "/v1/devices", "/v1/cameras", "/v1/tokens", "/v1/upload-endpoints",
            "/v1/sessions", "/v1/structures/s1/automations",
        ] {
            // A token that is refused was used all the same.
            texts.append(try await client.get(path).text.replacing(/"lastUsedAt":"[^"]*",?/, with: ""))
        }
        return texts
    }
}

extension TestGateway {
    /// Adds a token with these grants.
    @discardableResult
    func addToken(
        _ token: String, named name: String, _ access: Access, expiresAt: Date? = nil
    ) async throws -> String {
        let id = TokenRegistry.newID()
        try await api.tokens.add(
            TokenRecord(
                id: id, name: name, access: access, createdAt: Date(timeIntervalSince1970: 0), createdBy: "owner",
                expiresAt: expiresAt, secrets: [.init(kind: .access, digest: TokenRegistry.digest(of: token))]))
        return id
    }
}
