import RTSP
import Transport

extension FuzzTarget {
    static let rtspStream = FuzzTarget(
        "rtsp-stream", "what a camera sends on its connection: the same messages however the bytes are split",
        dictionary: rtspWords,
        seeds: {
            [[1] + cameraExchange, [9] + packet + cameraExchange + packet, [0x40, 0x24, 0xFF] + packet + packet]
        }
    ) { bytes throws(FuzzFailure) in
        var input = FuzzInput(bytes)
        let size = Int(input.byte() & 0x3F) + 1
        let rest = input.rest()
        let whole = read(rest, pieces: rest.count)
        let cut = read(rest, pieces: size)
        // After bytes that belong to nothing, what has arrived behind them decides where reading continues.
        guard whole.discarded == 0, cut.discarded == 0 else { return }
        try require(whole.elements == cut.elements, "pieces of \(size) bytes read otherwise: \(cut.elements)")
    }

    private static func read(
        _ bytes: UnsafeRawBufferPointer, pieces size: Int
    ) -> (elements: [String], discarded: Int) {
        var stream = RTSPStream()
        var elements: [String] = []
        for piece in bytes.pieces(of: size) {
            stream.receive { buffer in
                buffer.copyMemory(from: piece)
                return piece.count
            }
            do throws(RTSPError) {
                while let element = try stream.next() {
                    switch element {
                    case .interleaved(let channel, let range):
                        elements.append("\(channel) \(Array(stream.bytes(in: range)))")
                    case .request(let request): elements.append("\(request)")
                    case .response(let response): elements.append("\(response)")
                    }
                }
            } catch {
                elements.append("\(error)")
                break
            }
        }
        return (elements, stream.discardedBytes)
    }

    static let rtspClient = FuzzTarget(
        "rtsp-client", "a camera's side of a whole session, in pieces, with pauses", dictionary: rtspWords,
        seeds: {
            [
                [0, 20] + cameraExchange + packet, [1, 63] + cameraExchange,
                [2, 7] + [UInt8](text: answers[0] + answers[0]),
                [3, 5] + [UInt8](text: "RTSP/1.0 302 Moved\r\nCSeq: 1\r\nLocation: rtsp://other/live\r\n\r\n"),
            ]
        }
    ) { bytes throws(FuzzFailure) in
        var input = FuzzInput(bytes)
        let kind = input.byte()
        let size = Int(input.byte()) + 1
        let rest = input.rest()
        let cut = converse(rest, kind: kind, pieces: size)
        try require(cut.events <= bytes.count + 16, "\(cut.events) events of \(bytes.count) bytes")
        try require(cut.output.count <= 64 * 1024, "\(cut.output.count) bytes of requests")
        // The password is sent only in the forms of Digest and Basic.
        try require(!reveals(cut.output), "the password is readable")
        guard kind & 4 == 0 else { return }
        let whole = converse(rest, kind: kind, pieces: max(1, rest.count))
        guard whole.discarded == 0, cut.discarded == 0 else { return }
        try require(whole.output == cut.output, "pieces of \(size) bytes are answered otherwise")
    }

    private static func converse(
        _ bytes: UnsafeRawBufferPointer, kind: UInt8, pieces size: Int
    ) -> (events: Int, output: [UInt8], discarded: Int) {
        guard let url = try? RTSPURL(parsing: "rtsp://user:secret-word@cam/live") else { return (0, [], 0) }
        var configuration = RTSPClient.Configuration()
        if kind & 1 == 1 { configuration.require = RTSPFeature.backChannel }
        var client = RTSPClient(url: url, configuration: configuration, random: .seeded(1))
        var now = Instant.zero
        client.start(at: now)
        var hasFailed = false
        var events = 0
        var output: [UInt8] = []
        for piece in bytes.pieces(of: size) {
            client.receive { buffer in
                buffer.copyMemory(from: piece)
                return piece.count
            }
            do throws(RTSPError) {
                while let event = try client.pollEvent(at: now) {
                    events += 1
                    if case .described(let text, let base) = event {
                        var tracks = [base + "track1", base + "track2"]
                        if text.isEmpty { tracks.removeLast() }
                        client.setUp(tracks, clientPorts: kind & 2 == 2 ? [5000, 5002] : [], at: now)
                    }
                    if events > bytes.count + 16 { return (events, output, client.discardedBytes) }
                }
                // Time passes only if the cuts need not agree.
                if kind & 4 == 4 {
                    now += .seconds(Int(kind >> 3))
                    if let due = client.nextDeadline, due <= now { try client.handleDeadline(at: now) }
                }
            } catch {
                hasFailed = true
            }
            // What was to be sent before the failure is sent, as it would be with smaller pieces.
            client.write { waiting in
                output += Array(waiting)
                return waiting.count
            }
            if hasFailed { break }
        }
        return (events, output, client.discardedBytes)
    }

