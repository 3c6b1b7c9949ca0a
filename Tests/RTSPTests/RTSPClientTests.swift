import Testing
import Transport

@testable import RTSP

@Suite struct RTSPClientTests {
    @Test func theWholeConversation() throws {
        let harness = try ClientHarness()
        let options = try #require(try harness.request())
        #expect(options.method == "OPTIONS")
        #expect(options.uri == "rtsp://cam/live")
        #expect(options.headers["User-Agent"] == "Gatehouse")
        #expect(options.headers["Authorization"] == nil)
        #expect(try harness.receive(Array("RTSP/1.0 200 OK\r\nCSeq: 1\r\n\r\n".utf8)).isEmpty)

        let described = try harness.answer(
            .describe, 200, ["Content-Base": "rtsp://cam/live/"], body: "v=0\r\ns=x\r\n")
        #expect(described == [.described(text: "v=0\r\ns=x\r\n", baseURI: "rtsp://cam/live/")])

        harness.client.setUp(["rtsp://cam/live/1", "rtsp://cam/live/2"], at: harness.now)
        let first = try harness.answer(
            .setup, 200, ["Session": "77;timeout=40", "Transport": "RTP/AVP/TCP;interleaved=0-1;ssrc=0000000A"])
        #expect(first == [.trackSetUp(track: 0, rtpChannel: 0, rtcpChannel: 1, ssrc: 10)])
        // The camera answers with other channels than asked for.
        let second = try harness.answer(.setup, 200, ["Transport": "RTP/AVP/TCP;interleaved=6-7"])
        #expect(second == [.trackSetUp(track: 1, rtpChannel: 6, rtcpChannel: 7, ssrc: nil)])

        let play = try #require(try harness.request())
        #expect(play.method == "PLAY")
        #expect(play.uri == "rtsp://cam/live/")
        #expect(play.headers["Session"] == "77")
        #expect(play.headers["Range"] == "npt=0.000-")
        let playing = try harness.receive(
            Array("RTSP/1.0 200 OK\r\nCSeq: 5\r\nRTP-Info: url=x;seq=1\r\n\r\n".utf8) + RTSPStreamTests.packet)
        guard playing.count == 2, case .playing(let info) = playing[0], case .interleaved(0, let range) = playing[1]
        else {
            Issue.record("unexpected events: \(playing)")
            return
        }
        #expect(info?.entries.first?.sequenceNumber == 1)
        let content = Array(harness.client.bytes(in: range))
        #expect(content == Array(RTSPStreamTests.packet.dropFirst(4)))

        harness.client.tearDown(at: harness.now)
        #expect(try harness.answer(.teardown) == [.tornDown])
        #expect(try harness.receive(RTSPStreamTests.packet).isEmpty)
    }

    @Test func packetsBeforeTheAnswerToPlayAreNotLost() throws {
        let harness = try ClientHarness()
        _ = try harness.answer(.options)
        _ = try harness.answer(.describe, 200, body: "v=0\r\n")
        harness.client.setUp(["rtsp://cam/live/1"], at: harness.now)
        _ = try harness.answer(.setup, 200, ["Session": "1"])
        let events = try harness.receive(RTSPStreamTests.packet)
        #expect(events.count == 1)
    }

    @Test func aChallengeIsAnsweredAndLaterRequestsCarryTheAnswer() throws {
        let harness = try ClientHarness()
        let events = try harness.answer(
            .options, 401, ["WWW-Authenticate": "Digest realm=\"r\", nonce=\"n1\", qop=\"auth\""])
        #expect(events == [.authenticating])
        let again = try #require(try harness.request())
        #expect(again.method == "OPTIONS")
        #expect(again.headers["CSeq"] == "2")
        #expect(try #require(again.headers["Authorization"]).contains("nc=00000001"))
        _ = try harness.receive(Array("RTSP/1.0 200 OK\r\nCSeq: 2\r\n\r\n".utf8))
        let describe = try #require(try harness.request())
        #expect(try #require(describe.headers["Authorization"]).contains("nc=00000002"))

        // The nonce expires: the new one is used without a new login, up to twice.
        let renewal =
            "RTSP/1.0 401 No\r\nCSeq: 3\r\nWWW-Authenticate: Digest realm=\"r\", nonce=\"n2\", stale=TRUE\r\n\r\n"
        #expect(try harness.receive(Array(renewal.utf8)).isEmpty)
        #expect(try #require(try harness.request()?.headers["Authorization"]).contains("nonce=\"n2\""))
    }

