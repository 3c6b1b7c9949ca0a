import HTTPTypes
import HomeFakes
import HomeTypes
import Signalling
import Testing

@testable import Gateway

@Suite struct WHIPTests {
    private static let fragment = GatewayAPI.fragmentMediaType

    private func gateway() throws -> TestGateway {
        try TestGateway {
            $0.cameras.append(.init(id: "phone", name: "Phone", kind: .camera, source: .publisher))
            $0.media.iceServers = [.init(url: "stun:stun.example", username: nil, credential: nil)]
        }
    }

    private func publish(_ client: TestGateway.Client, device: String = "phone") async throws -> TestResponse {
        try await client.send(.post, "/whip/\(device)", "v=0\r\n", type: "application/sdp")
    }

    @Test func aPublisherStartsAndEnds() async throws {
        let gateway = try gateway()
        try await gateway.run { client in
            let response = try await publish(client)
            #expect(response.status == .created && response.text == "v=0\r\n")
            #expect(response.headers[.contentType] == "application/sdp")
            #expect(response.headers[.location] == "/whip/phone/publisher-1")
            #expect(response.headers[.eTag] == "\"g1\"")
            #expect(response.headers[try #require(WHEPTests.acceptPatch)] == Self.fragment)
            #expect(
                response.headers[values: try #require(WHEPTests.link)] == ["<stun:stun.example>; rel=\"ice-server\""])
            #expect(await gateway.liveView.requests.first?.reachedAddresses == ["127.0.0.1"])
            // It is not a live view that somebody could see or stop.
            #expect(await gateway.liveView.list.isEmpty)
            #expect(try await client.send(.delete, "/whip/phone/publisher-1").status == .ok)
            #expect(try await client.send(.delete, "/whip/phone/publisher-1").status == .notFound)
        }
    }

    @Test func candidatesAndRestartsFollowTheRulesOfIfMatch() async throws {
        try await gateway().run { client in
            let location = try #require(try await publish(client).headers[.location])
            func patch(_ body: String, _ condition: String?) async throws -> TestResponse {
                try await client.send(
                    .patch, location, body, type: Self.fragment, headers: condition.map { [.ifMatch: $0] } ?? [:])
            }
            #expect(try await patch("a=candidate", nil).status == .preconditionRequired)
            #expect(try await patch("a=candidate", "\"g0\"").status == .preconditionFailed)
            #expect(try await patch("a=candidate", "\"g1\"").status == .noContent)
            #expect(try await patch("garbage", "\"g1\"").status == .badRequest)
            let restart = try await patch("restart", "*")
            #expect(restart.status == .ok && restart.headers[.eTag] == "\"g2\"")
            #expect(try await patch("a=candidate", "\"g1\"").status == .preconditionFailed)
            #expect(
                try await client.send(.patch, location, "x", type: "text/plain", headers: [.ifMatch: "*"]).status
                    == .unsupportedMediaType)
            // The end needs no condition, and one is ignored.
            #expect(try await client.send(.delete, location, headers: [.ifMatch: "\"g0\""]).status == .ok)
        }
    }

    /// RFC 9725 asks for the entity tag, and publishers send it.
    @Test func candidatesNeedTheEntityTagEvenWithCredentials() async throws {
        try await gateway().run { client in
            let offer = "v=0\r\na=ice-ufrag:first\r\n"
            let response = try await client.send(.post, "/whip/phone", offer, type: "application/sdp")
            let location = try #require(response.headers[.location])
            func patch(_ body: String, _ condition: String?) async throws -> HTTPResponse.Status {
                try await client.send(
                    .patch, location, body, type: Self.fragment, headers: condition.map { [.ifMatch: $0] } ?? [:]
                ).status
            }
            #expect(try await patch("a=ice-ufrag:first\r\na=candidate", nil) == .preconditionRequired)
            #expect(try await patch("a=ice-ufrag:second\r\nrestart", "*") == .ok)
            #expect(try await patch("a=ice-ufrag:second\r\na=candidate", nil) == .preconditionRequired)
        }
    }