    static let rtspTunnel = FuzzTarget(
        "rtsp-tunnel", "the answer that opens RTSP inside HTTP", maximumLength: 2048, dictionary: rtspWords,
        seeds: {
            [
                "HTTP/1.0 200 OK\r\nServer: x\r\n\r\nRTSP", "HTTP/1.1 404 Not Found\r\n\r\n",
                "HTTP/1.1 401 No\r\nWWW-Authenticate: Digest realm=\"r\", nonce=\"n\"\r\n\r\n",
            ].map { [UInt8](text: $0) }
        }
    ) { bytes throws(FuzzFailure) in
        guard let url = try? RTSPURL(parsing: "rtsp://user:secret-word@cam/live") else { return }
        var random = RandomSource.seeded(1)
        var tunnel = RTSPTunnel(url: url, random: &random)
        let answer = Array(bytes)
        for _ in 0..<2 {
            guard let outcome = try? tunnel.handle(answer, random: &random) else { return }
            if case .open(let length) = outcome {
                try require(length <= answer.count, "the head is longer than the answer")
            }
            try require(!reveals(tunnel.get() + tunnel.post()), "the password is readable")
        }
    }

    static let rtspHeaders = FuzzTarget(
        "rtsp-headers", "addresses, challenges and the other structured headers of RTSP", maximumLength: 1024,
        dictionary: rtspWords,
        seeds: {
            [
                "rtsp://user:pass%40word@[2001:db8::7]:8554/live?x=1#y", "rtsps://cam/a b",
                "Digest realm=\"r\", nonce=\"n\", qop=\"auth,auth-int\", algorithm=SHA-256, opaque=\"o\", stale=TRUE",
                "Basic realm=\"a\\\"b\", Digest realm=r, nonce=n", "77;timeout=60",
                "RTP/AVP/TCP;unicast;interleaved=0-1;ssrc=12345678;mode=\"PLAY\"",
                "RTP/AVP;unicast;client_port=5000-5001;server_port=6000-6001;source=192.0.2.7",
                "url=rtsp://cam/live/track1;seq=1;rtptime=2,url=rtsp://cam/live/track2;seq=3;rtptime=4",
                "OPTIONS, DESCRIBE, SETUP, PLAY",
            ].map { [UInt8](text: $0) }
        }
    ) { bytes throws(FuzzFailure) in
        let text = String(fuzzed: bytes)
        if let url = try? RTSPURL(parsing: text) {
            guard let again = try? RTSPURL(parsing: url.requestURI) else {
                throw FuzzFailure("the address \(url.requestURI) cannot be read")
            }
            try require(again.requestURI == url.requestURI, "an address changes each time that it is written")
            try require(again.credentials == nil, "credentials in a request")
            try require(!url.requestURI.utf8.contains { $0 <= 0x20 || $0 == 0x7F }, "control characters in a request")
            let control = url.controlURI(text, base: url.requestURI)
            try require(!control.utf8.contains { $0 == 0x0D || $0 == 0x0A }, "a line feed in a request")
        }
        var random = RandomSource.seeded(1)
        for challenge in Challenge.list([text]) {
            let credentials = RTSPCredentials(user: "user", password: "secret-word")
            var authorization = Authorization(challenge: challenge, credentials: credentials, random: &random)
            guard let header = authorization.header(method: "DESCRIBE", uri: "rtsp://cam/live") else { continue }
            try require(!header.utf8.contains { $0 == 0x0D || $0 == 0x0A }, "a line feed in a request")
            try require(!reveals(Array(header.utf8)), "the password is readable")
        }
        observe((SessionHeader(parsing: text), RTPInfoHeader(parsing: text), RTSPMethod.list(text)))
        let transport = TransportHeader(parsing: text)
        try require(!transport.encoded.utf8.contains { $0 == 0x0D || $0 == 0x0A }, "a line feed in a request")
        let resource = RTSPResource(parsing: text)
        observe(resource.path)
    }

