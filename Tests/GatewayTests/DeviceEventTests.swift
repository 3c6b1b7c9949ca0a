import Foundation
import HTTPTypes
import HomeFakes
import HomeHub
import HomeTypes
import PushAvStreamTransport
import Testing

@testable import Gateway

@Suite struct DeviceEventTests {
    static let json = "application/json"

    func events(_ response: TestResponse) throws -> [DeviceEvent] {
        try response.decoded(GatewayAPI.EventList.self).events
    }

    @Test func eventsAreListedNewestFirstWithinLimits() async throws {
        let gateway = try TestGateway()
        for index in 0..<5 { gateway.camera.send(.doorbellPressed(.init(priority: Int64(index)))) }
        gateway.camera.send(.detection(.init(kind: .motion, phase: .began, eventSessionId: "a")))
        gateway.camera.finish()
        await gateway.hub.run()
        try await gateway.run { client in
            let all = try events(await client.get("/v1/devices/door/events"))
            #expect(all.map(\.event) == ["Motion"] + Array(repeating: "DoorbellPressed", count: 5))
            #expect(all.dropFirst().map(\.priority) == [4, 3, 2, 1, 0])
            #expect(all.first?.trait == "CameraMotion")
            let two = try events(await client.get("/v1/devices/door/events?limit=2"))
            #expect(two.map(\.id) == all.prefix(2).map(\.id))
            let newer = try events(await client.get("/v1/devices/door/events?since=\(all[2].id)"))
            #expect(newer.map(\.id) == all.prefix(2).map(\.id))
            for time in ["1970-01-01T00:16:40Z", "1970-01-01T01:16:40+01:00", "1970-01-01T00:16:39.5Z"] {
                #expect(
                    try events(await client.get("/v1/devices/door/events?since=\(time)")).count == 6, "\(time)")
            }
            #expect(try events(await client.get("/v1/devices/door/events?since=1970-01-01T00:16:41Z")).isEmpty)
            for query in ["limit=0", "limit=201", "limit=x", "since=yesterday", "since="] {
                #expect(try await client.get("/v1/devices/door/events?\(query)").status == .badRequest, "\(query)")
            }
            #expect(try await client.get("/v1/devices/attic/events").status == .notFound)
            #expect(try events(await client.get("/v1/devices/yard/events")).isEmpty)
        }
    }

    @Test func aWebhookTokenReportsEventsOfItsDeviceAndOpensNothingElse() async throws {
        let gateway = try TestGateway()
        try await gateway.run { client in
            func post(_ path: String, _ body: String, _ token: String?) async throws -> TestResponse {
                try await client.send(.post, path, body, type: Self.json, token: token)
            }
            let own = "/v1/devices/door/events"
            for token in [TestGateway.webhookToken, TestGateway.token] {
                let response = try await post(own, #"{"type":"doorbellPressed","complementaryToneId":"x"}"#, token)
                #expect(try response.decoded(GatewayAPI.ReportAnswer.self).accepted)
            }
            let over = try await post(own, #"{"type":"motion","active":false}"#, TestGateway.webhookToken)
            #expect(try !over.decoded(GatewayAPI.ReportAnswer.self).accepted)
            #expect(
                try await post("/v1/devices/yard/events", #"{"type":"motion"}"#, TestGateway.webhookToken).status
                    == .forbidden)
            #expect(try await post(own, #"{"type":"motion"}"#, nil).status == .unauthorized)
            for path in ["/v1/devices", own, "/v1/events", "/v1/sessions", "/v1/gateway", "/metrics"] {
                let response = try await client.send(.get, path, token: TestGateway.webhookToken)
                #expect(response.status == .forbidden, "\(path)")
            }
        }
    }

    @Test func onlyTheDeviceItselfReportsItsPrivacySwitch() async throws {
        let transports = try TransportService()
        transports.setCameras(["door": OwnConnection(), "yard": OwnConnection()])
        let gateway = try TestGateway(transports: transports)
        @Sendable func isOn() -> Bool? { transports.table(of: "door")?.privacy.hard }
        try await gateway.run { client in
            let own = "/v1/devices/door/events"
            let hook = "/v1/webhooks/door/\(TestGateway.webhookToken)/privacy"
            for token in [TestGateway.token, TestGateway.guestToken] {
                let app = try await client.send(
                    .post, own, #"{"type":"privacy","active":true}"#, type: Self.json, token: token)
                #expect(app.status == .forbidden)
                #expect(app.failure?.message.contains("softRecordingPrivacyModeEnabled") == true)
            }
            #expect(isOn() == false)
            let body = try await client.send(
                .post, own, #"{"type":"privacy","active":true}"#, type: Self.json, token: TestGateway.webhookToken)
            #expect(try body.decoded(GatewayAPI.ReportAnswer.self).accepted)
            #expect(isOn() == true)
            let silent = try await client.send(.get, hook, token: nil)
            #expect(silent.status == .badRequest)
            #expect(silent.failure?.message.contains("active is missing") == true)
            let off = try await client.send(.get, hook + "?active=off", token: nil)
            #expect(try off.decoded(GatewayAPI.ReportAnswer.self).accepted)
            #expect(isOn() == false)
            // Turning it off has a limit. Turning it on has none, and motion does not use it up.
            // What an hour allows is used up, however slowly the requests come.
            let later = Date(timeIntervalSinceNow: 3_600)
            for _ in 0..<100 { _ = gateway.api.eventLimiter.allows("door privacy", at: later) }
            #expect(try await client.send(.get, hook + "?active=off", token: nil).status == .tooManyRequests)
            let motion = "/v1/webhooks/door/\(TestGateway.webhookToken)/motion"
            #expect(try await client.send(.get, motion, token: nil).status == .ok)
            #expect(try await client.send(.get, hook + "?active=on", token: nil).status == .ok)
            #expect(isOn() == true)
            let name = Google.CameraAvStreamManagementTrait.name
            let written = try await client.send(
                .patch, "/v1/devices/door/traits/\(name)", #"{"hardPrivacyModeOn":false}"#, type: Self.json)
            #expect(written.status == .badRequest)
            #expect(written.text.contains(#""matter":{"code":136}"#))
            #expect(isOn() == true)
        }
    }

    @Test func aReportThatIsNotAnEventIsRefusedWithTheReason() async throws {
        let gateway = try TestGateway()
        try await gateway.run { client in
            for (body, words) in [
                ("{", "the body is not valid JSON"), ("{}", "type is missing"),
                (#"{"type":"boom"}"#, "expected one of doorbellPressed"), (#"{"type":5}"#, "type must be a string"),
                (#"{"type":"motion","active":"yes"}"#, "active must be a boolean"),
                (
                    #"{"type":"doorbellPressed","complementaryToneId":"\#(String(repeating: "x", count: 65))"}"#,
                    "longer"
                ),
            ] {
                let response = try await client.send(
                    .post, "/v1/devices/door/events", body, type: Self.json, token: TestGateway.webhookToken)
                #expect(response.status == .badRequest, "\(body)")
                #expect(response.failure?.message.contains(words) == true, "\(response.text)")
            }
            // A camera has no button.
            let press = try await client.send(
                .post, "/v1/devices/yard/events", #"{"type":"doorbellPressed"}"#, type: Self.json)
            #expect(press.failure?.code == .failedPrecondition)
        }
    }

    @Test func anAddressWithTheSecretReportsAnEvent() async throws {
        let gateway = try TestGateway()
        try await gateway.run { client in
            let base = "/v1/webhooks/door/\(TestGateway.webhookToken)"
            for (method, path, status) in [
                (HTTPRequest.Method.get, "\(base)/motion?active=true", HTTPResponse.Status.ok),
                (.post, "\(base)/doorbellPressed", .ok), (.get, "\(base)/motion?active=maybe", .badRequest),
                (.get, "\(base)/boom", .badRequest),
                (.get, "/v1/webhooks/door/\(TestGateway.token)/motion", .forbidden),
                (.get, "/v1/webhooks/yard/\(TestGateway.webhookToken)/motion", .forbidden),
                (.get, "/v1/webhooks/attic/\(TestGateway.webhookToken)/motion", .forbidden),
                (.delete, "\(base)/motion", .methodNotAllowed),
            ] {
                let response = try await client.send(method, path, token: nil)
                #expect(response.status == status, "\(method) \(path): \(response.text)")
            }
        }
    }

    @Test func tooManyEventsOfOneDeviceAreRefused() {
        let limiter = EventRateLimiter()
        let start = Date(timeIntervalSince1970: 0)
        let allowed = (0..<100).filter { _ in limiter.allows("door", at: start) }.count
        #expect(allowed == Int(EventRateLimiter.burst))
        #expect(limiter.allows("yard", at: start))
        #expect(limiter.allows("door", at: start + 1))
        #expect(!limiter.allows("door", at: start + 1))
        // A clock that runs backwards gives nothing away.
        #expect(!limiter.allows("door", at: start - 1000))
    }

    @Test func `a token that reports events without end does not keep the device from being heard`() async throws {
        let gateway = try TestGateway()
        // What an hour allows is used up, however slowly the requests come.
        let later = Date(timeIntervalSinceNow: 3_600)
        for _ in 0..<100 { _ = gateway.api.eventLimiter.allows("door", at: later) }
        try await gateway.run { client in
            let body = #"{"type":"motion"}"#
            for (token, status) in [
                (TestGateway.guestToken, HTTPResponse.Status.tooManyRequests), (TestGateway.webhookToken, .ok),
            ] {
                let response = try await client.send(
                    .post, "/v1/devices/door/events", body, type: Self.json, token: token)
                #expect(response.status == status, "\(response.text)")
            }
            let hook = "/v1/webhooks/door/\(TestGateway.webhookToken)/motion"
            #expect(try await client.send(.get, hook, token: nil).status == .ok)
        }
    }

    @Test func webhookTokensAreMadeOnceAndKept() throws {
        let folder = try TemporaryFolder()
        let first = try WebhookTokens(openingOrCreatingIn: folder.directory, devices: ["door"])
        let token = try #require(try WebhookTokens.token(of: "door", in: folder.directory))
        #expect(token.hasPrefix(WebhookTokens.prefix))
        #expect(first.device(holding: token) == "door")
        #expect(try WebhookTokens.token(of: "yard", in: folder.directory) == nil)
        let second = try WebhookTokens(openingOrCreatingIn: folder.directory, devices: ["yard", "door"])
        #expect(second.device(holding: token) == "door")
        #expect(second.secrets.count == 2)
        // Switched off, it opens nothing; switched on again, it is the one that the camera knows.
        try second.use(["yard"], in: folder.directory)
        #expect(second.device(holding: token) == nil)
        try second.use(["yard", "door"], in: folder.directory)
        #expect(second.device(holding: token) == "door")
        #expect(second.device(holding: "") == nil)
    }

    @Test func theTokenOfADeviceThatWasDecommissionedIsGone() throws {
        let folder = try TemporaryFolder()
        let tokens = try WebhookTokens(openingOrCreatingIn: folder.directory, devices: ["door", "yard"])
        let token = try #require(try WebhookTokens.token(of: "door", in: folder.directory))
        try tokens.remove("door", in: folder.directory)
        try tokens.remove("door", in: folder.directory)
        #expect(tokens.device(holding: token) == nil && !tokens.hasToken("door") && tokens.hasToken("yard"))
        try tokens.remove("yard", in: folder.directory)
        // The next start finds no file that looks damaged, and a new device gets a token of its own.
        let next = try WebhookTokens(openingOrCreatingIn: folder.directory, devices: ["door"])
        #expect(next.hasToken("door") && next.device(holding: token) == nil)
    }
}
