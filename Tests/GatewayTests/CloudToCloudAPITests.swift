import DatagramPort
import Foundation
import HTTPTypes
import HomeFakes
import HomeHub
import HomeTypes
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

    /// Promises a stream and begins its live view.
    private func begin(
        _ gateway: TestGateway, _ client: TestGateway.Client, at now: Instant = MonotonicClock.now
    ) async throws -> (id: String, token: String) {
        let stream = gateway.api.cameraStreams.add("door", for: Caller(principal: "owner"), at: now)
        let answer = try await client.send(
            .post, "/v1/camera-streams/\(stream.id)", #"{"action":"offer","sdp":"v=0\r\n"}"#, type: Self.json,
            token: stream.token)
        #expect(answer.status == .ok)
        return stream
    }

    @Test(arguments: [true, false])
    func `a stream that has ended gives way before others`(oneWaits: Bool) async throws {
        let gateway = try TestGateway()
        // A camera that cannot be reached is promised to nobody.
        gateway.camera.send(FakeCamera.flowing)
        gateway.camera.finish()
        await gateway.hub.run()
        let streams = gateway.api.cameraStreams
        try await gateway.run { client in
            let now = MonotonicClock.now
            var others = [try await begin(gateway, client, at: now)]
            if oneWaits { others.append(streams.add("door", for: Caller(principal: "owner"), at: now)) }
            for number in others.count..<CameraStreams.share {
                let (id, _) = streams.add("door", for: Caller(principal: "owner"), at: now + .milliseconds(number))
                #expect(streams.take(id) && streams.record(session: "ended \(number)", of: id))
            }
            let asked = try await ask(
                client, "EXECUTE",
                #"{"commands":[{"devices":[{"id":"door"}],"execution":[{"command":"action.devices.commands.GetCameraStream","#
                    + #""params":{"SupportedStreamProtocols":["webrtc"]}}]}]}"#)
            #expect("\(asked)".contains("cameraStreamSignalingUrl"))
            for other in others { #expect(streams.stream(other.id, token: other.token, at: now) != nil) }
        }
    }

    @Test func `a stream is forgotten when the leases are looked at after its live view has ended`() async throws {
        let gateway = try TestGateway()
        let streams = gateway.api.cameraStreams
        let keeper = WHEPLeaseKeeper(
            sessions: gateway.api.whepSessions, cameraStreams: streams, hub: gateway.hub, tokens: gateway.api.tokens)
        try await gateway.run { client in
            let ended = try await begin(gateway, client)
            let watched = try await begin(gateway, client)
            let waiting = streams.add("door", for: Caller(principal: "owner"), at: MonotonicClock.now)
            await gateway.liveView.drop("session-1")
            // The other one is due later.
            #expect(await keeper.extendLeases() == Duration.seconds(270))
            let now = MonotonicClock.now
            let left = [ended, watched, waiting].map { streams.stream($0.id, token: $0.token, at: now) != nil }
            #expect(left == [false, true, true])
        }
    }
}