    @Test func aWrongPasswordIsTriedOnceInASession() throws {
        let harness = try ClientHarness()
        let both: RTSPHeaders = RTSPHeaders([
            .init(name: "WWW-Authenticate", value: "Basic realm=\"b\""),
            .init(name: "WWW-Authenticate", value: "Digest realm=\"d\", nonce=\"n\""),
        ])
        _ = try harness.answer(.options, 401, both)
        let digest = try #require(try harness.request())
        #expect(try #require(digest.headers["Authorization"]).hasPrefix("Digest "))
        var headers = both
        headers["CSeq"] = digest.headers["CSeq"]
        #expect(throws: RTSPError.unauthorized(.credentialsRefused)) {
            _ = try harness.receive(RTSPResponse(status: 401, headers: headers).encoded())
        }
        #expect(try harness.request() == nil)
        let refused = harness.client.refusedLogin
        #expect(refused == .init(scheme: .digest(.md5, isSession: false), offersOther: true))
    }

    @Test(
        arguments: [
            ([.digest(.md5, isSession: false)], false, "Basic "), ([], true, "Basic "), ([.basic], false, "Digest "),
            ([.digest(.md5, isSession: false), .basic], false, "Digest "),
        ] as [([Challenge.Scheme], Bool, String)])
    func theNextSessionTriesAnotherWay(avoided: [Challenge.Scheme], prefersBasic: Bool, scheme: String) throws {
        let harness = try ClientHarness()
        var configuration = RTSPClient.Configuration()
        configuration.avoidedSchemes = avoided
        configuration.prefersBasic = prefersBasic
        harness.client = RTSPClient(
            url: try RTSPURL(parsing: "rtsp://u:p@cam/live"), configuration: configuration, random: .seeded(1))
        harness.client.start(at: harness.now)
        _ = try harness.answer(
            .options, 401, ["WWW-Authenticate": "Digest realm=\"d\", nonce=\"n\", Basic realm=\"b\""])
        let again = try #require(try harness.request())
        #expect(try #require(again.headers["Authorization"]).hasPrefix(scheme))
    }

    /// A camera that calls every nonce too old would otherwise be sent a wrong password forever.
    @Test func aNonceIsRenewedOnceBeforeTheFirstSuccess() throws {
        let harness = try ClientHarness()
        let stale: RTSPHeaders = ["WWW-Authenticate": "Digest realm=\"d\", nonce=\"n\", stale=true"]
        _ = try harness.answer(.options, 401, stale)
        _ = try harness.answer(.options, 401, stale)
        #expect(throws: RTSPError.self) { _ = try harness.answer(.options, 401, stale) }
    }

    @Test func missingCredentialsAreReported() throws {
        let harness = try ClientHarness("rtsp://cam/live")
        #expect(throws: RTSPError.self) {
            _ = try harness.answer(.options, 401, ["WWW-Authenticate": "Basic realm=\"b\""])
        }
    }

    @Test func aRefusedTrackDoesNotStopTheOthers() throws {
        let harness = try ClientHarness()
        _ = try harness.answer(.options)
        _ = try harness.answer(.describe, 200, body: "v=0\r\n")
        harness.client.setUp(["rtsp://cam/1", "rtsp://cam/2"], at: harness.now)
        _ = try harness.answer(.setup, 200, ["Session": "1"])
        let events = try harness.answer(.setup, 461)
        #expect(events == [.trackRefused(track: 1, .refused(method: .setup, status: 461, reason: ""))])
        #expect(try harness.answer(.play) == [.playing(nil)])
    }

    @Test(
        arguments: [
            (461, nil), (200, "RTP/AVP;unicast;server_port=6970-6971"),
            (200, "RTP/AVP;multicast;destination=239.0.0.1"),
        ] as [(Int, String?)])
    func aCameraThatOnlySendsDatagramsIsReported(status: Int, transport: String?) throws {
        let harness = try ClientHarness()
        _ = try harness.answer(.options)
        _ = try harness.answer(.describe, 200, body: "v=0\r\n")
        harness.client.setUp(["rtsp://cam/1"], at: harness.now)
        var headers: RTSPHeaders = [:]
        headers["Transport"] = transport
        #expect(throws: RTSPError.transportRefused(.connection, status: status)) {
            _ = try harness.answer(.setup, status, headers)
        }
    }

    @Test func datagramsAreAskedForByPort() throws {
        let harness = try ClientHarness()
        _ = try harness.answer(.options)
        _ = try harness.answer(.describe, 200, body: "v=0\r\n")
        harness.client.setUp(["rtsp://cam/1", "rtsp://cam/2"], clientPorts: [5000, 5002], at: harness.now)
        let first = try #require(try harness.request())
        #expect(first.headers["Transport"] == "RTP/AVP;unicast;client_port=5000-5001")
        let answer = "RTP/AVP;unicast;client_port=5000-5001;server_port=7000-7001;ssrc=0A"
        let events = try harness.receive(
            Array("RTSP/1.0 200 OK\r\nCSeq: 3\r\nSession: 1\r\nTransport: \(answer)\r\n\r\n".utf8))
        #expect(events == [.trackSetUpForDatagrams(track: 0, TransportHeader(parsing: answer))])
        // A camera that answers with channels instead is taken at its word.
        let second = try harness.answer(.setup, 200, ["Transport": "RTP/AVP/TCP;interleaved=2-3"])
        #expect(second == [.trackSetUp(track: 1, rtpChannel: 2, rtcpChannel: 3, ssrc: nil)])
    }

    @Test func playIsAskedAgainWithoutARange() throws {
        let harness = try ClientHarness()
        _ = try harness.answer(.options)
        _ = try harness.answer(.describe, 200, body: "v=0\r\n")
        harness.client.setUp(["rtsp://cam/1"], at: harness.now)
        _ = try harness.answer(.setup, 200, ["Session": "1"])
        _ = try harness.answer(.play, 457)
        let again = try #require(try harness.request())
        #expect(again.method == "PLAY")
        #expect(again.headers["Range"] == nil)
    }

    @Test func keepAliveBeginsWithWhatTheCameraKnows() throws {
        let harness = try ClientHarness()
        try harness.play(timeout: 20)
        try harness.advance()
        #expect(harness.now == Instant.zero + .seconds(10))
        #expect(try harness.answer(.getParameter).isEmpty)
        try harness.advance()
        #expect(harness.now == Instant.zero + .seconds(20))
        #expect(harness.client.keepAliveAccepted == .getParameter)
        // It is refused: the next kinds are tried, and the one that is accepted stays.
        #expect(try harness.answer(.getParameter, 501).isEmpty)
        try harness.advance()
        #expect(try harness.answer(.setParameter, 451).isEmpty)
        try harness.advance()
        #expect(try harness.answer(.options).isEmpty)
        #expect(harness.client.keepAliveAccepted == .options)
        try harness.advance()
        #expect(try harness.answer(.options, 501).isEmpty)
        // At the end of the ladder the receiver reports are all there is.
        #expect(harness.client.keepAliveInUse == .receiverReports)
        #expect(harness.client.nextDeadline == nil)
    }

    @Test(
        arguments: [
            ("OPTIONS, GET_PARAMETER, SET_PARAMETER", [], .getParameter),
            ("OPTIONS, SET_PARAMETER", [], .setParameter),
            ("OPTIONS, DESCRIBE", [], .options),
            ("", [], .options),
            ("OPTIONS, GET_PARAMETER", [.getParameter], .options),
            // A camera that ends the session in spite of OPTIONS may count what it does not advertise.
            ("OPTIONS", [.options], .getParameter),
            ("OPTIONS", [.options, .getParameter, .setParameter], .receiverReports),
            ("OPTIONS", [.options, .getParameter, .setParameter, .receiverReports], .receiverReports),
        ] as [(String, Set<RTSPKeepAlive>, RTSPKeepAlive)])
    func theFirstKeepAlive(methods: String, avoided: Set<RTSPKeepAlive>, chosen: RTSPKeepAlive) {
        #expect(RTSPKeepAlive.first(for: RTSPMethod.list(methods), avoiding: avoided) == chosen)
    }

    @Test func aTimeoutStaysWhenLaterAnswersLeaveItOut() throws {
        let harness = try ClientHarness()
        _ = try harness.answer(.options)
        _ = try harness.answer(.describe, 200, body: "v=0\r\n")
        harness.client.setUp(["rtsp://cam/1"], at: harness.now)
        _ = try harness.answer(.setup, 200, ["Session": "1;timeout=10"])
        _ = try harness.answer(.play, 200, ["Session": "1"])
        #expect(harness.client.sessionTimeout == 10)
    }

    @Test func aPinnedKeepAliveIsKept() throws {
        let harness = try ClientHarness()
        var configuration = RTSPClient.Configuration()
        configuration.keepAlive = .setParameter
        configuration.isKeepAlivePinned = true
        harness.client = RTSPClient(
            url: try RTSPURL(parsing: "rtsp://cam/live"), configuration: configuration, random: .seeded(1))
        harness.client.start(at: harness.now)
        try harness.play()
        for _ in 0..<3 {
            try harness.advance()
            #expect(try harness.answer(.setParameter, 501).isEmpty)
        }
    }

    @Test func aKeepAliveWithoutAnswerEndsNothing() throws {
        let harness = try ClientHarness()
        try harness.play(methods: "OPTIONS")
        try harness.advance()
        #expect(try harness.request()?.method == "OPTIONS")
        try harness.advance()
        let keepAlive = harness.client.keepAliveInUse
        #expect(keepAlive == .getParameter)
        #expect(try harness.receive(RTSPStreamTests.packet).count == 1)
    }

    @Test func aKeepAliveThatWaitsForItsAnswerLeavesNothingToDoBeforeThat() throws {
        let harness = try ClientHarness()
        // The next keep-alive is due after 5 s, an answer may take 10.
        try harness.play(timeout: 10)
        try harness.advance()
        #expect(harness.now == Instant.zero + .seconds(5))
        #expect(harness.client.nextDeadline == Instant.zero + .seconds(15))
        try harness.advance()
        let next = harness.client.nextDeadline
        #expect(try #require(next) > harness.now)
    }

    @Test func aLostSessionEndsTheClient() throws {
        let harness = try ClientHarness()
        try harness.play()
        try harness.advance()
        #expect(throws: RTSPError.refused(method: .getParameter, status: 454, reason: "")) {
            _ = try harness.answer(.getParameter, 454)
        }
    }

    @Test func silenceIsNotAnAnswer() throws {
        let harness = try ClientHarness()
        #expect(throws: RTSPError.noAnswer(method: .options, seconds: 10)) { try harness.advance() }
        #expect(harness.now == Instant.zero + .seconds(10))
    }

    @Test(arguments: [
        ("rtsp://cam/new", "rtsp://u:p@cam/new"), ("rtsp://cam:554/new", "rtsp://u:p@cam:554/new"),
        ("rtsp://cam:8554/new", "rtsp://cam:8554/new"), ("rtsps://cam/new", "rtsps://cam/new"),
        ("rtsp://evil/new", "rtsp://evil/new"), ("rtsp://their:own@evil/new", "rtsp://their:own@evil/new"),
    ])
    func redirectionsKeepCredentialsOnTheSameServerOnly(location: String, expected: String) throws {
        let harness = try ClientHarness()
        _ = try harness.answer(.options)
        let events = try harness.answer(.describe, 302, ["Location": location])
        #expect(events == [.redirected(try RTSPURL(parsing: expected))])
    }

    @Test func aRedirectionDoesNotLeaveTLS() throws {
        let harness = try ClientHarness("rtsps://u:p@cam/live")
        _ = try harness.answer(.options)
        #expect(throws: RTSPError.self) {
            try harness.answer(.describe, 302, ["Location": "rtsp://cam/new"])
        }
        // Nor does a request of the camera's own.
        let playing = try ClientHarness("rtsps://u:p@cam/live")
        try playing.play()
        #expect(throws: RTSPError.self) {
            try playing.receive(
                Array("REDIRECT * RTSP/1.0\r\nCSeq: 9\r\nLocation: rtsp://cam:322/live\r\n\r\n".utf8))
        }
    }

    private static let digest: RTSPHeaders = ["WWW-Authenticate": "Digest realm=\"d\", nonce=\"n\""]
    private static let basic: RTSPHeaders = ["WWW-Authenticate": "Basic realm=\"b\""]

    @Test func aCameraThatAcceptedDigestIsNotSentThePassword() throws {
        let known = try ClientHarness(refusesBasic: true)
        _ = try known.answer(.options)
        #expect(throws: RTSPError.unauthorized(.passwordWithheld)) {
            try known.answer(.describe, 401, Self.basic)
        }
        #expect(try known.request() == nil)
        #expect(known.client.refusedLogin == nil, "no wrong password was shown")
    }

    @Test func aRefusedAnswerCountsWhateverTheCameraAsksForThen() throws {
        let known = try ClientHarness(refusesBasic: true)
        _ = try known.answer(.options)
        _ = try known.answer(.describe, 401, Self.digest)
        #expect(throws: RTSPError.unauthorized(.credentialsRefused)) {
            try known.answer(.describe, 401, Self.basic)
        }
        #expect(try known.request() == nil)
        let refused = known.client.refusedLogin
        #expect(refused == RTSPClient.RefusedLogin(scheme: .digest(.md5, isSession: false), offersOther: false))
    }

    @Test func nothingTurnsDigestIntoBasicWithinASession() throws {
        for forgetsNonce in [false, true] {
            let harness = try ClientHarness()
            _ = try harness.answer(.options)
            _ = try harness.answer(.describe, 401, Self.digest)
            _ = try harness.answer(.describe, 200, body: "v=0\r\n")
            harness.client.setUp(["rtsp://cam/live/1"], at: harness.now)
            // The request goes out again without credentials, and is answered with Basic.
            if forgetsNonce { _ = try harness.answer(.setup, 401) }
            #expect(throws: RTSPError.unauthorized(.passwordWithheld)) {
                try harness.answer(.setup, 401, Self.basic)
            }
            #expect(try harness.request() == nil)
        }
    }

    /// Under FIPS rules libcrypto has no MD5.
    @Test func `a camera that wants a hash which this machine lacks is asked once, and the reason is reported`() throws
    {
        for offer in ["Digest realm=\"d\", nonce=\"n\"", "Digest realm=\"d\", nonce=\"n\", Basic realm=\"b\""] {
            let harness = try ClientHarness(hashes: [.sha256])
            #expect(throws: RTSPError.unauthorized(.hashUnavailable)) {
                try harness.answer(.options, 401, ["WWW-Authenticate": offer])
            }
            #expect(try harness.request() == nil)
            #expect(harness.client.refusedLogin == nil, "no wrong password was shown")
        }
    }

    @Test func `the hash that this machine has is used where a camera offers two`() throws {
        let harness = try ClientHarness(hashes: [.sha256])
        let offer = "Digest realm=\"d\", nonce=\"n\", Digest realm=\"d\", nonce=\"n\", algorithm=SHA-256"
        _ = try harness.answer(.options, 401, ["WWW-Authenticate": offer])
        let again = try #require(try harness.request())
        #expect(again.headers["Authorization"]?.contains("algorithm=SHA-256") == true)
    }

    /// Both hashes are guessed at the same way, and firmwares change what they offer.
    @Test func anotherHashOfDigestIsAnswered() throws {
        let harness = try ClientHarness(refusesBasic: true)
        _ = try harness.answer(.options)
        _ = try harness.answer(
            .describe, 401, ["WWW-Authenticate": "Digest realm=\"d\", nonce=\"n\", algorithm=SHA-256"])
        _ = try harness.answer(.describe, 200, body: "v=0\r\n")
        harness.client.setUp(["rtsp://cam/live/1"], at: harness.now)
        _ = try harness.answer(.setup, 401, Self.digest)
        let again = try #require(try harness.request())
        #expect(again.headers["Authorization"]?.hasPrefix("Digest ") == true)
    }

    @Test func requestsOfTheCameraAreAnswered() throws {
        let harness = try ClientHarness()
        try harness.play()
        #expect(try harness.receive(Array("OPTIONS * RTSP/1.0\r\nCSeq: 9\r\n\r\n".utf8)).isEmpty)
        var sent = ""
        harness.client.write { bytes in
            sent = String(decoding: bytes, as: UTF8.self)
            return bytes.count
        }
        #expect(sent == "RTSP/1.0 200 OK\r\nCSeq: 9\r\n\r\n")
    }

    @Test func answersWithoutANumberAndWithAnOldOneAreDistinguished() throws {
        let harness = try ClientHarness()
        _ = try harness.request()
        #expect(try harness.receive(Array("RTSP/1.0 200 OK\r\nCSeq: 99\r\n\r\n".utf8)).isEmpty)
        #expect(try harness.request() == nil)
        #expect(try harness.receive(Array("RTSP/1.0 200 OK\r\n\r\n".utf8)).isEmpty)
        #expect(try harness.request()?.method == "DESCRIBE")
    }

    @Test func outputHasABound() throws {
        let harness = try ClientHarness()
        let packet = [UInt8](repeating: 1, count: 60_000)
        let accepted = (0..<20).filter { _ in
            packet.withUnsafeBytes { harness.client.sendInterleaved(channel: 1, $0) }
        }
        #expect(accepted.count < 8)
    }
}
