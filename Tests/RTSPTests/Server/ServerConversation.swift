import Transport

@testable import RTSP

/// A server's session with a driver that knows one camera, `drive`, with two tracks.
final class ServerConversation {
    static let password = "gatehouse_0123456789abcdef0123456789abcdef"
    static let description = "v=0\r\no=- 1 1 IN IP4 127.0.0.1\r\ns=drive\r\nt=0 0\r\n"

    var session: RTSPServerSession
    var now = Instant.zero
    var events: [RTSPServerEvent] = []
    /// Whether the camera has announced its tracks.
    var isAvailable = true
    var readers = 0
    /// Whether DESCRIBE and PLAY are answered at once.
    var answersAtOnce = true
    /// The control attributes of what is announced.
    var controls: [String?] = ["streamid=0", "streamid=1"]
    private var authorization: Authorization?
    private var sequence = 0

    init(_ change: (inout RTSPServerSession.Configuration) -> Void = { _ in }) {
        var configuration = RTSPServerSession.Configuration(
            authentication: RTSPAuthentication(passwords: ["another-token", Self.password]))
        configuration.serverPorts = (8554, 8555)
        change(&configuration)
        session = RTSPServerSession(configuration: configuration, random: .seeded(7), now: .zero)
    }

    // What expectations look at: the session itself cannot be copied into them.
    var identifier: String? { session.identifier }
    var isClosing: Bool { session.isClosing }
    var isAuthenticated: Bool { session.isAuthenticated }
    var tracks: [RTSPServerSession.Track] { session.tracks }
    var state: RTSPServerSession.State { session.state }
    var requiresReplay: Bool { session.requiresReplay }
    var userAgent: String { session.userAgent }
    var refusals: Int { session.refusals }
    var nextDeadline: Instant { session.nextDeadline }
    func isExpired(at instant: Instant) -> Bool { session.isExpired(at: instant) }

    func takeOutput() -> String { String(decoding: session.takeOutput(at: now), as: UTF8.self) }

    /// Hands bytes in and answers what comes back.
    func feed(_ bytes: [UInt8]) -> [UInt8] {
        var output: [UInt8] = []
        var rest = bytes[...]
        while !rest.isEmpty {
            let taken = session.receive { buffer in
                let count = min(buffer.count, rest.count)
                buffer.copyBytes(from: rest.prefix(count))
                return count
            }
            rest = rest.dropFirst(taken)
            run()
            output += session.takeOutput(at: now)
            run()
            output += session.takeOutput(at: now)
            if taken == 0 { break }
        }
        return output
    }

    func run() {
        while let event = session.pollEvent(at: now) {
            events.append(event)
            answer(event)
        }
    }

    private func answer(_ event: RTSPServerEvent) {
        switch event {
        case .describe(let resource):
            guard answersAtOnce else { return }
            session.answerDescribe(
                resource.path != "drive" ? .notFound : isAvailable ? .found(Self.description) : .unavailable, at: now)
        case .setUp(let path, let track):
            session.answerSetUp(
                path != "drive" || track > 1
                    ? .notFound
                    : readers > 3 ? .tooManyReaders : .accepted(ssrc: 0x1234_5678 &+ UInt32(track)), at: now)
        case .play:
            guard answersAtOnce else { return }
            session.answerPlay(
                session.tracks.map { .init(track: $0.index, sequenceNumber: 7, rtpTimestamp: 90_000) }, at: now)
        case .announce(let resource, _):
            guard answersAtOnce else { return }
            session.answerAnnounce(
                resource.path == "drive"
                    ? .accepted(controls: controls) : .refused(.notFound, words: "no camera is\r\nthere"), at: now)
        case .record:
            guard answersAtOnce else { return }
            session.answerRecord(.started, at: now)
        case .forbidden(_, let fault): session.answerForbidden(words: Self.words(fault), at: now)
        default: break
        }
    }

    /// What a client reads whose token does not permit publishing.
    static func words(_ fault: PublisherTokenFault) -> String { "forbidden: \(fault)" }

    /// Announces two tracks, and sets them up over the connection.
    func announceBoth() {
        _ = request("ANNOUNCE", "rtsp://host:8554/drive", ["Content-Type: application/sdp"], body: Self.description)
        for (index, channels) in ["0-1", "2-3"].enumerated() {
            _ = request(
                "SETUP", "rtsp://host:8554/drive/streamid=\(index)",
                ["Transport: RTP/AVP/TCP;unicast;interleaved=\(channels);mode=record"])
        }
    }

