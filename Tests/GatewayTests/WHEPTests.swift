import HTTPTypes
import HomeFakes
import HomeTypes
import Signalling
import Testing

@testable import Gateway

@Suite struct WHEPTests {
    static let link = HTTPField.Name("Link")
    static let acceptPost = HTTPField.Name("Accept-Post")
    static let acceptPatch = HTTPField.Name("Accept-Patch")
    static let fragment = GatewayAPI.fragmentMediaType

    func start(_ client: TestGateway.Client) async throws -> (location: String, tag: String) {
        let response = try await client.send(.post, "/whep/door", "v=0\r\n", type: "application/sdp")
        #expect(response.status == .created)
        #expect(response.headers[.contentType] == "application/sdp")
        #expect(response.text == "v=0\r\n")
        return (try #require(response.headers[.location]), try #require(response.headers[.eTag]))
    }

    @Test func aPlayerStartsAndEnds() async throws {
        let gateway = try TestGateway {
            $0.media.iceServers = [.init(url: "turn:turn.example:3478", username: "u", credential: "p")]
        }
        try await gateway.run { client in
            let response = try await client.send(
                .post, "/whep/door", "v=0\r\n", type: "Application/SDP; charset=utf-8")
            #expect(response.status == .created)
            #expect(response.headers[.location] == "/whep/door/session-1")
            #expect(response.headers[.eTag] == "\"g1\"")
            #expect(response.headers[try #require(Self.acceptPatch)] == Self.fragment)
            let links = response.headers[values: try #require(Self.link)]
            #expect(
                links.contains(
                    #"<turn:turn.example:3478>; rel="ice-server"; username="u"; credential="p"; credential-type="password""#
                ))
            #expect(await gateway.liveView.requests.first?.reachedAddresses == ["127.0.0.1"])
            #expect(try await client.send(.delete, "/whep/door/session-1").status == .ok)
            // Ending is idempotent for the session's owner; to others the session has never been.
            #expect(try await client.send(.delete, "/whep/door/session-1").status == .ok)
            #expect(try await client.send(.delete, "/whep/door/session-2").status == .notFound)
            #expect(await gateway.liveView.list.isEmpty)
        }
    }

    @Test func candidatesAndRestartsFollowTheRulesOfIfMatch() async throws {
        try await TestGateway().run { client in
            let (location, tag) = try await start(client)
            func patch(_ body: String, _ condition: String?) async throws -> TestResponse {
                try await client.send(
                    .patch, location, body, type: Self.fragment,
                    headers: condition.map { [.ifMatch: $0] } ?? [:])
            }
            #expect(try await patch("a=candidate", nil).status == .preconditionRequired)
            #expect(try await patch("a=candidate", "\"g0\"").status == .preconditionFailed)
            #expect(try await patch("a=candidate", "W/\(tag)").status == .preconditionFailed)
            #expect(try await patch("a=candidate", "\"g0\", \(tag)").status == .noContent)
            #expect(try await patch("a=candidate", tag).status == .noContent)
            let bad = try await patch("garbage", tag)
            #expect(bad.status == .badRequest)
            #expect(bad.failure?.message == "line 1: a=ice-pwd has 0 characters; RFC 8839 asks for 22 to 256")

            let restart = try await patch("restart", "*")
            #expect(restart.status == .ok)
            #expect(restart.headers[.eTag] == "\"g2\"")
            #expect(restart.headers[.contentType] == Self.fragment)
            #expect(restart.text == "a=ice-ufrag:new\r\n")
            #expect(try await patch("a=candidate", tag).status == .preconditionFailed)
            #expect(try await patch("a=candidate", "\"g2\"").status == .noContent)
            // As the examples of the drafts have it.
            #expect(try await patch("restart", "\"*\"").status == .ok)
            #expect(try await patch("restart", "\"**\"").status == .preconditionFailed)
        }
    }

    /// What the players of medooze and Meetecho send: no If-Match, but the credentials that the candidates belong to.
    @Test func candidatesWithTheCredentialsOfTheOfferNeedNoEntityTag() async throws {
        try await TestGateway().run { client in
            let offer = "v=0\r\nm=audio 9 UDP/TLS/RTP/SAVPF 111\r\na=ice-ufrag:first\r\na=ice-pwd:secret\r\n"
            let response = try await client.send(.post, "/whep/door", offer, type: "application/sdp")
            let location = try #require(response.headers[.location])
            func patch(_ body: String, _ condition: String? = nil) async throws -> HTTPResponse.Status {
                try await client.send(
                    .patch, location, body, type: Self.fragment, token: nil,
                    headers: condition.map { [.ifMatch: $0] } ?? [:]
                ).status
            }
            let candidate = "a=ice-pwd:secret\r\nm=audio 9 RTP/AVP 0\r\na=candidate"
            #expect(try await patch("a=ice-ufrag:first\r\n" + candidate) == .noContent)
            #expect(try await patch("a=ice-ufrag:first\n" + candidate) == .noContent)
            // Without credentials nobody knows whether they are late, and others would restart ICE.
            #expect(try await patch(candidate) == .preconditionRequired)
            #expect(try await patch("a=ice-ufrag:other\r\nrestart") == .preconditionRequired)
            #expect(try await patch("a=ice-ufrag:first\r\na=ice-ufrag:other\r\n") == .preconditionRequired)
            #expect(try await patch("a=ice-ufrag:first\r\n" + candidate, "\"g0\"") == .preconditionFailed)
            // A restart has credentials of its own, and what belongs to those before comes too late.
            #expect(try await patch("a=ice-ufrag:second\r\nrestart", "*") == .ok)
            #expect(try await patch("a=ice-ufrag:first\r\n" + candidate) == .preconditionRequired)
            #expect(try await patch("a=ice-ufrag:second\r\n" + candidate) == .noContent)
        }
    }

    /// What Meetecho's page sends unless its address has `offer=true`.
    @Test func aPlayerThatWaitsForAnOfferLearnsThatItMakesOne() async throws {
        try await TestGateway().run { client in
            let refused = try await client.send(.post, "/whep/door", "")
            #expect(refused.status == .unsupportedMediaType)
            #expect(refused.failure?.message.contains("makes none") == true)
            #expect(refused.failure?.message.contains("offer=true") == true)
        }
    }

    @Test func otherBodiesAndOtherDevicesAreRefused() async throws {
        try await TestGateway().run { client in
            let (location, tag) = try await start(client)
            #expect(try await client.send(.post, "/whep/door", "v=0").status == .unsupportedMediaType)
            #expect(
                try await client.send(.post, "/whep/door", "{}", type: "application/json").status
                    == .unsupportedMediaType)
            let unknown = try await client.send(.post, "/whep/attic", "v=0", type: "application/sdp")
            #expect(unknown.status == .notFound)
            #expect(
                unknown.failure?.requestMessage
                    == #"no camera runs for device "attic"; GET /v1/devices lists them"#)
            #expect(try await client.send(.post, "/whep/door", "", type: "application/sdp").status == .badRequest)
            #expect(
                try await client.send(.patch, location, "x", type: "text/plain", headers: [.ifMatch: tag]).status
                    == .unsupportedMediaType)
            let other = location.replacing("/door/", with: "/yard/")
            #expect(try await client.send(.delete, other).status == .notFound)
            #expect(
                try await client.send(.patch, other, "x", type: Self.fragment, headers: [.ifMatch: tag]).status
                    == .notFound)
        }
    }

    @Test func optionsStateWhatIsAccepted() async throws {
        try await TestGateway().run { client in
            let endpoint = try await client.send(.options, "/whep/door")
            #expect(endpoint.status == .noContent)
            #expect(endpoint.headers[try #require(Self.acceptPost)] == "application/sdp")
            let (location, _) = try await start(client)
            let session = try await client.send(.options, location)
            #expect(session.status == .noContent)
            #expect(session.headers[try #require(Self.acceptPatch)] == Self.fragment)
        }
    }

    /// What MediaMTX's reader.js sends: the token with OPTIONS and POST, and none with what goes to the session's address.
    @Test func aPlayerThatSendsNoTokenToItsSessionIsServed() async throws {
        let gateway = try TestGateway { $0.media.iceServers = [.init(url: "stun:stun.example:3478")] }
        try await gateway.run { client in
            let servers = try await client.send(.options, "/whep/door")
            let links = servers.headers[values: try #require(Self.link)]
            #expect(links == [#"<stun:stun.example:3478>; rel="ice-server""#])
            let (location, _) = try await start(client)
            let added = try await client.send(
                .patch, location, "a=candidate", type: Self.fragment, token: nil, headers: [.ifMatch: "*"])
            #expect(added.status == .noContent)
            #expect(try await client.send(.delete, location, token: nil).status == .ok)
            #expect(await gateway.liveView.list.isEmpty)
            // Afterwards, and for what never was, there is nothing.
            #expect(try await client.send(.delete, location, token: nil).status == .notFound)
            #expect(
                try await client.send(.patch, "/whep/door/x", "a", type: Self.fragment, token: nil).status == .notFound)
        }
    }

    /// As the page does it. The address alone does not permit it there, because the API lists its sessions.
    @Test func aSessionOfTheAPITakesCandidatesWithTheTokenThatStartedIt() async throws {
        try await TestGateway().run { client in
            let session = try await client.start()
            func add(_ fragment: String, token: String?, _ condition: String?) async throws -> HTTPResponse.Status {
                try await client.send(
                    .patch, "/whep/door/\(session)", fragment, type: Self.fragment, token: token,
                    headers: condition.map { [.ifMatch: $0] } ?? [:]
                ).status
            }
            #expect(try await add("a=candidate", token: TestGateway.token, "*") == .noContent)
            #expect(try await add("a=candidate", token: TestGateway.token, nil) == .preconditionRequired)
            #expect(try await add("garbage", token: TestGateway.token, "*") == .badRequest)
            #expect(try await add("a=candidate", token: TestGateway.guestToken, "*") == .notFound)
            #expect(try await add("a=candidate", token: nil, "*") == .notFound)
        }
    }

    @Test func theAddressOfASessionOpensNothingElse() async throws {
        let gateway = try TestGateway()
        try await gateway.run { client in
            let (location, tag) = try await start(client)
            let other = location.replacing("/door/", with: "/yard/")
            #expect(try await client.send(.delete, other, token: nil).status == .notFound)
            let id = String(try #require(location.split(separator: "/").last))
            // WHEP does not know the API's session, and WHIP does not know WHEP's.
            let ofTheAPI = try await client.start()
            for path in ["/whep/door/\(ofTheAPI)", "/whip/door/\(id)"] {
                #expect(try await client.send(.delete, path, token: nil).status == .notFound)
            }
            for (method, path) in [
                (HTTPRequest.Method.get, location), (.options, location), (.post, "/whep/door"),
                (.delete, "/whep/door"),
                (.delete, "/v1/sessions/\(id)"), (.get, "/v1/sessions/\(id)"), (.delete, location + "/x"),
            ] {
                #expect(try await client.send(method, path, token: nil).status == .unauthorized, "\(method) \(path)")
            }
            // A token that comes along counts: a wrong one is refused, and another principal's does not own the session.
            #expect(try await client.send(.delete, location, token: "wrong").status == .unauthorized)
            let guest = TestGateway.guestToken
            #expect(try await client.send(.delete, location, token: guest).status == .notFound)
            #expect(
                try await client.send(
                    .patch, location, "a=candidate", type: Self.fragment, token: guest, headers: [.ifMatch: tag]
                ).status == .notFound)
            #expect(await gateway.liveView.list.count == 2)
        }
    }

    @Test func withoutACommonCodecTheAnswerIsNotAcceptable() async throws {
        let gateway = try TestGateway()
        try await gateway.run { client in
            await gateway.liveView.setStartError(
                .refusedOffer(OfferRefusal(.playsNothing(camera: "door", media: [], faults: []), line: nil)))
            let mismatch = try await client.send(.post, "/whep/door", "v=0\r\n", type: "application/sdp")
            #expect(mismatch.status == .notAcceptable && mismatch.failure?.code == .failedPrecondition)
            await gateway.liveView.setStartError(.noMicrophone)
            let conflict = try await client.send(.post, "/whep/door", "v=0\r\n", type: "application/sdp")
            #expect(conflict.status == .conflict)
        }
    }

    @Test func theAddressOfASessionIsMaskedInTheLog() {
        let id = "0123456789abcdef0123456789abcdef"
        #expect(!Redactor(secrets: []).redact("PATCH /whep/door/\(id) 204").contains(id))
    }

    @Test(arguments: [
        ("192.0.2.7", "127.0.0.1:8080", false, ["192.0.2.7"]), ("192.0.2.7", "[::1]:8080", false, ["192.0.2.7"]),
        ("192.0.2.7", "127.1.2.3", false, ["192.0.2.7"]), ("192.0.2.7", "169.254.169.254", false, ["192.0.2.7"]),
        ("192.0.2.7", "[fe80::1]", false, ["192.0.2.7"]), ("192.0.2.7", "[::ffff:127.0.0.1]", false, ["192.0.2.7"]),
        ("192.0.2.7", "0.0.0.0", false, ["192.0.2.7"]), ("192.0.2.7", "224.0.0.1", false, ["192.0.2.7"]),
        ("192.0.2.7", "198.51.100.1:80", false, ["192.0.2.7", "198.51.100.1"]),
        ("192.0.2.7", "door.example", false, ["192.0.2.7"]), ("127.0.0.1", "127.0.0.1:8080", false, ["127.0.0.1"]),
        ("127.0.0.1", "198.51.100.1", true, ["198.51.100.1"]), ("127.0.0.1", "127.0.0.1", true, []),
        ("::ffff:127.0.0.1", "x", true, []),
    ])
    func onlyTheConnectionItselfDecidesThatAViewerIsLocal(
        local: String, authority: String, isForwarded: Bool, expected: [String]
    ) {
        let reached = GatewayAPI.reachedAddresses(
            local: local, authority: authority, isForwarded: isForwarded, viewer: nil)
        #expect(reached == expected)
    }

    @Test func `a session that begins while ended ones are looked for is not taken for one of them`() async {
        let sessions = WHEPSessions()
        let entry = WHEPSessions.Entry(deviceID: "door", principal: "owner", entityTag: "1")
        await sessions.add("ended", entry)
        await sessions.add("alive", entry)
        let begun = await sessions.begun
        await sessions.add("new", entry)
        #expect(await Set(sessions.removeEnded(of: begun, alive: ["alive"]).keys) == ["alive", "new"])
        #expect(await sessions["ended"] == nil)
    }
}
