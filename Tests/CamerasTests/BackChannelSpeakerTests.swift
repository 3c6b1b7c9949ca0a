import Codecs
import RTP
import RTSP
import Synchronization
import Testing
import Transport

@testable import Cameras

/// The speaker against a camera that speaks bytes on the loopback interface. The tests wait for events, never for a
/// time.
@Suite(.timeLimit(.minutes(10))) struct BackChannelSpeakerTests {
    static let head = """
        v=0\r\no=- 1 1 IN IP4 127.0.0.1\r\ns=test\r\nt=0 0\r\na=control:*\r\n\
        m=video 0 RTP/AVP 96\r\na=rtpmap:96 H264/90000\r\na=control:video\r\na=recvonly\r\n\
        m=audio 0 RTP/AVP 8\r\na=control:audio\r\na=recvonly\r\n
        """
    static let speaker = "m=audio 0 RTP/AVP 8 0\r\na=control:back\r\na=sendonly\r\n"

    /// A camera whose description with the feature ends in `track`, and which answers SETUP and PLAY as instructed.
    static func camera(
        _ track: String = speaker, describe: Int = 200,
        setUp: @escaping @Sendable (String) -> RTSPResponse = {
            RTSPResponse(status: 200, headers: ["Session": "9;timeout=60", "Transport": $0])
        },
        play: Int = 200, closes: Bool = false
    ) throws -> TestCameraServer {
        try TestCameraServer(
            TestCameraServer.Script(
                answer: { request in
                    switch request.method {
                    case "DESCRIBE":
                        guard describe == 200 else { return RTSPResponse(status: describe) }
                        let feature = request.headers["Require"] == "www.onvif.org/ver20/backchannel"
                        return RTSPResponse(status: 200, body: Array((head + (feature ? track : "")).utf8))
                    case "SETUP": return setUp(request.headers["Transport"] ?? "")
                    case "PLAY": return RTSPResponse(status: play)
                    default: return RTSPResponse(status: 200)
                    }
                }, closes: closes))
    }

    /// The states that a talk reports.
    final class States: Sendable {
        let stream: AsyncStream<SpeakerState>
        let continuation: AsyncStream<SpeakerState>.Continuation
        init() { (stream, continuation) = AsyncStream.makeStream() }

        func next() async -> SpeakerState? {
            for await state in stream { return state }
            return nil
        }
    }

    static func begin(_ server: TestCameraServer) throws -> (BackChannelSpeaker, States) {
        let speaker = BackChannelSpeaker(
            url: try RTSPURL(parsing: "rtsp://cam:secret@127.0.0.1:\(server.port)/live"),
            configuration: RTSPSource.Configuration.patient.speaker)
        let states = States()
        speaker.begin { states.continuation.yield($0) }
        return (speaker, states)
    }

    @Test func aTalkIsASessionOfItsOwnAndEndsPolitely() async throws {
        let server = try Self.camera()
        defer { server.stop() }
        let (speaker, states) = try Self.begin(server)
        #expect(speaker.delivery.state == .opening)
        #expect(await states.next() == .open)
        // In one piece: a single packet that comes after a pause waits for a second one.
        [Int16](repeating: 8000, count: 5 * 960).withUnsafeBufferPointer { speaker.play($0) }
        var requests: [RTSPRequest] = []
        var sound: [UInt8] = []
        var control: [[UInt8]] = []
        var hasEnded = false
        for await note in server.notes {
            switch note {
            case .request(let request): requests.append(request)
            case .packet(0, let bytes):
                sound += bytes.dropFirst(12)
                // The sound is loud; its end is heard before the talk ends.
                if !hasEnded, sound.filter({ abs(Int(G711.aLaw.decode($0)) - 8000) < 300 }).count > 600 {
                    hasEnded = true
                    speaker.end()
                }
            case .packet(_, let bytes): control.append(bytes)
            case .closed: break
            }
            if note == .closed { break }
        }
        #expect(requests.map(\.method) == ["OPTIONS", "DESCRIBE", "SETUP", "PLAY", "TEARDOWN"])
        #expect(requests[2].uri.hasSuffix("/live/back"))
        #expect(requests[1...3].allSatisfy { $0.headers["Require"] == "www.onvif.org/ver20/backchannel" })
        #expect(requests[2].headers["Transport"] == "RTP/AVP/TCP;unicast;interleaved=0-1")
        #expect(control.filter(Self.isGoodbye).count == 1)
        let delivery = speaker.delivery
        #expect(delivery.codec == "PCMA/8000" && delivery.millisecondsReceived == 100)
        #expect(delivery.packetsSent >= 5 && delivery.millisecondsDropped == 0 && delivery.millisecondsToOpen != nil)
    }

    private static func isGoodbye(_ packet: [UInt8]) -> Bool {
        packet.withUnsafeBytes { bytes in
            RTCPPackets(bytes).contains { if case .goodbye = $0 { true } else { false } }
        }
    }

    @Test func aCameraThatIsSwitchedOffHearsNoLastWordsAndNoGoodbye() async throws {
        let server = try Self.camera()
        defer { server.stop() }
        let (speaker, states) = try Self.begin(server)
        #expect(await states.next() == .open)
        var requests: [String] = []
        var goodbyes = 0
        for await note in server.notes {
            switch note {
            case .request(let request): requests.append(request.method)
            case .packet(0, _):
                [Int16](repeating: 8000, count: 9600).withUnsafeBufferPointer { speaker.play($0) }
                speaker.silence()
            case .packet(_, let bytes): if Self.isGoodbye(bytes) { goodbyes += 1 }
            case .closed: break
            }
            if note == .closed { break }
        }
        #expect(goodbyes == 0)
        #expect(requests == ["OPTIONS", "DESCRIBE", "SETUP", "PLAY", "TEARDOWN"])
    }

    @Test func aSilencedTalkPassesNothingAndTheNextOneDoes() {
        let gate = SpeakerGate()
        let (first, second) = (gate.admit(), gate.admit())
        var passed: [UInt64] = []
        for talk in [first, second] { gate.pass(talk) { passed.append(talk) } }
        gate.silence()
        #expect(gate.isSilenced(first) && gate.isSilenced(second))
        for talk in [first, second] { gate.pass(talk) { passed.append(talk) } }
        let third = gate.admit()
        gate.pass(third) { passed.append(third) }
        #expect(passed == [first, second, third] && !gate.isSilenced(third))
    }

    @Test func refusalsAreTyped() async throws {
        let cases: [(TestCameraServer, SpeakerRefusal)] = [
            (try Self.camera(""), .noBackChannel),
            (try Self.camera(describe: 551), .noBackChannel),
            (
                try Self.camera("m=audio 0 RTP/AVP 97\r\na=rtpmap:97 SPEEX/8000\r\na=control:b\r\na=sendonly\r\n"),
                .noCommonCodec(offered: ["SPEEX/8000"])
            ),
            (try Self.camera(setUp: { _ in RTSPResponse(status: 461) }), .needsDatagrams),
            (
                try Self.camera(setUp: { _ in
                    RTSPResponse(
                        status: 200,
                        headers: ["Session": "1", "Transport": "RTP/AVP;unicast;client_port=0-1;server_port=6970-6971"])
                }), .needsDatagrams
            ),
            (
                try Self.camera(setUp: { _ in RTSPResponse(status: 453, reason: "Not Enough Bandwidth") }),
                .sessionRefused(.rtsp(.refused(method: .setup, status: 453, reason: "Not Enough Bandwidth")))
            ),
            (try Self.camera(play: 503), .sessionRefused(.rtsp(.refused(method: .play, status: 503, reason: "")))),
            (try Self.camera(describe: 401), .unauthorized(.rtsp(.unauthorized(.methodUnsupported)))),
        ]
        for (server, refusal) in cases {
            let (speaker, states) = try Self.begin(server)
            #expect(await states.next() == .refused(refusal))
            #expect(speaker.delivery.state == .refused(refusal))
            #expect(!refusal.words.contains("secret"))
            server.stop()
        }
    }

    @Test func aCameraThatIsNotThereIsUnreachable() async throws {
        // Nobody listens at port 1.
        let speaker = BackChannelSpeaker(url: try RTSPURL(parsing: "rtsp://127.0.0.1:1/live"))
        let states = States()
        speaker.begin { states.continuation.yield($0) }
        guard case .refused(.unreachable)? = await states.next() else {
            Issue.record("it should not be reachable")
            return
        }
    }

    @Test func aCameraThatGoesAwayEndsTheTalk() async throws {
        let server = try Self.camera(closes: true)
        defer { server.stop() }
        let (speaker, states) = try Self.begin(server)
        #expect(await states.next() == .open)
        guard case .refused(.brokenOff)? = await states.next() else {
            Issue.record("the talk should break off")
            return
        }
        speaker.end()
    }

    @Test func oneTalkAfterTheOtherHasItsOwnSession() async throws {
        let server = try Self.camera()
        defer { server.stop() }
        let (speaker, first) = try Self.begin(server)
        #expect(await first.next() == .open)
        speaker.end()
        let second = States()
        speaker.begin { second.continuation.yield($0) }
        #expect(await second.next() == .open)
        speaker.end()
        var methods: [String] = []
        var closed = 0
        for await note in server.notes {
            if case .request(let request) = note { methods.append(request.method) }
            if note == .closed { closed += 1 }
            if closed == 2 { break }
        }
        let one = ["OPTIONS", "DESCRIBE", "SETUP", "PLAY", "TEARDOWN"]
        #expect(methods == one + one, "the second begins when the first has ended")
    }
}