    /// Sends a text whose lines end in LF only here.
    func send(_ text: String) -> String {
        String(decoding: feed(Self.wire(text)), as: UTF8.self)
    }

    private static func wire(_ text: String) -> [UInt8] {
        Array(text.split(separator: "\n", omittingEmptySubsequences: false).joined(separator: "\r\n").utf8)
    }

    /// Sends a request with the credentials of the last challenge, and answers what comes back.
    func request(
        _ method: String, _ uri: String = "rtsp://host:8554/drive", _ lines: [String] = [], body: String = ""
    ) -> RTSPResponse? {
        sequence += 1
        var text = "\(method) \(uri) RTSP/1.0\nCSeq: \(sequence)\n"
        if let header = authorization?.header(method: method, uri: uri) { text += "Authorization: \(header)\n" }
        if let identifier = session.identifier, !lines.contains(where: { $0.hasPrefix("Session") }) {
            text += "Session: \(identifier)\n"
        }
        for line in lines { text += line + "\n" }
        if !body.isEmpty { text += "Content-Length: \(body.utf8.count)\n" }
        let output = feed(Self.wire(text + "\n") + Array(body.utf8))
        return Self.responses(String(decoding: output, as: UTF8.self)).last
    }

    /// Asks for a description, reads the challenge, and asks again with the password.
    func signIn(password: String = ServerConversation.password, choosing isWanted: (Challenge) -> Bool = { _ in true })
        -> RTSPResponse?
    {
        guard let response = request("DESCRIBE") else { return nil }
        take(response, password: password, choosing: isWanted)
        return request("DESCRIBE")
    }

    func take(
        _ response: RTSPResponse, password: String = ServerConversation.password,
        choosing isWanted: (Challenge) -> Bool = { _ in true }
    ) {
        var random = RandomSource.seeded(3)
        guard let challenge = Challenge.list(response.headers.all("WWW-Authenticate")).first(where: isWanted) else {
            return
        }
        authorization = Authorization(
            challenge: challenge, credentials: RTSPCredentials(user: "anybody", password: password), random: &random)
    }

    /// Signs in and sets both tracks up over the connection.
    func setUpBoth() {
        _ = signIn()
        _ = request("SETUP", "rtsp://host:8554/drive/trackID=0", ["Transport: RTP/AVP/TCP;unicast;interleaved=0-1"])
        _ = request("SETUP", "rtsp://host:8554/drive/trackID=1", ["Transport: RTP/AVP/TCP;unicast;interleaved=2-3"])
    }

    /// Cuts text into answers.
    static func responses(_ text: String) -> [RTSPResponse] {
        var stream = RTSPStream()
        var rest = Array(text.utf8)[...]
        var found: [RTSPResponse] = []
        while !rest.isEmpty {
            let taken = stream.receive { buffer in
                let count = min(buffer.count, rest.count)
                buffer.copyBytes(from: rest.prefix(count))
                return count
            }
            rest = rest.dropFirst(taken)
            while case .response(let response)? = try? stream.next() { found.append(response) }
            if taken == 0 { break }
        }
        return found
    }
}

/// What clients really send, with the credentials left out where a nonce of the moment stands in them.
enum RecordedClients {
    /// ffmpeg 5.1, `-rtsp_transport tcp`.
    static let ffmpeg = [
        "OPTIONS rtsp://127.0.0.1:8554/drive RTSP/1.0\nCSeq: 1\nUser-Agent: Lavf59.27.100\n\n",
        "DESCRIBE rtsp://127.0.0.1:8554/drive RTSP/1.0\nAccept: application/sdp\nCSeq: 2\n"
            + "User-Agent: Lavf59.27.100\n@\n",
        "SETUP rtsp://127.0.0.1:8554/drive/trackID=0 RTSP/1.0\nTransport: RTP/AVP/TCP;unicast;interleaved=0-1\n"
            + "CSeq: 4\nUser-Agent: Lavf59.27.100\n@\n",
        "SETUP rtsp://127.0.0.1:8554/drive/trackID=1 RTSP/1.0\nTransport: RTP/AVP/TCP;unicast;interleaved=2-3\n"
            + "CSeq: 5\nUser-Agent: Lavf59.27.100\nSession: $\n@\n",
        "PLAY rtsp://127.0.0.1:8554/drive/ RTSP/1.0\nRange: npt=0.000-\nCSeq: 6\nUser-Agent: Lavf59.27.100\n"
            + "Session: $\n@\n",
        "GET_PARAMETER rtsp://127.0.0.1:8554/drive/ RTSP/1.0\nCSeq: 7\nUser-Agent: Lavf59.27.100\nSession: $\n@\n",
        "TEARDOWN rtsp://127.0.0.1:8554/drive/ RTSP/1.0\nCSeq: 8\nUser-Agent: Lavf59.27.100\nSession: $\n@\n",
    ]

