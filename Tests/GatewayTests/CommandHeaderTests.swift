import HTTPTypes
import HomeFakes
import HomeTypes
import Testing

@testable import Gateway

/// The headers of commands that may be repeated, or that are of no more use after a while.
@Suite struct CommandHeaderTests {
    private func start(
        _ client: TestGateway.Client, _ fields: [String: String], body: String = #"{"offerSdp":"v=0"}"#
    ) async throws -> TestResponse {
        var headers = HTTPFields()
        for (name, value) in fields { headers[try #require(HTTPField.Name(name))] = value }
        return try await client.send(
            .post, "/v1/devices/door/traits/WebRtcLiveView/commands/startLiveView", body, type: "application/json",
            headers: headers)
    }

    @Test func anIdempotencyKeyMakesARepetitionHarmless() async throws {
        let gateway = try TestGateway()
        try await gateway.run { client in
            let first = try await start(client, ["Idempotency-Key": "k-1"])
            #expect(first.status == .ok)
            // As a string of a structured field, it is the same key.
            for key in ["k-1", #""k-1""#] {
                let again = try await start(client, ["Idempotency-Key": key])
                #expect(again.status == .ok && again.text == first.text)
            }
            #expect(await gateway.liveView.requests.count == 1)
            let other = try await start(client, ["Idempotency-Key": "k-1"], body: #"{"offerSdp":"v=1"}"#)
            #expect(other.status == .badRequest && other.failure?.code == .invalidArgument)
            let empty = try await start(client, ["Idempotency-Key": #""""#])
            #expect(empty.status == .badRequest)
        }
    }

    @Test func `a repeated request for a token gets the same token`() async throws {
        try await TestGateway().run { client in
            func make(_ key: String?, _ body: String) async throws -> TestResponse {
                var headers = HTTPFields()
                if let key { headers[try #require(HTTPField.Name("Idempotency-Key"))] = key }
                return try await client.send(.post, "/v1/tokens", body, type: "application/json", headers: headers)
            }
            let phone = #"{"name":"phone","grants":[{"scopes":["read"]}]}"#
            let first = try await make("k", phone)
            #expect(first.status == .created && first.headers[.location] != nil && first.headers[.eTag] != nil)
            let again = try await make("k", phone)
            #expect(again.text == first.text && again.headers[.location] == first.headers[.location])
            #expect(again.headers[.eTag] == first.headers[.eTag])
            #expect(try await make("k", #"{"name":"tablet","grants":[{"scopes":["read"]}]}"#).status == .badRequest)
            #expect(try await make("other", phone).failure?.code == .alreadyExists)
            #expect(try await make(nil, phone).failure?.code == .alreadyExists)
            // One that was refused is tried again.
            #expect(try await make("late", "{}").status == .badRequest)
            #expect(try await make("late", #"{"name":"late","grants":[{"scopes":["read"]}]}"#).status == .created)
        }
    }

    @Test func aCommandWhoseTimeIsOverIsRefused() async throws {
        let gateway = try TestGateway()
        try await gateway.run { client in
            let late = try await self.start(client, ["Grpc-Timeout": "0S"])
            #expect(late.status == .gatewayTimeout && late.failure?.code == .deadlineExceeded)
            #expect(await gateway.liveView.requests.isEmpty)
            #expect(try await self.start(client, ["Grpc-Timeout": "10M"]).status == .ok)
            for text in ["", "S", "10", "10s", "-1S", "1.5S", "123456789S", "10 S", "\u{0661}S"] {
                let wrong = try await self.start(client, ["Grpc-Timeout": text])
                #expect(wrong.status == .badRequest, "\(text)")
            }
        }
    }

    @Test(arguments: [
        ("1H", 3_600), ("2M", 120), ("30S", 30), ("500m", 0.5), ("250u", 0.00025), ("99999999n", 0.099999999),
    ])
    func aTimeoutHasAUnit(text: String, seconds: Double) throws {
        #expect(abs(try GatewayAPI.seconds(ofTimeout: text) - seconds) < 1e-12)
    }
}