    @Test func aPrincipalThatMayNotPublishIsRefused() async throws {
        let gateway = try gateway()
        try await gateway.run { client in
            let path = "/whip/phone"
            #expect(
                try await client.send(.post, path, "v=0", type: "application/sdp", token: nil).status == .unauthorized)
            #expect(try await client.send(.post, path, "{}", type: "application/json").status == .unsupportedMediaType)
            #expect(try await publish(client, device: "attic").status == .notFound)
            let own = try await publish(client, device: "yard")
            #expect(own.status == .conflict && own.failure?.message.contains("you cannot publish to") == true)
            let refusal = OfferRefusal(.playsNothing(camera: "phone", media: [], faults: []), line: nil)
            await gateway.liveView.setStartError(.refusedOffer(refusal))
            let mismatch = try await publish(client)
            #expect(mismatch.status == .notAcceptable && mismatch.failure?.message == refusal.words)
            await gateway.liveView.setStartError(nil)
            let location = try #require(try await publish(client).headers[.location])
            let guest = TestGateway.guestToken
            #expect(try await client.send(.delete, location, token: guest).status == .notFound)
            #expect(
                try await client.send(
                    .patch, location, "restart", type: Self.fragment, token: guest, headers: [.ifMatch: "*"]
                ).status == .notFound)
        }
    }

    @Test func aPublisherThatTakesTheCameraOverTooSoonIsToldWhenToComeAgain() async throws {
        let gateway = try gateway()
        try await gateway.run { client in
            let error = SignallingError.publishersChangeTooOften(device: "phone", wait: .milliseconds(300))
            await gateway.liveView.setStartError(error)
            let refused = try await publish(client)
            #expect(refused.status == .tooManyRequests && refused.headers[.retryAfter] == "1")
            #expect(refused.failure?.message == error.words)
            await gateway.liveView.setStartError(nil)
            let accepted = try await publish(client)
            #expect(accepted.status == .created)
        }
    }

    @Test func `of two publishers that start at once the later stays known, in whichever order they come`() async {
        func entry(_ principal: String) -> WHEPSessions.Entry {
            .init(deviceID: "phone", principal: principal, entityTag: "g1")
        }
        let other = WHEPSessions.Entry(deviceID: "tablet", principal: "owner", entityTag: "g1")
        for order in [["earlier", "later"], ["later", "earlier"]] {
            let sessions = WHEPSessions()
            await sessions.add("other", other)
            for session in order {
                await sessions.replace(session, entry(session)) { reference in
                    reference == SessionReference("later", of: "phone", principal: "later")
                }
            }
            #expect(await sessions.begun == ["other", "later"])
            #expect(await sessions["later"] == entry("later"))
        }
    }

    @Test func optionsStateWhatIsAcceptedAndOtherMethodsAreRefused() async throws {
        try await gateway().run { client in
            let endpoint = try await client.send(.options, "/whip/phone")
            #expect(endpoint.status == .ok)
            #expect(endpoint.headers[try #require(WHEPTests.acceptPost)] == "application/sdp")
            let location = try #require(try await publish(client).headers[.location])
            let session = try await client.send(.options, location)
            #expect(session.status == .ok)
            #expect(session.headers[try #require(WHEPTests.acceptPatch)] == Self.fragment)
            for method in [HTTPRequest.Method.get, .head, .put, .delete, .patch] {
                #expect(try await client.send(method, "/whip/phone").status == .methodNotAllowed)
            }
            for method in [HTTPRequest.Method.get, .head, .put, .post] {
                #expect(try await client.send(method, location).status == .methodNotAllowed)
            }
        }
    }

    @Test func aPublishedCameraIsNotPulledOnDemand() throws {
        // The second word is the older one, and means the same.
        for word in ["publisher", "whip"] {
            #expect(throws: ConfigurationError.self) {
                try GatewayConfiguration(yaml: "cameras: [{id: a, source: \(word), pull: on-demand}]")
            }
            let always = try GatewayConfiguration(yaml: "cameras: [{id: a, source: \(word), pull: always}]")
            #expect(always.cameras.map(\.source) == [.publisher])
            #expect(always.cameras.map(\.sourceText) == ["publisher"])
        }
    }
}