    /// ffmpeg 5.1, `-f rtsp -rtsp_transport tcp`: its own description, and the control attribute behind the query.
    static let publishingFFmpeg = [
        "OPTIONS rtsp://127.0.0.1:8554/drive?x=1 RTSP/1.0\nCSeq: 1\nUser-Agent: Lavf59.27.100\n\n",
        "ANNOUNCE rtsp://127.0.0.1:8554/drive?x=1 RTSP/1.0\nContent-Type: application/sdp\nCSeq: 2\n"
            + "User-Agent: Lavf59.27.100\n@Content-Length: 38\n\nv=0\ns=No Name\na=control:streamid=0\n",
        "SETUP rtsp://127.0.0.1:8554/drive?x=1/streamid=0 RTSP/1.0\n"
            + "Transport: RTP/AVP/TCP;unicast;interleaved=0-1;mode=record\nCSeq: 4\nUser-Agent: Lavf59.27.100\n@\n",
        "SETUP rtsp://127.0.0.1:8554/drive?x=1/streamid=1 RTSP/1.0\n"
            + "Transport: RTP/AVP/TCP;unicast;interleaved=2-3;mode=record\nCSeq: 5\nUser-Agent: Lavf59.27.100\n"
            + "Session: $\n@\n",
        "RECORD rtsp://127.0.0.1:8554/drive?x=1 RTSP/1.0\nRange: npt=0.000-\nCSeq: 6\nUser-Agent: Lavf59.27.100\n"
            + "Session: $\n@\n",
        "TEARDOWN rtsp://127.0.0.1:8554/drive?x=1 RTSP/1.0\nCSeq: 7\nUser-Agent: Lavf59.27.100\nSession: $\n@\n",
    ]

    /// The form in which GStreamer's rtspclientsink writes requests: it offers UDP first.
    static let publishingGStreamer = [
        "OPTIONS rtsp://127.0.0.1:8554/drive RTSP/1.0\nCSeq: 1\nUser-Agent: GStreamer/1.22.0\n\n",
        "ANNOUNCE rtsp://127.0.0.1:8554/drive RTSP/1.0\nCSeq: 2\nUser-Agent: GStreamer/1.22.0\n"
            + "Content-Type: application/sdp\n@Content-Length: 17\n\nv=0\ns=x\nt=0 0\n",
        "SETUP rtsp://127.0.0.1:8554/drive/stream=0 RTSP/1.0\nCSeq: 4\nUser-Agent: GStreamer/1.22.0\n"
            + "Transport: RTP/AVP;unicast;client_port=33586-33587;mode=record\n@\n",
        "SETUP rtsp://127.0.0.1:8554/drive/stream=1 RTSP/1.0\nCSeq: 5\nUser-Agent: GStreamer/1.22.0\n"
            + "Transport: RTP/AVP;unicast;client_port=33588-33589;mode=record\nSession: $\n@\n",
        "RECORD rtsp://127.0.0.1:8554/drive RTSP/1.0\nCSeq: 6\nUser-Agent: GStreamer/1.22.0\nRange: npt=0-\n"
            + "Session: $\n@\n",
    ]

