import Foundation
import HTTPTypes
import HomeTypes
import Testing

@testable import Gateway

/// Requests that no program of ours sends: wrong types, bodies without end, stale versions and keys of other requests. The
/// gateway refuses each with an error that says why, and nothing changes.
@Suite struct HostileHomeRequestTests {
    static let json = "application/json"

    /// Routes whose bodies are not read, or are not JSON.
    static let withoutJSON: Set<String> = [
        "POST /v1/cameras/{camera}/reconnect", "POST /v1/cameras/discover",
        "POST /v1/devices/{device}/recordings/links",
        "POST /v1/devices/{device}/speaker/clips", "POST /whep/{device}", "POST /whip/{device}",
        "PATCH /whep/{device}/{session}", "PATCH /whip/{device}/{session}", "POST /oauth/token", "POST /oauth/revoke",
        "POST /v1/webhooks/{device}/{secret}/{type}", "POST /v1/automations/{automation}/execute",
        "POST /v1/automations/{automation}/stop", "POST /v1/automations/{automation}/release",
        "POST /v1/qr-codes", "POST /v1/sign-out",
    ]

    /// The routes that read JSON, with names of things that exist.
    static let routes: [(method: HTTPRequest.Method, path: String)] = RoutePermissions.table.keys.sorted().compactMap {
        let words = $0.split(separator: " ").map(String.init)
        guard ["POST", "PUT", "PATCH"].contains(words[0]), !withoutJSON.contains($0),
            let method = HTTPRequest.Method(words[0])
        else { return nil }
        var path = words[1]
        for (name, value) in PermissionMatrixTests.values {
            path = path.replacingOccurrences(of: "{\(name)}", with: value)
        }
        return (method, path)
    }

    static let bodies: [String] = [
        "[]", "7", #""text""#, "null", "{", #"{"a":}"#, "\u{1}",
        #"{"name":7,"commands":7,"clientID":7,"command":7,"kind":7}"#,
        String(repeating: "[", count: 1_000),
        #"{"name":["x"],"commands":{"x":1},"clientID":[],"command":{},"kind":[]}"#,
    ]

    /// The routes with a structure and a room that exist, which this makes.
    func routes(_ client: TestGateway.Client) async throws -> [(method: HTTPRequest.Method, path: String)] {
        let structures = try await client.get("/v1/structures").decoded(GatewayAPI.StructureList.self).structures
        let structure = try #require(structures.first?.id)
        let room = try await client.send(
            .post, "/v1/structures/\(structure)/rooms", #"{"name":"Hall"}"#, type: Self.json
        ).decoded(RoomSnapshot.self).id
        return Self.routes.map { route in
            let path = route.path.replacingOccurrences(of: "/s1", with: "/\(structure)")
            return (route.method, path.replacingOccurrences(of: "/r1", with: "/\(room)"))
        }
    }

