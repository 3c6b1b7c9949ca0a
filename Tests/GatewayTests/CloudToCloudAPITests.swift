import DatagramPort
import Foundation
import HTTPTypes
import HomeFakes
import HomeTypes
import HummingbirdTesting
import Testing
import Transport

@testable import Gateway

@Suite struct CloudToCloudAPITests {
    static let json = "application/json"

    func ask(
        _ client: TestGateway.Client, _ intent: String, _ payload: String = "{}", token: String = TestGateway.token
    ) async throws -> [String: Any] {
        let body = #"{"requestId":"r","inputs":[{"intent":"action.devices.\#(intent)","payload":\#(payload)}]}"#
        let response = try await client.send(.post, "/v1/cloud-to-cloud", body, type: Self.json, token: token)
        #expect(response.status == .ok, "\(response.text)")
        return try object(response)
    }

    func object(_ response: TestResponse) throws -> [String: Any] {
        let value = try JSONSerialization.jsonObject(with: Data(response.text.utf8))
        return try #require(value as? [String: Any])
    }

    @Test func `a device that is unknown or not granted is not found in any intent`() async throws {
        let gateway = try TestGateway()
        try await gateway.addToken("gatehouse_cloud", named: "cloud", Access([.init([.read], deviceID: "yard")]))
        try await gateway.run { client in
            for (id, token) in [("attic", TestGateway.token), ("door", "gatehouse_cloud")] {
                let query = try await ask(client, "QUERY", #"{"devices":[{"id":"\#(id)"}]}"#, token: token)
                #expect("\(query)".contains("deviceNotFound"))
                let execute = try await ask(
                    client, "EXECUTE",
                    #"{"commands":[{"devices":[{"id":"\#(id)"}],"execution":[{"command":"action.devices.commands.OnOff"}]}]}"#,
                    token: token)
                #expect("\(execute)".contains("deviceNotFound"))
            }
            let broken = try await client.send(.post, "/v1/cloud-to-cloud", "{}", type: Self.json)
            #expect(broken.status == .badRequest)
        }
    }

    @Test func `a disconnected account has no access any more`() async throws {
        let gateway = try TestGateway()
        try await gateway.addToken("gatehouse_cloud", named: "cloud", Access([.init([.read])]))
        try await gateway.run { client in
            let answer = try await ask(client, "DISCONNECT", token: "gatehouse_cloud")
            #expect(answer.isEmpty)
            #expect(try await client.send(.get, "/v1/access", token: "gatehouse_cloud").status == .unauthorized)
        }
    }

    @Test func `a stream takes one offer with its own token, and ends`() async throws {
        let gateway = try TestGateway()
        let (id, token) = gateway.api.cameraStreams.add("door", for: Caller(principal: "owner"), at: MonotonicClock.now)
        try await gateway.run { client in
            let path = "/v1/camera-streams/\(id)"
            func signal(_ body: String, token: String?, headers: HTTPFields = [:]) async throws -> TestResponse {
                try await client.send(.post, path, body, type: Self.json, token: token, headers: headers)
            }
            let offer = #"{"action":"offer","deviceId":"door","sdp":"v=0\r\n"}"#
            for wrong in [nil, "gatehouse_wrong", TestGateway.token] {
                #expect(try await signal(offer, token: wrong).status == .notFound)
            }
            #expect(try await signal(#"{"action":"offer","deviceId":"yard"}"#, token: token).status == .badRequest)
            #expect(try await signal(#"{"action":"offer"}"#, token: token).status == .badRequest)
            #expect(try await signal(#"{"action":"dance"}"#, token: token).status == .badRequest)
            #expect(try await signal(#"{"action":"answer","sdp":"v=0"}"#, token: token).status == .conflict)
            // A display's page has an origin that nobody here knows.
            let answer = try await signal(offer, token: token, headers: [.origin: "https://display.example"])
            #expect(answer.status == .ok && answer.headers[.accessControlAllowOrigin] == "https://display.example")
            #expect(answer.headers[.accessControlAllowCredentials] == "true")
            let preflight = try await client.send(
                .options, path, token: nil,
                headers: [.origin: "https://display.example", .accessControlRequestMethod: "POST"])
            #expect(preflight.status == .noContent && preflight.headers[.accessControlAllowCredentials] == "true")
            #expect(try object(answer)["action"] as? String == "answer")
            #expect(try await signal(offer, token: token).status == .conflict)
            #expect(await gateway.liveView.leases().count == 1)
            #expect(try await signal(#"{"action":"end","deviceId":"door"}"#, token: token).status == .ok)
            #expect(await gateway.liveView.leases().isEmpty)
            #expect(try await signal(offer, token: token).status == .notFound)
        }
    }
}