    /// GStreamer 1.22's rtspsrc, over UDP as it prefers.
    static let gstreamer = [
        "OPTIONS rtsp://127.0.0.1:8554/drive RTSP/1.0\nCSeq: 1\nUser-Agent: GStreamer/1.22.0\n"
            + "User-Agent: RealMedia Player Version 6.0.9.1235 (linux-2.0-libc6-i386-gcc2.95)\n"
            + "ClientChallenge: 9e26d33f2984236010ef6253fb1887f7\nCompanyID: KnKV4M4I/B2FjJ1TToLycw==\n"
            + "GUID: 00000000-0000-0000-0000-000000000000\nRegionData: 0\n"
            + "PlayerStarttime: [28/03/2003:22:50:23 00:00]\nClientID: Linux_2.4_6.0.9.1235_play32_RN01_EN_586\n"
            + "Date: Sat, 21 Nov 2026 03:29:28 GMT\n\n",
        "DESCRIBE rtsp://127.0.0.1:8554/drive RTSP/1.0\nCSeq: 2\nUser-Agent: GStreamer/1.22.0\n"
            + "Accept: application/sdp\n@Date: Sat, 21 Nov 2026 03:29:28 GMT\n\n",
        "SETUP rtsp://127.0.0.1:8554/drive/trackID=0 RTSP/1.0\nCSeq: 4\nUser-Agent: GStreamer/1.22.0\n"
            + "Transport: RTP/AVP;unicast;client_port=33586-33587\n@Date: Sat, 21 Nov 2026 03:29:28 GMT\n\n",
        "SETUP rtsp://127.0.0.1:8554/drive/trackID=1 RTSP/1.0\nCSeq: 5\nUser-Agent: GStreamer/1.22.0\n"
            + "Transport: RTP/AVP;unicast;client_port=55994-55995\nSession: $\n@"
            + "Date: Sat, 21 Nov 2026 03:29:28 GMT\n\n",
        "PLAY rtsp://127.0.0.1:8554/drive/ RTSP/1.0\nCSeq: 6\nUser-Agent: GStreamer/1.22.0\nRange: npt=now-\n"
            + "Session: $\n@Date: Sat, 21 Nov 2026 03:29:28 GMT\n\n",
    ]

    /// The form in which live555, and with it VLC, writes requests.
    static let live555 = [
        "OPTIONS rtsp://127.0.0.1:8554/drive RTSP/1.0\nCSeq: 2\n"
            + "User-Agent: LibVLC/3.0.20 (LIVE555 Streaming Media v2020.01.19)\n\n",
        "DESCRIBE rtsp://127.0.0.1:8554/drive RTSP/1.0\nCSeq: 3\n@"
            + "User-Agent: LibVLC/3.0.20 (LIVE555 Streaming Media v2020.01.19)\nAccept: application/sdp\n\n",
        "SETUP rtsp://127.0.0.1:8554/drive/trackID=0 RTSP/1.0\nCSeq: 5\n@"
            + "User-Agent: LibVLC/3.0.20 (LIVE555 Streaming Media v2020.01.19)\n"
            + "Transport: RTP/AVP;unicast;client_port=52834-52835\n\n",
        "SETUP rtsp://127.0.0.1:8554/drive/trackID=1 RTSP/1.0\nCSeq: 6\n@"
            + "User-Agent: LibVLC/3.0.20 (LIVE555 Streaming Media v2020.01.19)\n"
            + "Transport: RTP/AVP;unicast;client_port=57076-57077\nSession: $\n\n",
        "PLAY rtsp://127.0.0.1:8554/drive/ RTSP/1.0\nCSeq: 7\n@"
            + "User-Agent: LibVLC/3.0.20 (LIVE555 Streaming Media v2020.01.19)\nSession: $\nRange: npt=0.000-\n\n",
        "GET_PARAMETER rtsp://127.0.0.1:8554/drive/ RTSP/1.0\nCSeq: 8\n@"
            + "User-Agent: LibVLC/3.0.20 (LIVE555 Streaming Media v2020.01.19)\nSession: $\n\n",
        "TEARDOWN rtsp://127.0.0.1:8554/drive/ RTSP/1.0\nCSeq: 9\n@"
            + "User-Agent: LibVLC/3.0.20 (LIVE555 Streaming Media v2020.01.19)\nSession: $\n\n",
    ]
}

extension ServerConversation {
    /// Plays a recorded client, with the session's identifier for `$` and credentials by RFC 2069's MD5 for `@`, as these
    /// clients send them.
    func play(_ requests: [String]) -> [RTSPResponse] {
        var answers: [RTSPResponse] = []
        for request in requests {
            var header = ""
            if authorization == nil, request.contains("@") {
                let bare = request.split(separator: "@", omittingEmptySubsequences: false).joined()
                guard let challenge = Self.responses(send(bare)).last, challenge.status == 401 else { return answers }
                take(challenge) { $0.scheme == .digest(.md5, isSession: false) }
            }
            let words = request.split(separator: " ", maxSplits: 2)
            if let value = authorization?.header(method: String(words[0]), uri: String(words[1])) {
                header = "Authorization: \(value)\n"
            }
            let text = request.map { character -> String in
                switch character {
                case "@": header
                case "$": session.identifier ?? "none"
                default: String(character)
                }
            }.joined()
            answers += Self.responses(send(text))
        }
        return answers
    }
}