    /// What must not change.
    func state(_ client: TestGateway.Client) async throws -> [String] {
        var state: [String] = []
        for path in ["/v1/devices", "/v1/structures", "/v1/rooms", "/v1/tokens", "/v1/cameras", "/v1/sessions"] {
            // The structure's clock goes on, and so does the use of the tokens.
            state.append(
                try await client.get(path).text.replacing(/"localTime":[0-9]+|"lastUsedAt":"[^"]*",?/, with: ""))
        }
        return state
    }

    /// Whether a body is an error in the form of its route: the API's or Google's.
    func isError(_ response: TestResponse) -> Bool {
        guard let body = try? JSONSerialization.jsonObject(with: Data(response.text.utf8)) as? [String: Any],
            let error = body["error"] as? [String: Any]
        else { return false }
        return (error["message"] as? String)?.isEmpty == false && error["code"] is Int && error["status"] is String
    }

    /// Whether a check has refused what it was asked about: it answers with the problems, one for each key.
    func isListOfProblems(_ response: TestResponse) -> Bool {
        let answer = response.status == .ok ? try? response.decoded(GatewayAPI.CheckAnswer.self) : nil
        return answer?.problems.isEmpty == false
    }

    @Test func `wrong types and broken bodies are refused on every route, and change nothing`() async throws {
        #expect(Self.routes.count > 20)
        for index in Self.routes.indices {
            // The gateway closes the connection of a body that is too long, and the client has only one.
            let gateway = try TestGateway()
            try await gateway.run { client in
                let route = try await routes(client)[index]
                let before = try await state(client)
                for body in Self.bodies {
                    let response = try await client.send(route.method, route.path, body, type: Self.json)
                    let what =
                        "\(route.method) \(route.path) \(body.prefix(40)): \(response.status) \(response.text.prefix(200))"
                    if route.path == "/v1/configuration/check", isListOfProblems(response) { continue }
                    #expect((400..<500).contains(response.status.code) || response.status.code == 501, "\(what)")
                    #expect(isError(response), "\(what)")
                }
                #expect(try await state(client) == before)
            }
        }
    }

    @Test func `bodies that are too long or of another type are refused on every route`() async throws {
        let long = #"{"name":"\#(String(repeating: "x", count: JSONBody.maximumSize))"}"#
        for index in Self.routes.indices {
            let gateway = try TestGateway()
            try await gateway.run { client in
                let route = try await routes(client)[index]
                let typed = try await client.send(route.method, route.path, #"{"name":"x"}"#, type: "text/xml")
                let large = try await client.send(route.method, route.path, long, type: Self.json)
                // Some routes know before they read the body that there is nothing to do.
                #expect([413, 404, 400].contains(large.status.code), "\(route): \(large.status)")
                #expect([415, 404, 400].contains(typed.status.code), "\(route): \(typed.status)")
                #expect(isError(large) && isError(typed), "\(route)")
            }
        }
    }

    @Test func `a stale version changes and removes nothing`() async throws {
        let gateway = try TestGateway()
        try await gateway.run { client in
            let structures = try await client.get("/v1/structures").decoded(GatewayAPI.StructureList.self).structures
            let structure = try #require(structures.first?.id)
            let room = try await client.send(
                .post, "/v1/structures/\(structure)/rooms", #"{"name":"Hall"}"#, type: Self.json
            ).decoded(RoomSnapshot.self).id
            let token = try await client.send(
                .post, "/v1/tokens", #"{"name":"phone","grants":[{"scopes":["read"]}]}"#, type: Self.json
            ).decoded(GatewayAPI.TokenAnswer.self).id
            let before = try await state(client)
            for path in ["/v1/structures/\(structure)", "/v1/rooms/\(room)", "/v1/tokens/\(token)"] {
                for tag in [#""999""#, #""-1""#, #""9223372036854775808""#, #"W/"1""#, "x"] {
                    for (method, body) in [(HTTPRequest.Method.patch, #"{"name":"phone"}"#), (.delete, nil)] {
                        let response = try await client.send(
                            method, path, body, type: body == nil ? nil : Self.json, headers: [.ifMatch: tag])
                        #expect(response.status == .conflict, "\(method) \(path) \(tag): \(response.status)")
                        #expect(response.failure?.code == .aborted)
                    }
                }
            }
            #expect(try await state(client) == before)
            #expect(
                try await client.send(.delete, "/v1/tokens/\(token)", headers: [.ifMatch: "*"]).status == .noContent)
        }
    }

    @Test func `an idempotency key counts for one route, one body and one principal`() async throws {
        let gateway = try TestGateway()
        let key = try #require(HTTPField.Name("Idempotency-Key"))
        try await gateway.run { client in
            func post(_ path: String, _ body: String, token: String = TestGateway.token) async throws -> TestResponse {
                try await client.send(.post, path, body, type: Self.json, token: token, headers: [key: "k-1"])
            }
            let first = try await post("/v1/structures", #"{"name":"Cabin"}"#)
            let structure = try first.decoded(StructureSnapshot.self).id
            #expect(
                try await post("/v1/structures", #"{"name":"Cabin"}"#).decoded(StructureSnapshot.self).id == structure)
            // Another body under the same key is a mistake, not another cabin.
            #expect(try await post("/v1/structures", #"{"name":"Boat"}"#).status == .badRequest)
            // The same body means something else on another route, and for another person.
            let room = try await post("/v1/structures/\(structure)/rooms", #"{"name":"Cabin"}"#)
            #expect(room.status == .created)
            #expect(try room.decoded(RoomSnapshot.self).id != structure)
            let guest = try await post("/v1/structures", #"{"name":"Cabin"}"#, token: TestGateway.guestToken)
            #expect(try guest.decoded(StructureSnapshot.self).id != structure)
            let start = "/v1/devices/door/traits/WebRtcLiveView/commands/startLiveView"
            let view = try await post(start, #"{"offerSdp":"v=0\r\n"}"#)
            let repeated = try await post(start, #"{"offerSdp":"v=0\r\n"}"#)
            #expect(view.status == .ok && view.text == repeated.text)
            let other = try await post(start, #"{"offerSdp":"v=0\r\n"}"#, token: TestGateway.guestToken)
            #expect(other.text != view.text)
            for wrong in ["", String(repeating: "k", count: 256)] {
                let response = try await client.send(
                    .post, "/v1/structures", #"{"name":"Cabin"}"#, type: Self.json, headers: [key: "\"\(wrong)\""])
                #expect(response.status == .badRequest)
            }
        }
    }
}
