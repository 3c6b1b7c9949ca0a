import Glibc
import Intake
import PacketFakes
import RTP
import RTSP
import SDP
import Testing
import Transport

@testable import Cameras

// Where each row of the catalogue of camera quirks (RTSP and SDP, rows 1 to 30) is tested. "samples" are the
// descriptions in sdp-samples/cameras, which CameraSampleTests reads and this file plays.
//
//  1 s= and i= inside media sections ............ samples, here: everyDescriptionPlays
//  2 fmtp under the wrong m-line, other PT ....... samples; here: everyDescriptionPlays, anotherPayloadType
//  3 no newline at the end, a=sendonly speaker ... samples; here: everyDescriptionPlays, BackChannelDiscoveryTests
//  4 o= with an extra word, m=application ........ samples; here: everyDescriptionPlays
//  5 a=sendonly on what the camera sends ......... samples; here: everyDescriptionPlays
//  6 unknown media kinds ......................... samples; here: everyDescriptionPlays
//  7-13 broken c=, o=, v=, s=, t= lines .......... samples; here: everyDescriptionPlays
// 14 H.265 with some sprop sets .................. samples (SDPTests); H265 tracks: IncomingTrack tests
// 15 AAC with another fmtp PT, many speaker rates  samples; here: BackChannelDiscoveryTests
// 16 PCM little-endian on PT 11 .................. samples
// 17 OPUS/48000/1 ............................... CameraDescriptionTests; here: everyDescriptionPlays
// 18 two audio tracks with the same PT .......... samples
// 19 talkback tracks before the video ........... samples; here: everyDescriptionPlays
// 20 ?enableSrtp, RTCP that is junk ............. CameraDescriptionTests.encryptedMediaAreExplained,
//                                                 RTSPURLTests.srtp; here: junkInsteadOfControlPackets
// 21 Content-Base in every broken form .......... RTSPURLTests.bases; here: brokenBases
// 22 no Content-Type, no control, control first . RTSPURLTests.controls; here: everyDescriptionPlays
// 23 Transport answers .......................... HeaderTests, DatagramTests.oddTransportAnswersAreTolerated;
//                                                 here: transportAnswersOverTCP
// 24 RTP-Info without sense ..................... HeaderTests.rtpInfoWithImpossibleNumbers; here: oddAnswersToPlay
// 25 empty status message, lower-case headers ... here: oddMessages
// 26 Basic and Digest, stale="FALSE", odd 401 ... AuthorizationTests; here: challengesOfCameras
// 27 401 unless User-Agent is sent .............. here: aUserAgentIsAlwaysSent
// 28 static payload types without rtpmap ........ samples; here: everyDescriptionPlays
// 29 lost FU-A starts, large NALs, slices ....... IncomingTrackTests (also units that are marked before the picture)
// 30 datagrams of 10 kB, long GOPs .............. DatagramTests.datagramsOfTenKilobytesAreSplitForViewers
@Suite(.timeLimit(.minutes(10))) struct CameraQuirkTests {
    static let video = interleaved(0, DatagramTests.video(1, frame: 1, key: true))

    static func source(_ camera: CameraSimulator, credentials: String = "") throws -> RTSPSource {
        var configuration = RTSPSource.Configuration.patient
        configuration.transport = .tcp
        return try RTSPSource(
            address: "rtsp://\(credentials)127.0.0.1:\(camera.port)/live", configuration: configuration)
    }

    /// Plays a camera until it flows; answers what became of it.
    static func play(
        _ script: @escaping CameraSimulator.Script, credentials: String = ""
    ) async throws -> (states: [SourceState], profile: CameraProfile, notes: [CameraNote]) {
        let camera = try CameraSimulator(script)
        defer { camera.stop() }
        let sink = RecordingSink()
        let source = try Self.source(camera, credentials: credentials)
        source.start(sink: sink)
        let items = await sink.take { $0 == .event(.state(.flowing)) || $0.isBackingOff }
        let answer = (items.states, source.profile, source.notes)
        source.stop()
        return answer
    }

    @Test(arguments: [
        // Rows 1, 3 and 22: repeated session lines in a section, control before the rest, no newline at the end.
        "v=0\r\no=- 0 0 IN IP4 127.0.0.1\r\ns=Media\r\nt=0 0\r\nm=video 0 RTP/AVP 96\r\na=control:track1\r\ns=again\r\n"
            + "i=again\r\na=rtpmap:96 VP8/90000",
        // Rows 4, 6: an extra word in o=, kinds that nobody knows.
        "v=0\r\no=- 14 14 IN IP4 127.0.0.1 extra\r\ns=x\r\nt=0 0\r\nm=vana 0 RTP/AVP 99\r\n"
            + "m=application/MERCURY 0 RTP/AVP smart/1/90000\r\na=control:meta\r\nm=video 0 RTP/AVP 96\r\n"
            + "a=rtpmap:96 VP8/90000\r\na=control:video\r\n",
        // Row 5: the camera marks what it sends.
        "v=0\r\no=CV-RTSPHandler 1 1 IN IP4 0.0.0.0\r\ns=x\r\nt=0 0\r\nm=video 0 RTP/AVP 96\r\na=rtpmap:96 VP8/90000\r\n"
            + "a=sendonly\r\na=control:video\r\n",
        // Rows 7 to 13: lines that say nothing, or nonsense.
        "v=0\r\no=- 0 IN\r\ns=x\r\nc=IN\r\nt=0 0\r\nm=video 0 RTP/AVP 96\r\na=rtpmap:96 VP8/90000\r\n"
            + "a=control:rtsp://192.168.1.2/live/video\r\n",
        "o=- 99999999999999999999999 -0x1F IPV4 h\r\nc=IN c=IN IP4 0.0.0.0\r\nm=video 0 RTP/AVP 96\r\n"
            + "a=rtpmap:96 VP8/90000\r\n",
        "v=0\r\no=- 1.5 1 IP IP4 h\r\ns=\r\nc=IN 192.168.4.27\r\nt=now-\r\nm=video 0 RTP/AVP 96\r\n"
            + "a=rtpmap:96 VP8/90000\r\n",
        // Row 19: talkback before the video.
        "v=0\r\no=- 1 1 IN IP4 h\r\ns=x\r\nt=0 0\r\nm=audio 0 RTP/AVP 97\r\na=rtpmap:97 opus/48000/2\r\na=sendonly\r\n"
            + "a=control:talk\r\nm=video 0 RTP/AVP 96\r\na=rtpmap:96 VP8/90000\r\na=control:video\r\n",
        // Lines that end in a bare line feed.
        "v=0\no=- 1 1 IN IP4 h\ns=x\nt=0 0\nm=video 0 RTP/AVP 96\na=rtpmap:96 VP8/90000\na=control:video\n",
    ])
    func everyDescriptionPlays(description: String) async throws {
        let (states, _, notes) = try await Self.play(
            CameraSimulator.answers(description: description, media: [.bytes(Self.video)]))
        #expect(states.last == .flowing, "\(notes)")
    }

    /// Sound first, no control at all: the channels are numbered by position, and the payload types distinguish the
    /// tracks, however the camera uses the channels.
    @Test(arguments: [(video: UInt8(2), audio: UInt8(0)), (video: 0, audio: 2)])
    func tracksWithoutControlAreNumberedByPosition(channels: (video: UInt8, audio: UInt8)) async throws {
        let description =
            "v=0\r\no=- 1 1 IN IP4 h\r\ns=x\r\nt=0 0\r\nm=audio 0 RTP/AVP 8\r\nm=video 0 RTP/AVP 96\r\n"
            + "a=rtpmap:96 VP8/90000\r\n"
        let sound: [UInt8] = [0x80, 8, 0, 1, 0, 0, 0, 0, 0, 0, 0, 9] + [UInt8](repeating: 0x55, count: 160)
        let asked = Locked<[String]>([])
        let camera = try CameraSimulator(
            CameraSimulator.answers(
                description: description,
                media: [
                    .bytes(interleaved(channels.audio, sound)),
                    .bytes(interleaved(channels.video, DatagramTests.video(1, frame: 1, key: true))),
                ]
            ) { request in
                if request.method == "SETUP" { asked.withLock { $0.append(request.header("transport") ?? "") } }
                return []
            })
        defer { camera.stop() }
        let sink = RecordingSink()
        let source = try Self.source(camera)
        source.start(sink: sink)
        let items = await sink.take { $0 == .event(.state(.flowing)) || $0.isBackingOff }
        source.stop()
        let rest = items + (await sink.rest())
        #expect(asked.withLock { $0.map { $0.hasSuffix("interleaved=2-3") } } == [true, false])
        #expect(rest.packets(ofTrack: 1).map(\.payload.count) == [160])
        #expect(rest.packets(ofTrack: 0).count == 1 && rest.states.contains(.flowing))
    }

    /// Every description of sdp-samples/cameras is set up as far as its codecs allow, or refused with the reason.
    @Test(arguments: try CameraQuirkTests.recordedDescriptions())
    func everyRecordedDescriptionIsSetUp(name: String) async throws {
        let description = try Self.text("cameras/\(name)")
        let camera = try CameraSimulator(CameraSimulator.answers(description: description))
        defer { camera.stop() }
        let sink = RecordingSink()
        let source = try Self.source(camera)
        source.start(sink: sink)
        let items = await sink.take { $0 == .event(.state(.playing)) || $0.isBackingOff }
        source.stop()
        guard case .backingOff(_, let reason)? = items.states.last else { return }
        switch reason {
        case .nothingToPlay, .unreadableDescription: break
        default: Issue.record("\(name): \(reason)")
        }
    }

    private static let samples =
        #filePath.split(separator: "/", omittingEmptySubsequences: false).dropLast(3).joined(separator: "/")
        + "/sdp-samples"

    static func recordedDescriptions() throws -> [String] {
        guard let directory = opendir("\(samples)/cameras") else { throw CameraSimulator.NoSocket() }
        defer { closedir(directory) }
        var names: [String] = []
        while let entry = readdir(directory) {
            let name = withUnsafePointer(to: entry.pointee.d_name) { pointer in
                pointer.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            if name.hasSuffix(".sdp") { names.append(name) }
        }
        return names.sorted()
    }

    private static func text(_ path: String) throws -> String {
        guard let file = fopen("\(samples)/\(path)", "r") else { throw CameraSimulator.NoSocket() }
        defer { fclose(file) }
        var bytes = [UInt8](repeating: 0, count: 64 * 1024)
        let count = fread(&bytes, 1, bytes.count, file)
        return String(decoding: bytes[..<count], as: UTF8.self)
    }

    @Test func anotherPayloadType() async throws {
        // No map names the payload type of the m-line, and the packets have yet another one.
        let description =
            "v=0\r\ns=x\r\nm=audio 0 RTP/AVP 8\r\na=rtpmap:0 PCMU/8000\r\nm=video 0 RTP/AVP 96\r\n"
            + "a=rtpmap:96 VP8/90000\r\n"
        let (states, _, _) = try await Self.play(
            CameraSimulator.answers(description: description, media: [.bytes(Self.video)]))
        #expect(states.last == .flowing)
    }

    @Test func junkInsteadOfControlPackets() async throws {
        let junk = (0..<40).map { index in
            interleaved(1, (0..<UInt8(index)).map { $0 &* 37 &+ UInt8(index) | 0x80 })
        }
        let (states, _, _) = try await Self.play(
            CameraSimulator.answers(media: [.bytes(junk.flatMap { $0 } + Self.video)]))
        #expect(states.last == .flowing)
    }

    @Test(arguments: [
        "rtsp://rtsp://127.0.0.1/live/", "[::ffff:127.0.0.1]/live/", "127.0.0.1/live/", "rtsp://10.0.0.1:554/live/", "",
        "http://127.0.0.1/live", "rtsp://[::ffff:127.0.0.1]:554/live/", "rtsp:///", "\u{1}",
    ])
    func brokenBases(base: String) async throws {
        let body = CameraSimulator.description
        let head = "RTSP/1.0 200 OK\r\nCSeq: $CSEQ\r\nContent-Base: \(base)\r\nContent-Length: \(body.utf8.count)"
        let (states, _, _) = try await Self.play(
            CameraSimulator.answers(
                media: [.bytes(Self.video)],
                special: { request in
                    if request.method == "DESCRIBE" { return [.text("\(head)\r\n\r\n\(body)")] }
                    // Whatever the base says, the requests stay with the camera.
                    let isLost = request.method == "SETUP" && !request.uri.hasPrefix("rtsp://127.0.0.1:")
                    return isLost ? [.text("RTSP/1.0 404 Not Found\r\nCSeq: $CSEQ\r\n\r\n")] : []
                }))
        #expect(states.last == .flowing)
    }

    @Test(
        arguments: [
            ("RTP/AVP;unicast;interleaved=0-1", 0), ("RTP/AVP/TCP;unicast;interleaved=0", 0), ("RTP/AVP/TCP", 0),
            ("RTP/AVP/TCP;unicast;interleaved=8-9;ssrc= 0A0B", 8), ("", 0), ("RTP/AVP/TCP;interleaved=none", 0),
        ] as [(String, UInt8)])
    func transportAnswersOverTCP(transport: String, channel: UInt8) async throws {
        let description = "v=0\r\ns=x\r\nm=video 0 RTP/AVP 96\r\na=rtpmap:96 VP8/90000\r\na=control:1\r\n"
        let (states, profile, _) = try await Self.play(
            CameraSimulator.answers(
                description: description,
                media: [.bytes(interleaved(channel, DatagramTests.video(1, frame: 1, key: true)))],
                special: { request in
                    guard request.method == "SETUP" else { return [] }
                    let line = transport.isEmpty ? "" : "Transport: \(transport)\r\n"
                    return [.text("RTSP/1.0 200 OK\r\nCSeq: $CSEQ\r\nSession: 1\r\n\(line)\r\n")]
                }))
        #expect(states.last == .flowing)
        #expect(profile.quirks.contains(.otherChannels) == (channel != 0))
    }

    @Test(arguments: [
        "RTP-Info: url=rtsp://h/1;seq=;rtptime=99999999999999", "RTP-Info: ;;;,,,===", "RTP-Info: url=x;rtptime=0",
        "Range: npt=now-", "Session: 9;timeout=-1",
    ])
    func oddAnswersToPlay(line: String) async throws {
        let (states, _, _) = try await Self.play(
            CameraSimulator.answers(special: { request in
                guard request.method == "PLAY" else { return [] }
                return [.text("RTSP/1.0 200 OK\r\nCSeq: $CSEQ\r\n\(line)\r\n\r\n"), .bytes(Self.video)]
            }))
        #expect(states.last == .flowing)
    }

    @Test(arguments: [
        "RTSP/1.0 200\r\ncseq: $CSEQ\r\n", "RTSP/1.0 200 \r\nCSEQ:$CSEQ\r\n", "RTSP/2.0 200 OK\r\nCSeq:   $CSEQ\r\n",
        "RTSP/1.0 200 OK\r\n", "\r\n\r\nRTSP/1.0 200 OK\r\ncSeQ : $CSEQ\r\n", "rtsp/1.0 200 ok\nCSeq: $CSEQ\n",
        "RTSP/1.0 100 Continue\r\nCSeq: $CSEQ\r\n\r\nRTSP/1.0 200 OK\r\nCSeq: $CSEQ\r\n",
    ])
    func oddMessages(head: String) async throws {
        let end = head.contains("\r") ? "\r\n" : "\n"
        let (states, _, _) = try await Self.play { request in
            switch request.method {
            case "DESCRIBE":
                let body = CameraSimulator.description
                return [.text("\(head)content-length: \(body.utf8.count)\(end)\(end)\(body)")]
            case "SETUP": return [.text("\(head)session: 1;timeout=60\(end)\(end)")]
            case "PLAY": return [.text("\(head)session: 1\(end)\(end)"), .bytes(Self.video)]
            default: return [.text("\(head)\(end)")]
            }
        }
        #expect(states.last == .flowing)
    }

    @Test(
        arguments: [
            (["Basic realm=\"b\"", "Digest realm=\"d\", nonce=\"n\", stale=\"FALSE\""], "Digest MD5"),
            (
                ["Digest realm=\"d\", nonce=\"n\", algorithm=\"MD5\", qop=\"auth,auth-int\", Basic realm=\"b\""],
                "Digest MD5"
            ),
            (["Digest realm=\"d\",nonce=\"n\",algorithm=SHA-256-sess,qop=\"auth\""], "Digest SHA-256-sess"),
            (["Digest realm=\"d\", nonce=\"n\", algorithm=TIGER", "Digest realm=\"e\", nonce=\"m\""], "Digest MD5"),
            (["digest REALM=d, NONCE=n, Stale=false"], "Digest MD5"),
            (["Negotiate", "NTLM", "Basic realm=\"b\""], "Basic"),
        ] as [([String], String)])
    func challengesOfCameras(challenges: [String], scheme: String) async throws {
        let lines = challenges.map { "WWW-Authenticate: \($0)\r\n" }.joined()
        let (states, profile, _) = try await Self.play(
            CameraSimulator.answers(
                media: [.bytes(Self.video)],
                special: { request in
                    let answer = request.header("authorization") ?? ""
                    let isRight = answer.hasPrefix(scheme.prefix { $0 != " " })
                    return isRight ? [] : [.text("RTSP/1.0 401 Unauthorized\r\nCSeq: $CSEQ\r\n\(lines)\r\n")]
                }), credentials: "admin:pass@")
        #expect(states.last == .flowing)
        #expect(profile.authentication == scheme)
    }

    @Test func aUserAgentIsAlwaysSent() async throws {
        let (states, _, _) = try await Self.play(
            CameraSimulator.answers(
                media: [.bytes(Self.video)],
                special: { request in
                    request.header("user-agent") != nil
                        ? [] : [.text("RTSP/1.0 401 Unauthorized\r\nCSeq: $CSEQ\r\n\r\n")]
                }))
        #expect(states.last == .flowing)
    }

    @Test func aRedirectionIsFollowed() async throws {
        let other = try CameraSimulator(CameraSimulator.answers(media: [.bytes(Self.video)]))
        defer { other.stop() }
        let port = other.port
        let (states, _, _) = try await Self.play(
            CameraSimulator.answers(special: { request in
                guard request.method == "DESCRIBE" else { return [] }
                return [
                    .text("RTSP/1.0 302 Moved\r\nCSeq: $CSEQ\r\nLocation: rtsp://127.0.0.1:\(port)/other\r\n\r\n")
                ]
            }))
        #expect(states.last == .flowing)
    }

    @Test func aCircleOfRedirectionsIsAFailure() async throws {
        let (states, _, _) = try await Self.play(
            CameraSimulator.answers(special: { request in
                guard request.method == "DESCRIBE" else { return [] }
                return [.text("RTSP/1.0 301 Moved\r\nCSeq: $CSEQ\r\nLocation: \(request.uri)\r\n\r\n")]
            }))
        guard case .backingOff(_, let reason)? = states.last else {
            Issue.record("unexpected states: \(states)")
            return
        }
        #expect(reason == .redirectionCircle)
    }
}
