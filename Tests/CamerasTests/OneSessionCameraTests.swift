import Codecs
import PacketFakes
import RTP
import RTSP
import Testing
import Transport

@testable import Cameras

/// Cameras that serve only one session: a talk goes over the source's own session.
@Suite(.timeLimit(.minutes(10))) struct OneSessionCameraTests {
    static let description = """
        v=0\r\no=- 1 1 IN IP4 127.0.0.1\r\ns=test\r\nt=0 0\r\na=control:*\r\n\
        m=video 0 RTP/AVP 96\r\na=rtpmap:96 VP8/90000\r\na=control:video\r\na=recvonly\r\n\
        m=audio 0 RTP/AVP 8\r\na=control:back\r\na=sendonly\r\n
        """

    /// What the camera remembers.
    struct Memory {
        /// The connection that has the session.
        var owner: Int?
        var refusals = 0
        var plays = 0
        /// The tracks that were set up for the session that plays, and whether with the back channel.
        var tracks: [String] = []
        var requires: [Bool] = []
    }

    /// A camera that refuses SETUP while another connection has its session. `takesSpeaker` is false for one that
    /// refuses the speaker's track even then.
    static func camera(
        _ memory: Locked<Memory>, transport: String, takesSpeaker: Bool = true
    ) throws -> CameraSimulator {
        let refused = CameraSimulator.Step.text("RTSP/1.0 453 Not Enough Bandwidth\r\nCSeq: $CSEQ\r\n\r\n")
        return try CameraSimulator { request in
            let isRefused = memory.withLock { memory in
                switch request.method {
                case "SETUP":
                    let track = String(request.uri.split(separator: "/").last ?? "")
                    guard memory.owner == nil || memory.owner == request.connection,
                        takesSpeaker || track != "back"
                    else {
                        memory.refusals += 1
                        return true
                    }
                    if memory.owner == nil { memory.tracks = [] }
                    memory.owner = request.connection
                    memory.tracks.append(track)
                case "PLAY":
                    memory.plays += 1
                    memory.requires.append(request.header("require") != nil)
                case "TEARDOWN" where memory.owner == request.connection: memory.owner = nil
                default: break
                }
                return false
            }
            if isRefused { return [refused] }
            let plays = memory.withLock { $0.plays }
            let frame = DatagramTests.video(plays * 10, frame: plays * 100, key: true)
            let media: CameraSimulator.Step =
                transport == "udp" ? .datagram(frame, track: 0) : .bytes(interleaved(0, frame))
            return CameraSimulator.answers(description: description, media: [media])(request)
        }
    }

    static func say(_ speaker: any CameraSpeaker) {
        for _ in 0..<10 {
            [Int16](repeating: 8000, count: 960).withUnsafeBufferPointer { speaker.play($0) }
        }
    }

    @Test(arguments: ["tcp", "udp"]) func theSourcesSessionRestartsWithTheSpeaker(transport: String) async throws {
        let memory = Locked(Memory())
        let camera = try Self.camera(memory, transport: transport)
        defer { camera.stop() }
        let sink = RecordingSink()
        var configuration = RTSPSource.Configuration.patient
        configuration.transport = transport == "udp" ? .udp : .tcp
        let source = try RTSPSource(address: "rtsp://127.0.0.1:\(camera.port)/live", configuration: configuration)
        source.start(sink: sink)
        let isFlowing: (RecordingSink.Item) -> Bool = { $0 == .event(.state(.flowing)) }
        var items = await sink.take(until: isFlowing)

        // The first talk finds out, the second one knows.
        for talk in 1...2 {
            let speaker = try #require(source.speaker)
            let states = BackChannelSpeakerTests.States()
            speaker.begin { states.continuation.yield($0) }
            #expect(await states.next() == .open)
            #expect(memory.withLock { $0.tracks } == ["video", "back"])
            #expect(memory.withLock { $0.refusals } == 1, "only the first talk tries a session of its own")
            #expect(source.profile.quirks.contains(.oneSession))
            Self.say(speaker)
            // The camera hears it, over the connection whatever carries its picture.
            let heard = await camera.note { note in
                guard case .interleaved(let bytes) = note, bytes[1] == 2 else { return false }
                return bytes.dropFirst(4 + 12).contains { abs(Int(G711.aLaw.decode($0)) - 8000) < 300 }
            }
            #expect(heard != nil)
            items += await sink.take(until: isFlowing)
            speaker.end()
            // And without it, so that the camera's speaker is free.
            items += await sink.take(until: isFlowing)
            #expect(memory.withLock { $0.tracks } == ["video"])
            #expect(memory.withLock { $0.plays } == 1 + 2 * talk)
            #expect(speaker.delivery.state == .closed && speaker.delivery.codec == "PCMA/8000")
        }
        source.stop()
        #expect(memory.withLock { $0.requires } == [false, true, false, true, false])
        // None of this looks like a failure, and the numbers continue.
        #expect(!items.contains { $0.isBackingOff })
        let packets = items.packets(ofTrack: 0) + (await sink.rest()).packets(ofTrack: 0)
        #expect(packets.count == 5)
        for (earlier, later) in zip(packets, packets.dropFirst()) {
            #expect(later.sequenceNumber == earlier.sequenceNumber &+ 1)
            #expect(Int32(bitPattern: later.timestamp &- earlier.timestamp) > 0)
        }
    }

    @Test func aRefusedSpeakerDoesNotStopThePicture() async throws {
        let memory = Locked(Memory())
        let camera = try Self.camera(memory, transport: "tcp", takesSpeaker: false)
        defer { camera.stop() }
        let sink = RecordingSink()
        let source = try CameraQuirkTests.source(camera)
        source.start(sink: sink)
        let isFlowing: (RecordingSink.Item) -> Bool = { $0 == .event(.state(.flowing)) }
        _ = await sink.take(until: isFlowing)
        let speaker = try #require(source.speaker)
        let states = BackChannelSpeakerTests.States()
        speaker.begin { states.continuation.yield($0) }
        guard case .refused(.sessionRefused)? = await states.next() else {
            Issue.record("the camera takes no talk in any session")
            return
        }
        _ = await sink.take(until: isFlowing)
        #expect(!source.profile.quirks.contains(.oneSession))
        // The next talk is refused as well, without disturbing the viewers again.
        let plays = memory.withLock { $0.plays }
        speaker.begin { states.continuation.yield($0) }
        guard case .refused(.sessionRefused)? = await states.next() else {
            Issue.record("the camera takes no talk in any session")
            return
        }
        #expect(plays <= 3 && memory.withLock { $0.plays } == plays)
        source.stop()
    }

    @Test func aSourceThatIsStoppedEndsTheTalk() async throws {
        let memory = Locked(Memory())
        let camera = try Self.camera(memory, transport: "tcp")
        defer { camera.stop() }
        let sink = RecordingSink()
        let source = try CameraQuirkTests.source(camera)
        source.start(sink: sink)
        _ = await sink.take { $0 == .event(.state(.flowing)) }
        let speaker = try #require(source.speaker)
        let states = BackChannelSpeakerTests.States()
        speaker.begin { states.continuation.yield($0) }
        #expect(await states.next() == .open)
        source.stop()
        #expect(await states.next() == .refused(.sourceStopped))
    }
}