    static let rtspServer = FuzzTarget(
        "rtsp-server",
        "a client's side of a session with the gateway: the same answers however the bytes are split",
        dictionary: rtspWords,
        seeds: {
            let tcp = "Transport: RTP/AVP/TCP;unicast;interleaved=0-1\r\n"
            let udp = "Transport: RTP/AVP;unicast;client_port=5000-5001\r\n"
            func request(_ line: String, _ number: Int, _ fields: String = "") -> String {
                "\(line) RTSP/1.0\r\nCSeq: \(number)\r\nUser-Agent: x\r\n\(authorization)\(fields)\r\n"
            }
            let readers: [[UInt8]] = [tcp, udp].map { transport in
                [0, 30]
                    + [UInt8](
                        text: request("OPTIONS rtsp://h/drive", 1) + request("DESCRIBE rtsp://h/drive", 2)
                            + request("SETUP rtsp://h/drive/trackID=0", 3, transport)
                            + request("PLAY rtsp://h/drive", 4, "Session: \(session)\r\nRange: npt=0-\r\n"))
                    + packet + [UInt8](text: request("TEARDOWN rtsp://h/drive", 5, "Session: \(session)\r\n"))
            }
            let description = "v=0\r\nm=video 0 RTP/AVP 96\r\na=control:streamid=0\r\n"
            let type = "Content-Type: application/sdp\r\nContent-Length: \(description.utf8.count)\r\n"
            let publishers: [[UInt8]] = [tcp, udp].map { transport in
                [4, 30]
                    + [UInt8](
                        text: request("ANNOUNCE rtsp://h/drive", 1, type) + description
                            + request("SETUP rtsp://h/drive/streamid=0", 2, transport)
                            + request("RECORD rtsp://h/drive", 3, "Session: \(session)\r\n"))
                    + packet + [UInt8](text: request("TEARDOWN rtsp://h/drive", 4, "Session: \(session)\r\n"))
            }
            let stranger: [UInt8] =
                [1, 3]
                + [UInt8](text: "DESCRIBE rtsp://h/drive RTSP/1.0\r\nCSeq: 1\r\nContent-Length: 2\r\n\r\nab")
            return readers + publishers + [stranger]
        }
    ) { bytes throws(FuzzFailure) in
        var input = FuzzInput(bytes)
        let kind = input.byte()
        let size = Int(input.byte()) + 1
        let rest = input.rest()
        let cut = serve(rest, kind: kind, pieces: size)
        try require(cut.events <= bytes.count + 16, "\(cut.events) events of \(bytes.count) bytes")
        try require(cut.output.isEmpty || cut.output.starts(with: "RTSP/1.0 ".utf8), "not an RTSP response")
        let whole = serve(rest, kind: kind, pieces: max(1, rest.count))
        try require(whole.output == cut.output, "pieces of \(size) bytes are answered otherwise")
    }

    /// Basic, so that requests of the corpus are accepted whatever the nonce.
    private static let authorization = "Authorization: Basic \(Base64.encode(Array("x:token".utf8)))\r\n"

    /// The identifier of the seeded session, so that the corpus reaches the code that needs one.
    private static let session: String = {
        let request =
            "SETUP rtsp://h/drive/trackID=0 RTSP/1.0\r\nCSeq: 1\r\n\(authorization)"
            + "Transport: RTP/AVP/TCP;unicast;interleaved=0-1\r\n\r\n"
        let output = Array(request.utf8).withUnsafeBytes { serve($0, kind: 0, pieces: $0.count).output }
        let lines = String(decoding: output, as: UTF8.self).split(whereSeparator: \.isNewline)
        let line = lines.first { $0.hasPrefix("Session: ") } ?? ""
        return String(line.dropFirst("Session: ".count).prefix { $0 != ";" })
    }()

    private static func serve(
        _ bytes: UnsafeRawBufferPointer, kind: UInt8, pieces size: Int
    ) -> (events: Int, output: [UInt8]) {
        var configuration = RTSPServerSession.Configuration(
            authentication: RTSPAuthentication(passwords: ["token"], allowsBasic: kind & 1 == 0))
        if kind & 2 == 0 { configuration.serverPorts = (8554, 8555) }
        configuration.takesPublishers = kind & 4 != 0
        var session = RTSPServerSession(configuration: configuration, random: .seeded(7), now: .zero)
        var events = 0
        var output: [UInt8] = []
        for piece in bytes.pieces(of: size) {
            guard session.wantsInput else { break }
            session.receive { buffer in
                let count = min(buffer.count, piece.count)
                buffer.copyMemory(from: UnsafeRawBufferPointer(rebasing: piece[..<count]))
                return count
            }
            // Answers that are not read hold up the requests behind them.
            var waiting: [UInt8]
            repeat {
                while let event = session.pollEvent(at: .zero) {
                    events += 1
                    if events > bytes.count + 16 { return (events, output) }
                    answer(event, of: &session)
                }
                waiting = session.takeOutput(at: .zero)
                output += waiting
            } while !waiting.isEmpty
        }
        return (events, output)
    }

