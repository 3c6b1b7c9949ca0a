import HTTPMedia
import PacketFakes
import RTP
import RTSP
import SDP
import Testing

@testable import Cameras

/// The source against a server on the loopback interface. The tests wait for events, never for a time.
@Suite(.timeLimit(.minutes(10))) struct RTSPSourceTests {
    static func video(_ number: Int, frame: Int, key: Bool = false, marker: Bool = true, ssrc: UInt32 = 7) -> [UInt8] {
        interleaved(
            0,
            rtpPacket(
                number, timestamp: UInt32(frame) * 6000, marker: marker, ssrc: ssrc, [0x10, key ? 0 : 1, 2, 3]))
    }

    static func audio(_ number: Int) -> [UInt8] {
        interleaved(2, rtpPacket(number, timestamp: UInt32(number) * 160, payloadType: 8, marker: false, [1, 2, 3, 4]))
    }

    static func source(_ server: TestCameraServer, credentials: String = "", stall: Duration? = nil) throws
        -> RTSPSource
    {
        var configuration = RTSPSource.Configuration.patient
        if let stall { configuration.stallTimeout = stall }
        return try RTSPSource(
            address: "rtsp://\(credentials)127.0.0.1:\(server.port)/live", configuration: configuration)
    }

    @Test func bothTracksFlowAndTheSessionEndsPolitely() async throws {
        let report: [UInt8] =
            [0x80, 200, 0, 6, 0, 0, 0, 7, 0xE0, 0, 0, 1, 0x80, 0, 0, 0] + [0, 0, 0x17, 0x70] + [0, 0, 0, 1, 0, 0, 0, 4]
        let server = try TestCameraServer(
            .good(media: { _ in
                // The second frame's packets come in one write, and the last packet in three.
                let last = Self.audio(2)
                return [
                    Self.video(1, frame: 0, key: true), Self.audio(1),
                    Self.video(2, frame: 1, marker: false) + Self.video(3, frame: 1) + interleaved(1, report),
                    Array(last[..<3]), Array(last[3..<9]), Array(last[9...]),
                ]
            }))
        defer { server.stop() }
        let sink = RecordingSink()
        let source = try Self.source(server)
        source.start(sink: sink)
        var items = await sink.take { item in
            guard case .packets(let packets, 1) = item else { return false }
            return packets.last?.timestamp == 320
        }
        source.stop()
        items += await sink.rest()

        #expect(items.states == [.resolving, .connecting, .describing, .settingUp, .playing, .flowing, .stopped])
        #expect(
            items.contains(
                .event(
                    .tracks([
                        TrackDescription(
                            kind: .video, codec: MediaCodec(name: "VP8", clockRate: 90_000), payloadType: 96),
                        TrackDescription(
                            kind: .audio, codec: MediaCodec(name: "PCMA", clockRate: 8000), payloadType: 8),
                    ]))))
        let video = items.packets(ofTrack: 0)
        #expect(
            video.map(\.flags) == [
                [.startsFrame, .keyFrame, .marker], [.startsFrame], [.marker],
            ])
        #expect(video.map(\.timestamp) == [0, 6000, 6000])
        #expect(items.packets(ofTrack: 1).count == 2)
        #expect(items.contains(.event(.senderReport(track: 0, ntp: 0xE000_0001_8000_0000, rtpTimestamp: 6000))))

        var methods: [String] = []
        for await note in server.notes {
            if case .request(let request) = note { methods.append(request.method) }
            if note == .closed { break }
        }
        #expect(methods == ["OPTIONS", "DESCRIBE", "SETUP", "SETUP", "PLAY", "TEARDOWN"])
    }

    @Test func aDigestIsAnswered() async throws {
        let server = try TestCameraServer(
            .good(
                media: { _ in [Self.video(1, frame: 0, key: true)] },
                authorize: { request in
                    let header = request.headers["Authorization"] ?? ""
                    let isRight =
                        header.contains("username=\"cam\"") && header.contains("nonce=\"abc\"")
                        && header.contains("uri=\"\(request.uri)\"") && !header.contains("p@ss")
                    return isRight
                        ? nil
                        : RTSPResponse(
                            status: 401, headers: ["WWW-Authenticate": "Digest realm=\"test\", nonce=\"abc\""])
                }))
        defer { server.stop() }
        let sink = RecordingSink()
        let source = try Self.source(server, credentials: "cam:p@ss@")
        source.start(sink: sink)
        let items = await sink.take { $0 == .event(.state(.flowing)) }
        source.stop()
        #expect(items.states.contains(.authenticating))
        #expect(items.states.last == .flowing)
    }

    @Test func refusedCredentialsWaitLongAndStoppingDoesNot() async throws {
        let server = try TestCameraServer(
            .good(
                media: { _ in [] },
                authorize: { _ in
                    RTSPResponse(status: 401, headers: ["WWW-Authenticate": "Digest realm=\"test\", nonce=\"abc\""])
                }))
        defer { server.stop() }
        let sink = RecordingSink()
        let source = try Self.source(server, credentials: "cam:secret@")
        source.start(sink: sink)
        let items = await sink.take(until: \.isBackingOff)
        guard case .backingOff(let seconds, let reason)? = items.states.last else {
            Issue.record("unexpected states: \(items.states)")
            return
        }
        #expect(seconds >= 15)
        #expect(reason == .rtsp(.unauthorized(.credentialsRefused)))
        source.stop()
        #expect(await sink.rest().states == [.stopped])
    }

    @Test func aReconnectionContinuesTheTimeline() async throws {
        let server = try TestCameraServer(
            .good(
                media: { connection in
                    let first = 500 + connection * 10_000
                    return [
                        Self.video(first, frame: connection * 999, key: true, ssrc: UInt32(connection + 1)),
                        Self.video(first + 1, frame: connection * 999 + 1, ssrc: UInt32(connection + 1)),
                    ]
                }, closes: true))
        defer { server.stop() }
        let sink = RecordingSink()
        let source = try Self.source(server)
        source.start(sink: sink)
        var items = await sink.take(until: \.isBackingOff)
        items += await sink.take(until: \.isBackingOff)
        source.stop()
        let numbers = items.packets(ofTrack: 0).map(\.sequenceNumber)
        #expect(numbers.count == 4)
        #expect(numbers == (0..<4).map { numbers[0] &+ UInt16($0) })
        let timestamps = items.packets(ofTrack: 0).map(\.timestamp)
        // The pause is half a second at least shortened by the jitter to a quarter. A busy machine makes it longer, but a
        // timeline that does not continue leaps by hours.
        #expect((90_000 / 5..<90_000 * 600).contains(timestamps[2] &- timestamps[1]))
        #expect(items.filter { if case .event(.tracks) = $0 { true } else { false } }.count == 2)
        guard case .backingOff(_, let reason)? = items.states.last else { return }
        #expect(reason == .connectionClosed)
    }

    @Test func silentVideoIsAStallEvenWhileSoundComes() async throws {
        let server = try TestCameraServer(
            .good(media: { _ in [Self.video(1, frame: 0, key: true), Self.audio(1)] }))
        defer { server.stop() }
        let sink = RecordingSink()
        let source = try Self.source(server, stall: .milliseconds(150))
        source.start(sink: sink)
        let items = await sink.take(until: \.isBackingOff)
        source.stop()
        #expect(items.states.suffix(3).first == .flowing)
        #expect(items.states.dropLast().last == .stalled(track: 0))
    }

    @Test func aKeyFrameIsRequestedOverTheControlChannel() async throws {
        let server = try TestCameraServer(
            .good(media: { _ in [Self.video(1, frame: 0, key: true, ssrc: 0x0102_0304)] }))
        defer { server.stop() }
        let sink = RecordingSink()
        let source = try Self.source(server)
        source.start(sink: sink)
        _ = await sink.take { $0 == .event(.state(.flowing)) }
        source.requestKeyFrame(track: 0)
        for await note in server.notes {
            guard case .packet(let channel, let bytes) = note else { continue }
            #expect(channel == 1)
            // A receiver report comes first, the picture loss indication for the camera's source last. On a slow machine
            // a report that was due by itself may come before.
            #expect(bytes.starts(with: [0x81, 201]))
            guard bytes.suffix(12).prefix(4) == [0x81, 206, 0, 2] else { continue }
            #expect(bytes.suffix(4) == [1, 2, 3, 4])
            break
        }
        source.stop()
    }

    @Test func aKeyFrameIsRequestedFromAStreamThatBeginsInTheMiddle() async throws {
        let server = try TestCameraServer(.good(media: { _ in [Self.video(1, frame: 0, key: false)] }))
        defer { server.stop() }
        let source = try Self.source(server)
        source.start(sink: RecordingSink())
        for await note in server.notes {
            guard case .packet(_, let bytes) = note else { continue }
            #expect(bytes.suffix(12).prefix(4) == [0x81, 206, 0, 2])
            break
        }
        source.stop()
    }

    @Test func garbageBetweenPacketsCostsNoPacket() async throws {
        let server = try TestCameraServer(
            .good(media: { _ in
                [
                    Self.video(1, frame: 0, key: true) + [0xFF, 0x24, 0x00, 0x00],
                    [0x24, 0, 0xFF] + Self.video(2, frame: 1),
                    Self.video(3, frame: 2),
                ]
            }))
        defer { server.stop() }
        let sink = RecordingSink()
        let source = try Self.source(server)
        source.start(sink: sink)
        let items = await sink.take { item in
            guard case .packets(let packets, 0) = item else { return false }
            return packets.last?.timestamp == 12_000
        }
        source.stop()
        #expect(items.packets(ofTrack: 0).map(\.timestamp) == [0, 6000, 12_000])
    }

    @Test(arguments: [
        [UInt8](repeating: 0xAA, count: 1_500_000), Array("HTTP/1.1 400 Bad Request\r\n\r\n".utf8),
        Array("RTSP/1.0 boo\r\n\r\n".utf8), Array("RTSP/1.0 200 OK\r\nContent-Length: 999999999\r\n\r\n".utf8),
    ])
    func hostileBytesEndTheConnectionWithAReason(bytes: [UInt8]) async throws {
        let server = try TestCameraServer(.good(media: { _ in [bytes] }))
        defer { server.stop() }
        let sink = RecordingSink()
        let source = try Self.source(server)
        source.start(sink: sink)
        let items = await sink.take(until: \.isBackingOff)
        source.stop()
        guard case .backingOff(_, let reason)? = items.states.last else {
            Issue.record("unexpected states: \(items.states)")
            return
        }
        #expect(reason != .connectionClosed)
    }

    @Test func aRefusedConnectionIsNamedAndStoppingAtAnyMomentReturns() async throws {
        let server = try TestCameraServer(.init(answer: { _ in nil }))
        let sink = RecordingSink()
        let source = try Self.source(server)
        source.start(sink: sink)
        _ = await sink.take { $0 == .event(.state(.describing)) }
        source.stop()
        #expect(await sink.rest().states == [.stopped])
        server.stop()
        for await _ in server.notes {}

        let second = RecordingSink()
        source.start(sink: second)
        let items = await second.take(until: \.isBackingOff)
        source.stop()
        guard case .backingOff(_, let reason)? = items.states.last else { return }
        #expect(reason == .unreachable(CameraUnreachable("cannot connect: Connection refused", cause: .refused)))
    }

    @Test func aProfileThatIsNotDescribedIsLearnedFromTheStream() async throws {
        var script = TestCameraServer.Script.good(media: { _ in
            let units: [[UInt8]] = [[0x67, 0x64, 0, 0x28, 1], [0x68, 1], [0x65, 0x88, 1]]
            return units.enumerated().map { index, unit in
                interleaved(0, rtpPacket(index, timestamp: 0, marker: index == 2, unit))
            }
        })
        let answer = script.answer
        script.answer = { request in
            guard request.method == "DESCRIBE" else { return answer(request) }
            let text = "v=0\r\ns=x\r\nm=video 0 RTP/AVP 96\r\na=rtpmap:96 H264/90000\r\n"
            return RTSPResponse(status: 200, body: Array(text.utf8))
        }
        let server = try TestCameraServer(script)
        defer { server.stop() }
        let sink = RecordingSink()
        let source = try Self.source(server)
        source.start(sink: sink)
        let items = await sink.take { item in
            guard case .event(.tracks(let tracks)) = item else { return item.isBackingOff }
            return tracks[0].codec.formatParameters["profile-level-id"] == "640028"
        }
        source.stop()
        #expect(items.states.last == .flowing)
    }

    @Test func aReleasedSourceEnds() async throws {
        let server = try TestCameraServer(.good(media: { _ in [Self.video(1, frame: 0, key: true)] }))
        defer { server.stop() }
        let sink = RecordingSink()
        do {
            let source = try Self.source(server)
            source.start(sink: sink)
            _ = await sink.take { $0 == .event(.state(.flowing)) }
            withExtendedLifetime(source) {}
        }
        #expect(await sink.rest().states == [.stopped])
    }
}
