import Foundation
import HTTPTypes
import HomeFakes
import HomeHub
import HomeTypes
import Signalling
import Testing

@testable import Gateway

@Suite struct APITests {
    @Test func nothingButThePageAndHealthIsOpenWithoutAToken() async throws {
        let gateway = try TestGateway()
        let routes = RouteTable(gateway.api.router(scheme: "http")).entries
        #expect(routes.count > 20)
        let lasting = try #require(gateway.api.page.lasting.keys.first { $0.hasSuffix("/app.js") })
        try await gateway.run { client in
            for route in routes {
                let path = route.path.replacing("/assets/{file}/{name}", with: lasting)
                    .replacing("{file}", with: "app.js").replacing("{device}", with: "door")
                    .replacing("{session}", with: "s")
                    .replacing("{trait}", with: "WebRtcLiveView").replacing("{command}", with: "startLiveView")
                    .replacing("{camera}", with: "door").replacing("{clip}", with: "1")
                    .replacing("{secret}", with: "gatehouse_webhook_wrong").replacing("{type}", with: "motion")
                    // Any other name will do for a path that nobody may read.
                    .replacing("{", with: "").replacing("}", with: "")
                let isOpen =
                    [
                        "/", "/camera/{device}", "/healthz", "/oauth/authorize", "/service-worker.js",
                        "/.well-known/oauth-authorization-server",
                    ]
                    .contains(route.path) || route.path.hasPrefix("/assets/")
                // Clients of OAuth name themselves in the form, which this request does not have.
                if ["/oauth/token", "/oauth/revoke"].contains(route.path) {
                    #expect(try await client.send(route.method, path, token: nil).status == .unsupportedMediaType)
                    continue
                }
                // The name and the password are in the body, which this request does not have.
                if route.path == "/v1/sign-in" {
                    #expect(try await client.send(route.method, path, token: nil).status == .badRequest)
                    continue
                }
                // The secret of a webhook is in the path, so no header is needed.
                if route.path.hasPrefix("/v1/webhooks/") {
                    #expect(try await client.send(route.method, path, token: nil).status == .forbidden)
                    continue
                }
                // So is the secret of a link to recordings. This gateway keeps none, so every link has ended. The picture of an
                // event has a token of its own.
                if route.path.hasPrefix("/v1/recording-links/") || route.path.hasPrefix("/v1/event-images/")
                    || route.path.hasPrefix("/v1/camera-streams/") || route.path.hasPrefix("/v1/push-pictures/")
                {
                    #expect(try await client.send(route.method, path, token: nil).status == .notFound)
                    continue
                }
                // The address of a WHEP or WHIP session is its capability: players send no token to it.
                let isCapability =
                    (route.path.hasPrefix("/whep/") || route.path.hasPrefix("/whip/"))
                    && [.patch, .delete].contains(route.method)
                if isCapability {
                    let status = try await client.send(route.method, path, token: nil).status
                    #expect([.notFound, .unsupportedMediaType].contains(status), "\(route.method) \(route.path)")
                }
                for token in isCapability ? ["", "gatehouse_wrong"] : [nil, "", "gatehouse_wrong", "owner"] {
                    let response = try await client.send(route.method, path, token: token)
                    #expect(
                        (response.status == .ok) == isOpen && (response.status == .unauthorized) == !isOpen,
                        "\(route.method) \(route.path) with \(token ?? "no token")")
                    if !isOpen { #expect(response.headers[.wwwAuthenticate]?.hasPrefix("Bearer") == true) }
                }
            }
            // Unknown paths reveal nothing either, and no scheme except Bearer counts.
            #expect(try await client.send(.get, "/nowhere", token: nil).status == .unauthorized)
            #expect(
                try await client.send(
                    .get, "/v1/devices", token: nil, headers: [.authorization: "Basic \(TestGateway.token)"]
                ).status == .unauthorized)
        }
    }

    @Test func devicesAndTraitsAreShown() async throws {
        try await TestGateway().run { client in
            let list = try await client.get("/v1/devices").decoded(GatewayAPI.DeviceList.self)
            #expect(list.devices.map(\.id) == ["door", "yard"])
            let one = try await client.get("/v1/devices/door").decoded(DeviceSnapshot.self)
            #expect(one == list.devices[0])
            #expect(
                try await client.get("/v1/devices/door/traits/PushAvStreamTransport").text
                    == #"{"currentConnections":[]}"#)
            #expect(try await client.get("/v1/devices/door/traits/DoorbellPress").text == "{}")
            #expect(try await client.get("/v1/devices/door/speaker").text.contains("440"))
            // No clip plays, so there is nothing to wait for.
            #expect(try await client.get("/v1/devices/door/speaker?wait=20").text.contains("440"))
            for wait in ["21", "0", "soon"] {
                #expect(try await client.get("/v1/devices/door/speaker?wait=\(wait)").status == .badRequest)
            }
            for path in [
                "/v1/devices/attic", "/v1/devices/door/traits/OnOff", "/v1/devices/yard/traits/DoorbellPress",
                "/v1/nowhere", "/v1/sessions/none",
            ] {
                let response = try await client.get(path)
                #expect(response.status == .notFound)
                #expect(response.failure?.code == .notFound)
            }
        }
    }

    @Test func aLiveViewIsStartedExtendedTalkedToAndStopped() async throws {
        let gateway = try TestGateway()
        try await gateway.run { client in
            let trait = "WebRtcLiveView"
            let id = try await client.start()
            let request = try #require(await gateway.liveView.requests.first)
            #expect(request.principal == "owner")
            #expect(request.deviceID == "door")
            #expect(request.reachedAddresses.first == "127.0.0.1")

            let session = try await client.get("/v1/sessions/\(id)").decoded(SessionSnapshot.self)
            #expect(session.session.steps.map(\.name) == ["offer"])
            #expect(session.expiresAt == Date(timeIntervalSince1970: 1_300))
            #expect(
                try await client.command(
                    trait, "extendLiveView", #"{"mediaSessionId":"\#(id)","extendedDurationSeconds":90}"#
                ).text == #"{"liveSessionDurationSeconds":90}"#)
            #expect(try await client.command(trait, "startTalkback", #"{"mediaSessionId":"\#(id)"}"#).text == "{}")
            #expect(await gateway.liveView.list[0].isTalking)
            #expect(try await client.command(trait, "stopTalkback", #"{"mediaSessionId":"\#(id)"}"#).status == .ok)
            #expect(
                try await client.command(
                    trait, "changeLiveViewQuality", #"{"mediaSessionId":"\#(id)","qualityHint":"uhd"}"#
                ).text == #"{"qualityHint":"sd"}"#)
            #expect(try await client.command(trait, "stopLiveView", #"{"mediaSessionId":"\#(id)"}"#).status == .ok)
            // Ending a session that has ended is not an error for its owner; nothing else can be done with it.
            for command in ["stopLiveView", "stopTalkback"] {
                #expect(try await client.command(trait, command, #"{"mediaSessionId":"\#(id)"}"#).status == .ok)
            }
            #expect(try await client.send(.delete, "/v1/sessions/\(id)").status == .noContent)
            #expect(try await client.send(.delete, "/whep/door/\(id)").status == .ok)
            #expect(try await client.get("/v1/sessions/\(id)").status == .notFound)
            for command in ["extendLiveView", "startTalkback"] {
                let refused = try await client.command(trait, command, #"{"mediaSessionId":"\#(id)"}"#)
                #expect(refused.failure?.code == .notFound)
            }
            for (path, token) in [
                ("/v1/sessions/\(id)", TestGateway.guestToken), ("/whep/door/\(id)", TestGateway.guestToken),
                ("/whep/yard/\(id)", TestGateway.token), ("/v1/sessions/no-such", TestGateway.token),
            ] {
                #expect(try await client.send(.delete, path, token: token).status == .notFound, "\(path)")
            }
        }
    }

    @Test func aSessionIsHiddenFromOtherPrincipals() async throws {
        try await TestGateway().run { client in
            let id = try await client.start()
            let guest = TestGateway.guestToken
            #expect(
                try await client.send(.get, "/v1/sessions", token: guest).text == #"{"sessions":[]}"#)
            #expect(try await client.send(.get, "/v1/sessions/\(id)", token: guest).status == .notFound)
            #expect(try await client.send(.delete, "/v1/sessions/\(id)", token: guest).status == .notFound)
            #expect(try await client.send(.delete, "/whep/door/\(id)", token: guest).status == .notFound)
            #expect(try await client.send(.delete, "/v1/sessions/\(id)").status == .noContent)
        }
    }

    @Test func theButtonIsPressed() async throws {
        try await TestGateway().run { client in
            let pressed = try await client.command("DoorbellPress", "press", "{}")
            #expect(pressed.status == .ok)
            // A command without parameters needs no body.
            #expect(
                try await client.send(.post, "/v1/devices/door/traits/DoorbellPress/commands/press").status == .ok)
            #expect(try await client.command("DoorbellPress", "press", "{}", device: "yard").status == .notFound)
        }
    }

    @Test func aFailedStartSaysWhy() async throws {
        let gateway = try TestGateway()
        try await gateway.run { client in
            let expected: [(SignallingError, HTTPResponse.Status)] = [
                (.stopped(device: "door"), .serviceUnavailable),
                (.limitReached(.principal("guest", views: 32)), .tooManyRequests),
                (
                    .refusedOffer(OfferRefusal(.playsNothing(camera: "door", media: [], faults: []), line: nil)),
                    .notAcceptable
                ),
                (.noMicrophone, .conflict), (.floorTaken(device: "door", by: .session), .conflict),
                (.noMediaBeforeDeadline(device: "door"), .gatewayTimeout),
            ]
            for (error, status) in expected {
                await gateway.liveView.setStartError(error)
                let response = try await client.command("WebRtcLiveView", "startLiveView", #"{"offerSdp":"v=0"}"#)
                #expect(response.status == status)
                #expect(response.failure == HomeError(error))
            }
        }
    }

    @Test(arguments: [
        ("", "offerSdp is missing"), ("{", "the body is not valid JSON"), ("[]", "the body must be an object"),
        (#"{"offerSdp":5}"#, "offerSdp must be a string"), (#"{"offerSdp":null}"#, "offerSdp must"),
        (#"{"offerSdp":"v=0","qualityHint":"8k"}"#, "qualityHint: expected one of"),
        (#"{"offerSdp":""}"#, "offerSdp is empty"), ("\u{0}\u{1}", "the body is not valid JSON"),
        (String(repeating: "[", count: 5_000), "the body is not valid JSON"),
    ])
    func badBodiesAreRefusedWithThePlace(body: String, message: String) async throws {
        try await TestGateway().run { client in
            let response = try await client.command("WebRtcLiveView", "startLiveView", body)
            #expect(response.status == .badRequest)
            #expect(response.failure?.code == .invalidArgument)
            #expect(response.failure?.message.contains(message) == true, "\(response.text)")
            // The connection and the gateway live on.
            #expect(try await client.get("/healthz").text == "ok\n")
        }
    }

    @Test func bodiesAreLimitedAndTyped() async throws {
        try await TestGateway().run { client in
            let path = "/v1/devices/door/traits/WebRtcLiveView/commands/startLiveView"
            let plain = try await client.send(.post, path, #"{"offerSdp":"v=0"}"#, type: "text/plain")
            #expect(plain.status == .unsupportedMediaType)
            let large = String(repeating: "x", count: JSONBody.maximumSize + 1)
            let refused = try await client.send(.post, path, large, type: "application/json")
            #expect(refused.status == .contentTooLarge)
            #expect(refused.failure?.message.contains("163840") == true)
        }
        try await TestGateway().run { client in
            let large = String(repeating: "x", count: GatewayAPI.maximumSDPSize + 1)
            let refused = try await client.send(.post, "/whep/door", large, type: "application/sdp")
            #expect(refused.status == .contentTooLarge)
        }
    }

    @Test func aWrongMethodIsAnsweredWithTheRightOnes() async throws {
        try await TestGateway().run { client in
            let response = try await client.send(.put, "/v1/sessions/x")
            #expect(response.status == .methodNotAllowed)
            #expect(response.headers[.allow] == "DELETE, GET")
            for method in [HTTPRequest.Method.get, .head, .put] {
                #expect(try await client.send(method, "/whep/door").status == .methodNotAllowed)
            }
        }
    }

    @Test func foreignPagesAreRefusedAndListedOnesServed() async throws {
        let gateway = try TestGateway { $0.http.origins = ["https://home.example"] }
        try await gateway.run { client in
            for origin in ["https://evil.example", "null", "https://home.example.evil", "http://home.example"] {
                let response = try await client.send(.get, "/v1/devices", headers: [.origin: origin])
                #expect(response.status == .forbidden)
                #expect(response.failure?.code == .permissionDenied)
                // The page's developer can read why.
                #expect(response.failure?.message.contains("http.origins") == true)
                #expect(response.headers[.accessControlAllowOrigin] == origin)
                let preflight = try await client.send(
                    .options, "/whep/door", token: nil,
                    headers: [.origin: origin, .accessControlRequestMethod: "POST"])
                #expect(preflight.status == .noContent)
                #expect(preflight.headers[.accessControlAllowOrigin] == origin)
                let post = try await client.send(
                    .post, "/whep/door", "v=0\r\n", type: "application/sdp", headers: [.origin: origin])
                #expect(post.status == .forbidden)
            }
            #expect(await gateway.liveView.requests.isEmpty)
            let long = "https://" + String(repeating: "a", count: 300)
            let unread = try await client.send(.get, "/v1/devices", headers: [.origin: long])
            #expect(unread.status == .forbidden && unread.headers[.accessControlAllowOrigin] == nil)
            let listed: HTTPFields = [.origin: "https://home.example"]
            let good = try await client.send(.get, "/v1/devices", headers: listed)
            #expect(good.status == .ok)
            #expect(good.headers[.accessControlAllowOrigin] == "https://home.example")
            let failed = try await client.send(.get, "/v1/devices", token: nil, headers: listed)
            #expect(failed.status == .unauthorized)
            #expect(failed.headers[.accessControlAllowOrigin] == "https://home.example")
            let preflight = try await client.send(
                .options, "/whep/door", token: nil,
                headers: [.origin: "https://home.example", .accessControlRequestMethod: "POST"])
            #expect(preflight.status == .noContent)
            for name in ["Authorization", "Idempotency-Key", "Grpc-Timeout"] {
                #expect(preflight.headers[.accessControlAllowHeaders]?.contains(name) == true)
            }
            // A request that only looks a little like a preflight still needs a token.
            #expect(try await client.send(.options, "/whep/door", token: nil, headers: listed).status == .unauthorized)
            let own = try await client.send(.get, "/v1/devices", headers: [.origin: "http://localhost"])
            #expect(own.status == .ok)
        }
    }

    @Test func thePageIsServedWithAStrictPolicyAndWithoutForeignAddresses() async throws {
        let gateway = try TestGateway()
        try await gateway.run { client in
            let page = try await client.send(.get, "/", token: nil)
            #expect(page.headers[.contentType] == "text/html; charset=utf-8")
            #expect(page.headers[.contentSecurityPolicy]?.contains("default-src 'none'") == true)
            #expect(page.headers[.xContentTypeOptions] == "nosniff")
            let tag = try #require(page.headers[.eTag])
            let again = try await client.send(.get, "/", token: nil, headers: [.ifNoneMatch: tag])
            #expect(again.status == .notModified)
        }
        for (path, asset) in gateway.api.page.assets where asset.mediaType != "image/png" {
            let foreign = asset.text.matches(of: /(?:https?:)?\/\/[a-z0-9.-]+\.[a-z]{2,}/).map { String($0.0) }
            // A name below `example` belongs to nobody (RFC 2606) and shows what a field takes.
            let isAllowed = foreign.allSatisfy { $0.hasSuffix("www.w3.org") || $0.hasSuffix(".example") }
            #expect(isAllowed, "\(path): \(foreign)")
            #expect(!asset.text.contains(" style=") && !asset.text.contains(" onclick="), "\(path)")
        }
    }

    @Test func metricsCountRequestsAndSessionsWithoutNamingThem() async throws {
        let gateway = try TestGateway()
        try await gateway.run { client in
            let id = try await client.start()
            _ = try await client.get("/v1/sessions/\(id)")
            let text = try await client.get("/metrics").text
            #expect(text.contains("gatehouse_sessions{device=\"door\"} 1\n"))
            #expect(
                text.contains(
                    #"gatehouse_http_requests_total{method="GET",route="/v1/sessions/{session}",status="200"} 1"#))
            #expect(text.contains("process_resident_memory_bytes "))
            #expect(!text.contains(id))
        }
    }
}
