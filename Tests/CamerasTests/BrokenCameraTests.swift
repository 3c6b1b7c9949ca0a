import PacketFakes
import RTP
import RTSP
import SDP
import Testing
import Transport

@testable import Cameras

/// Cameras that break off, send byte by byte, flood, or handle keep-alives badly: each costs its own session and
/// nothing else.
@Suite(.timeLimit(.minutes(10))) struct BrokenCameraTests {
    /// A camera that sends `limit` bytes on each connection, or all that it has, and then ends it.
    private static func cut(after limit: Int, resets: Bool) -> CameraSimulator.Script {
        let whole = CameraSimulator.answers(media: [
            .bytes(CameraQuirkTests.video + interleaved(0, DatagramTests.video(2, frame: 2)))
        ])
        let sent = Locked<[Int: Int]>([:])
        return { request in
            sent.withLock { sent in
                var steps: [CameraSimulator.Step] = []
                for step in whole(request) {
                    var bytes: [UInt8]
                    switch step {
                    case .text(let text):
                        bytes = Array(text.replacing("$CSEQ", with: request.header("cseq") ?? "").utf8)
                    case .bytes(let media): bytes = media
                    default: continue
                    }
                    let left = limit - (sent[request.connection] ?? 0)
                    bytes = Array(bytes.prefix(max(0, left)))
                    sent[request.connection, default: 0] += bytes.count
                    steps.append(.bytes(bytes))
                    if bytes.count >= left {
                        steps.append(resets ? .reset : .close)
                        return steps
                    }
                }
                if request.method == "PLAY" { steps.append(resets ? .reset : .close) }
                return steps
            }
        }
    }

    /// The whole exchange has a little less than the most of these bytes.
    @Test(arguments: Array(stride(from: 0, to: 640, by: 9)))
    func anEndAtEveryPointOfTheExchangeIsAFailureWithAReason(limit: Int) async throws {
        let camera = try CameraSimulator(Self.cut(after: limit, resets: limit % 2 == 0))
        defer { camera.stop() }
        let sink = RecordingSink()
        let source = try RTSPSource(address: "rtsp://127.0.0.1:\(camera.port)/live")
        source.start(sink: sink)
        let items = await sink.take(until: \.isBackingOff)
        source.stop()
        guard case .backingOff(_, let reason)? = items.states.last else {
            Issue.record("unexpected states: \(items.states)")
            return
        }
        #expect(!reason.words.isEmpty)
        // Complete packets were passed on.
        #expect(items.packets(ofTrack: 0).count <= 2)
    }

    @Test func anExchangeThatDripsInByteByByteWorks() async throws {
        let whole = CameraSimulator.answers(media: [.bytes(CameraQuirkTests.video)])
        let camera = try CameraSimulator { request in
            whole(request).map { step in
                switch step {
                case .text(let text):
                    .drip(Array(text.replacing("$CSEQ", with: request.header("cseq") ?? "").utf8))
                case .bytes(let bytes): .drip(bytes)
                default: step
                }
            }
        }
        defer { camera.stop() }
        let sink = RecordingSink()
        let source = try RTSPSource(
            address: "rtsp://127.0.0.1:\(camera.port)/live", configuration: .patient)
        source.start(sink: sink)
        #expect(await sink.take { $0 == .event(.state(.flowing)) || $0.isBackingOff }.states.last == .flowing)
        source.stop()
    }

    @Test(
        arguments: [
            ("headers without an end", Array("RTSP/1.0 200 OK\r\n".utf8) + [UInt8](repeating: 0x41, count: 100_000)),
            (
                "many headers",
                Array("RTSP/1.0 200 OK\r\n".utf8) + Array(String(repeating: "A: b\r\n", count: 9000).utf8)
            ),
            ("an answer that stops", Array("RTSP/1.0 200 OK\r\nCSeq: 1\r\nX".utf8)),
            ("a body that stops", Array("RTSP/1.0 200 OK\r\nCSeq: 1\r\nContent-Length: 60000\r\n\r\nv=0".utf8)),
            ("a body of absurd size", Array("RTSP/1.0 200 OK\r\nCSeq: 1\r\nContent-Length: 99999999999\r\n\r\n".utf8)),
            ("a negative body", Array("RTSP/1.0 200 OK\r\nCSeq: 1\r\nContent-Length: -5\r\n\r\n".utf8)),
            ("another protocol", Array("SSH-2.0-dropbear\r\n".utf8)),
            ("nothing", []),
        ] as [(String, [UInt8])])
    func answersWithoutAnEndAreBounded(what: String, bytes: [UInt8]) async throws {
        let camera = try CameraSimulator { _ in [.bytes(bytes)] }
        defer { camera.stop() }
        var configuration = RTSPSource.Configuration()
        configuration.answerTimeout = .milliseconds(300)
        let sink = RecordingSink()
        let source = try RTSPSource(address: "rtsp://127.0.0.1:\(camera.port)/live", configuration: configuration)
        source.start(sink: sink)
        let items = await sink.take(until: \.isBackingOff)
        source.stop()
        #expect(items.states.contains(.describing))
    }

    /// The answers of a camera whose sessions last a second without a keep-alive, and which accepts `keepAlive` as one.
    private static func endingAfterASecond(
        _ request: CameraSimulator.Request, keepAlive: () -> [CameraSimulator.Step]
    ) -> [CameraSimulator.Step] {
        switch request.method {
        case "OPTIONS" where request.header("session") == nil:
            return [.text("RTSP/1.0 200 OK\r\nCSeq: $CSEQ\r\nPublic: OPTIONS, GET_PARAMETER\r\n\r\n")]
        case "SETUP":
            let transport = request.header("transport") ?? ""
            return [
                .text(
                    "RTSP/1.0 200 OK\r\nCSeq: $CSEQ\r\nSession: 1;timeout=1\r\nTransport: \(transport)\r\n\r\n")
            ]
        case "GET_PARAMETER": return keepAlive()
        default: return []
        }
    }

    @Test func aKeepAliveThatEndsTheSessionIsNotUsedAgain() async throws {
        let camera = try CameraSimulator(
            CameraSimulator.answers(
                media: [.bytes(CameraQuirkTests.video)],
                special: { Self.endingAfterASecond($0) { [.close] } }))
        defer { camera.stop() }
        let source = try RTSPSource(
            address: "rtsp://127.0.0.1:\(camera.port)/live", configuration: .patient)
        source.start(sink: RecordingSink())
        // On the second connection OPTIONS is what keeps the session alive.
        let note = await camera.note { note in
            guard case .request(let request) = note else { return false }
            return request.method == "OPTIONS" && request.header("session") != nil
        }
        #expect(note != nil)
        #expect(source.profile.avoidedKeepAlives == [.getParameter])
        source.stop()
    }

    /// Sound at a rate that G.726 does not have, and a report in the place of its packets.
    @Test func reportsOfATrackThatIsNotPulledAreHarmless() async throws {
        let description =
            "v=0\r\ns=x\r\nm=video 0 RTP/AVP 96\r\na=rtpmap:96 VP8/90000\r\na=control:v\r\n"
            + "m=audio 0 RTP/AVP 97\r\na=rtpmap:97 G726-64/8000\r\na=control:a\r\n"
        let report: [UInt8] = [0x80, 200, 0, 6, 0, 0, 0, 9] + [UInt8](repeating: 1, count: 20)
        let sound = rtpPacket(1, timestamp: 0, payloadType: 97, [1, 2, 3])
        let (states, _, notes) = try await CameraQuirkTests.play(
            CameraSimulator.answers(
                description: description,
                media: [
                    .bytes(interleaved(3, report) + interleaved(2, report) + interleaved(2, sound)),
                    .bytes(CameraQuirkTests.video),
                ]))
        #expect(states.last == .flowing)
        let codec = MediaCodec(name: "G726-64", clockRate: 8000)
        #expect(notes == [.notPulled(.audio, mediaIndex: 1, .noCodec([codec]))])
    }

    /// The camera answers the keep-alive and does not count it: after its timeout it just sends no more.
    @Test func aKeepAliveThatDoesNotCountIsNotUsedAgain() async throws {
        let hasAnswered = Locked(false)
        let camera = try CameraSimulator(
            CameraSimulator.answers(
                media: [.bytes(CameraQuirkTests.video)],
                special: { request in
                    Self.endingAfterASecond(request) {
                        let isFirst = hasAnswered.withLock { answered in
                            defer { answered = true }
                            return !answered
                        }
                        let last = isFirst ? interleaved(0, DatagramTests.video(2, frame: 2)) : []
                        return [.text("RTSP/1.0 200 OK\r\nCSeq: $CSEQ\r\n\r\n"), .bytes(last)]
                    }
                }))
        defer { camera.stop() }
        var configuration = RTSPSource.Configuration.patient
        // The keep-alive is due within a second. A source that gets no processor time until the picture has stalled sends
        // none, and has nothing to blame.
        configuration.stallTimeout = .seconds(10)
        let source = RTSPSource(
            url: try RTSPURL(parsing: "rtsp://127.0.0.1:\(camera.port)/live"), configuration: configuration)
        let sink = RecordingSink()
        source.start(sink: sink)
        let items = await sink.take(until: \.isBackingOff)
        source.stop()
        #expect(items.states.contains(.stalled(track: 0)))
        #expect(source.profile.avoidedKeepAlives == [.getParameter])
    }

    @Test func sessionsThatEndAtOneAgeBlameTheirKeepAlive() {
        func ended(_ seconds: Int, _ keepAlive: RTSPKeepAlive = .options) -> SessionAge {
            SessionAge(age: .seconds(seconds), keepAlive: keepAlive)
        }
        var ages = SessionAges()
        #expect(ages.record(ended(300)) == nil)
        // What failed before it played says nothing.
        #expect(ages.record(nil) == nil)
        #expect(ages.record(ended(250)) == .options)
        #expect(ages.record(ended(250)) == nil)
        #expect(ages.record(ended(250, .getParameter)) == nil)
        #expect(ages.record(ended(100, .getParameter)) == nil)
        for seconds in [5, 5, 3600, 3600] { #expect(ages.record(ended(seconds)) == nil) }
        #expect(ages.record(ended(119, .getParameter)) == .getParameter)
    }

    @Test func silentSoundIsReportedAndDoesNotStopThePicture() async throws {
        let camera = try CameraSimulator(
            CameraSimulator.answers(media: [
                .bytes(CameraQuirkTests.video + interleaved(2, DatagramTests.audio(1)))
            ]))
        defer { camera.stop() }
        var configuration = RTSPSource.Configuration.patient
        configuration.silenceTimeout = .milliseconds(100)
        let (profiles, changed) = AsyncStream<CameraProfile>.makeStream()
        let source = RTSPSource(
            url: try RTSPURL(parsing: "rtsp://127.0.0.1:\(camera.port)/live"), configuration: configuration,
            profileChanged: { changed.yield($0) })
        let sink = RecordingSink()
        source.start(sink: sink)
        for await profile in profiles where profile.quirks.contains(.soundStops) { break }
        #expect(source.silentTracks == [1])
        source.stop()
        #expect(!(await sink.rest().states.contains(.stalled(track: 1))))
    }
}