    private static func answer(_ event: RTSPServerEvent, of session: inout RTSPServerSession) {
        switch event {
        case .describe(let resource):
            session.answerDescribe(resource.path == "drive" ? .found("v=0\r\n") : .notFound, at: .zero)
        case .setUp(let path, let track):
            session.answerSetUp(path == "drive" && track < 2 ? .accepted(ssrc: 7) : .notFound, at: .zero)
        case .announce(let resource, let description):
            observe(description)
            session.answerAnnounce(
                resource.path == "drive"
                    ? .accepted(controls: ["streamid=0", nil]) : .refused(.notFound, words: "no camera is there"),
                at: .zero)
        case .record: session.answerRecord(.started, at: .zero)
        case .play:
            session.answerPlay(
                session.tracks.map { .init(track: $0.index, sequenceNumber: 7, rtpTimestamp: 90_000) },
                at: .zero)
        case .received(_, _, let range): observe(Array(session.bytes(in: range)))
        case .forbidden: session.answerForbidden(words: "it needs another scope", at: .zero)
        case .paused, .tornDown, .refusedCredentials: break
        }
    }

    /// Whether a request contains the password in plain text.
    private static func reveals(_ request: [UInt8]) -> Bool {
        let secret = Array("secret-word".utf8)
        return request.indices.contains { request[$0...].starts(with: secret) }
    }

    // MARK: Seeds

    private static let packet: [UInt8] = [0x24, 0, 0, 12, 0x80, 96, 0, 1, 0, 0, 0, 2, 0, 0, 0, 3]

    private static let answers: [String] = {
        let description = "v=0\r\ns=x\r\nm=video 0 RTP/AVP 96\r\na=rtpmap:96 H264/90000\r\na=control:track1\r\n"
        return [
            "RTSP/1.0 401 Unauthorized\r\nCSeq: 1\r\nWWW-Authenticate: Digest realm=\"r\", nonce=\"n\", qop=\"auth\"\r\n\r\n",
            "RTSP/1.0 200 OK\r\nCSeq: 2\r\nPublic: OPTIONS, DESCRIBE, SETUP, PLAY, GET_PARAMETER\r\n\r\n",
            "RTSP/1.0 200 OK\r\nCSeq: 3\r\nContent-Base: rtsp://cam/live/\r\nContent-Length: \(description.utf8.count)"
                + "\r\n\r\n\(description)",
            "RTSP/1.0 200 OK\r\nCSeq: 4\r\nSession: 77;timeout=60\r\nTransport: RTP/AVP/TCP;interleaved=0-1\r\n\r\n",
            "RTSP/1.0 200 OK\r\nCSeq: 5\r\nSession: 77\r\nTransport: RTP/AVP/TCP;interleaved=2-3\r\n\r\n",
            "RTSP/1.0 200 OK\r\nCSeq: 6\r\nSession: 77\r\nRTP-Info: url=rtsp://cam/live/track1;seq=1;rtptime=2\r\n\r\n",
            "OPTIONS rtsp://cam/live RTSP/1.0\r\nCSeq: 7\r\n\r\n",
        ]
    }()

    private static let cameraExchange: [UInt8] = answers.flatMap { Array($0.utf8) } + packet + packet

    private static let rtspWords = [
        "RTSP/1.0 200 OK\r\n", "RTSP/1.0 401 Unauthorized\r\n", "RTSP/1.0 551 x\r\n", "HTTP/1.0 ", "CSeq: ",
        "Session: ", ";timeout=", "Transport: ", "RTP/AVP/TCP", "RTP/AVP", ";unicast", ";interleaved=", ";client_port=",
        ";server_port=", ";ssrc=", "Content-Length: ", "Content-Base: ", "Public: ", "RTP-Info: ", "url=", ";seq=",
        ";rtptime=", "WWW-Authenticate: ", "Authorization: ", "Digest ", "Basic ", "realm=", "nonce=", "qop=",
        "opaque=",
        "algorithm=", "SHA-256", "stale=TRUE", "Location: rtsp://", "Require: ", "OPTIONS ", "DESCRIBE ", "SETUP ",
        "PLAY ", "PAUSE ", "TEARDOWN ", "GET_PARAMETER ", "SET_PARAMETER ", "ANNOUNCE ", "REDIRECT ", "\r\n\r\n", "$",
        "RECORD ", ";mode=record", "streamid=0", "Content-Type: application/sdp",
    ]
}

extension UnsafeRawBufferPointer {
    /// The bytes in pieces of this size; the last one may be shorter.
    func pieces(of size: Int) -> [UnsafeRawBufferPointer] {
        stride(from: 0, to: count, by: Swift.max(1, size)).map { start in
            UnsafeRawBufferPointer(rebasing: self[start..<Swift.min(count, start + Swift.max(1, size))])
        }
    }
}
