import Glibc
import PacketFakes
import RTP
import RTSP
import SDP
import StationFakes
import Testing
import Transport

@testable import Cameras

/// RTP over UDP against a camera that speaks bytes.
@Suite(.timeLimit(.minutes(10))) struct DatagramTests {
    static func video(_ number: Int, frame: Int, key: Bool = false, ssrc: UInt32 = 7, _ rest: [UInt8] = [2, 3])
        -> [UInt8]
    {
        rtpPacket(number, timestamp: UInt32(frame) * 6000, marker: true, ssrc: ssrc, [0x10, key ? 0 : 1] + rest)
    }

    static func audio(_ number: Int) -> [UInt8] {
        rtpPacket(number, timestamp: UInt32(number) * 160, payloadType: 8, [1, 2, 3, 4])
    }

    static func source(_ camera: CameraSimulator, _ change: (inout RTSPSource.Configuration) -> Void = { _ in }) throws
        -> RTSPSource
    {
        var configuration = RTSPSource.Configuration.patient
        configuration.transport = .udp
        change(&configuration)
        return try RTSPSource(address: "rtsp://127.0.0.1:\(camera.port)/live", configuration: configuration)
    }

    static func frame(_ timestamp: UInt32) -> (RecordingSink.Item) -> Bool {
        { item in
            guard case .packets(let packets, 0) = item else { return item.isBackingOff }
            return packets.last?.timestamp == timestamp
        }
    }

    /// A datagram that waits in a port that nobody reads would keep the source's thread awake.
    @Test func portsOfARefusedTrackAreReturned() async throws {
        let sockets = Locked<[Set<String>]>([])
        let camera = try CameraSimulator(
            CameraSimulator.answers(special: { request in
                guard request.method == "SETUP" else { return [] }
                let transport = request.header("transport") ?? ""
                if let start = transport.firstRange(of: "client_port=")?.upperBound {
                    let port = UInt16(transport[start...].prefix { $0.isNumber }) ?? 0
                    sockets.withLock { $0.append(Self.openSockets(port: port)) }
                }
                guard request.uri.hasSuffix("audio") else { return [] }
                return [.text("RTSP/1.0 406 Not Acceptable\r\nCSeq: $CSEQ\r\n\r\n")]
            }))
        defer { camera.stop() }
        let sink = RecordingSink()
        let source = try Self.source(camera)
        source.start(sink: sink)
        _ = await sink.take { $0 == .event(.state(.playing)) }
        let taken = sockets.withLock { $0 }
        try #require(taken.map(\.count) == [1, 1])
        // Somebody else may have the port by now, so the socket is looked for. The source lets go of it after the event.
        #expect(await eventually { taken.map { $0.isSubset(of: Self.openSockets()) } == [true, false] })
        source.stop()
    }

    /// The kernel's numbers of this host's UDP sockets of IPv4; with `port`, of those at this port.
    private static func openSockets(port: UInt16? = nil) -> Set<String> {
        // The system gives the list in parts. One that changes meanwhile may lack a line that was there all the time.
        (0..<5).reduce(into: []) { found, _ in found.formUnion(listedSockets(port: port)) }
    }

    private static func listedSockets(port: UInt16?) -> Set<String> {
        guard let file = fopen("/proc/net/udp", "r") else { return [] }
        defer { fclose(file) }
        var found: Set<String> = []
        var line = [CChar](repeating: 0, count: 512)
        while fgets(&line, Int32(line.count), file) != nil {
            let words = String(decoding: line.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
                .split(separator: " ")
            // The second is ADDRESS:PORT in hexadecimal digits, the tenth the number.
            guard words.count > 9, let number = words[1].split(separator: ":").last.flatMap({ UInt16($0, radix: 16) })
            else { continue }
            if port == nil || port == number { found.insert(String(words[9])) }
        }
        return found
    }

    @Test(.enabled(if: CameraSimulator.hasIPv6)) func packetsComeOverIPv6() async throws {
        let camera = try CameraSimulator(
            isIPv6: true,
            CameraSimulator.answers(
                transport: "RTP/AVP;unicast;source=::1;client_port=$CLIENT;server_port=$UDP-$RTCP",
                media: [
                    .datagram(Self.video(1, frame: 0, key: true), track: 0), .datagram(Self.audio(1), track: 1),
                    .datagram(Self.video(3, frame: 2), track: 0), .datagram(Self.video(2, frame: 1), track: 0),
                ]))
        defer { camera.stop() }
        let sink = RecordingSink()
        var configuration = RTSPSource.Configuration.patient
        configuration.transport = .udp
        // A simulator that is interrupted between two datagrams is not late.
        configuration.reorderDelay = .seconds(60)
        let source = try RTSPSource(address: "rtsp://[::1]:\(camera.port)/live", configuration: configuration)
        source.start(sink: sink)
        let items = await sink.take(until: Self.frame(12_000))
        // The path through a firewall is opened from the ports that the camera was given.
        #expect(await camera.note { if case .datagram = $0 { true } else { false } } != nil)
        source.stop()
        #expect(items.packets(ofTrack: 0).map(\.timestamp) == [0, 6000, 12_000])
        #expect(source.profile.transport == .udp)
        #expect(!source.profile.quirks.contains(.wrongSource))
    }

    @Test(arguments: [
        ("10.9.9.9", true), ("0.0.0.0", true), ("::1", true), ("127.0.0.1", false), ("camera.lan", false),
    ])
    func aSourceAddressThatDiffersFromThePacketsIsRecorded(address: String, isWrong: Bool) async throws {
        let camera = try CameraSimulator(
            CameraSimulator.answers(
                transport: "RTP/AVP;unicast;source=\(address);client_port=$CLIENT;server_port=$UDP-$RTCP",
                media: [.datagram(Self.video(1, frame: 0, key: true), track: 0)]))
        defer { camera.stop() }
        let sink = RecordingSink()
        let source = try Self.source(camera)
        source.start(sink: sink)
        _ = await sink.take { $0 == .event(.state(.flowing)) || $0.isBackingOff }
        source.stop()
        #expect(source.profile.quirks.contains(.wrongSource) == isWrong)
    }

    @Test func aClockThatJumpsIsRecorded() async throws {
        let camera = try CameraSimulator(
            CameraSimulator.answers(media: [
                .datagram(Self.video(1, frame: 0, key: true), track: 0),
                .datagram(Self.video(2, frame: 600_000, key: true), track: 0),
            ]))
        defer { camera.stop() }
        let (profiles, continuation) = AsyncStream.makeStream(of: CameraProfile.self)
        var configuration = RTSPSource.Configuration.patient
        configuration.transport = .udp
        let source = try RTSPSource(
            address: "rtsp://127.0.0.1:\(camera.port)/live", configuration: configuration
        ) { continuation.yield($0) }
        source.start(sink: RecordingSink())
        // With the session's next report, at most five seconds later.
        for await profile in profiles where profile.quirks.contains(.clockLeaps) { break }
        source.stop()
        #expect(source.profile.quirks.contains(.clockLeaps))
    }

    @Test func onlyPacketsFromTheCameraArriveAndInOrder() async throws {
        let camera = try CameraSimulator(
            CameraSimulator.answers(media: [
                .datagram(Self.video(65_535, frame: 0, key: true), track: 0),
                .datagram(Self.audio(1), track: 1),
                .datagramOfStranger(Self.video(0, frame: 99, [9, 9]), track: 0),
                .datagram(Self.video(2, frame: 3), track: 0),
                .datagram(Self.video(1, frame: 2), track: 0),
                .datagram(Self.video(0, frame: 1), track: 0),
                .datagram(Self.video(0, frame: 1), track: 0),
                .datagram([], track: 0), .datagram([1, 2, 3], track: 0),
                .datagram(Self.video(3, frame: 4), track: 0),
            ]))
        defer { camera.stop() }
        let sink = RecordingSink()
        let source = try Self.source(camera) { $0.reorderDelay = .seconds(60) }
        source.start(sink: sink)
        var isComplete = (video: false, audio: false)
        let items = await sink.take { item in
            if case .packets(_, 1) = item { isComplete.audio = true }
            if Self.frame(24_000)(item) { isComplete.video = true }
            return isComplete == (true, true)
        }
        #expect(source.transportInUse.kind == .udp)
        #expect(source.profile.transport == .udp)
        source.stop()
        let packets = items.packets(ofTrack: 0)
        #expect(packets.map(\.timestamp) == [0, 6000, 12_000, 18_000, 24_000])
        #expect(zip(packets, packets.dropFirst()).allSatisfy { $1.sequenceNumber == $0.sequenceNumber &+ 1 })
        #expect(!packets.contains { $0.payload.contains(9) })
        #expect(items.packets(ofTrack: 1).count == 1)
    }

    @Test func thePathIsOpenedAndAKeyFrameIsRequestedOverTheControlPort() async throws {
        let camera = try CameraSimulator(
            CameraSimulator.answers(media: [.datagram(Self.video(1, frame: 0, ssrc: 0x0102_0304), track: 0)]))
        defer { camera.stop() }
        let source = try Self.source(camera)
        source.start(sink: RecordingSink())
        let punch = await camera.note { if case .datagram = $0 { true } else { false } }
        guard case .datagram(let packet)? = punch else { return }
        #expect(packet.count == 12 && packet[0] == 0x80)
        let report = await camera.note { note in
            if case .controlDatagram(let bytes) = note { bytes.count > 8 } else { false }
        }
        source.stop()
        guard case .controlDatagram(let bytes)? = report else { return }
        // A receiver report with one block about the camera's source, then at the end the indication.
        #expect(bytes.prefix(2) == [0x81, 201])
        #expect(bytes[8..<12] == [1, 2, 3, 4])
        #expect(bytes.suffix(12).prefix(4) == [0x81, 206, 0, 2])
        #expect(bytes.suffix(4) == [1, 2, 3, 4])
    }

    @Test func aLostPacketCostsMillisecondsAndShowsAsAGap() async throws {
        let camera = try CameraSimulator(
            CameraSimulator.answers(media: [
                .datagram(Self.video(1, frame: 0, key: true), track: 0),
                .datagram(Self.video(3, frame: 2), track: 0),
            ]))
        defer { camera.stop() }
        let sink = RecordingSink()
        let source = try Self.source(camera)
        source.start(sink: sink)
        let items = await sink.take(until: Self.frame(12_000))
        source.stop()
        let packets = items.packets(ofTrack: 0)
        #expect(packets.count == 2)
        #expect(packets.last?.sequenceNumber == packets.first.map { $0.sequenceNumber &+ 2 })
    }

    @Test(arguments: [
        "RTP/AVP;unicast;client_port=$CLIENT",
        "RTP/AVP;unicast;client_port=$CLIENT;server_port=0-0",
        "RTP/AVP/UDP;unicast;client_port=$CLIENT;source=10.9.9.9;server_port=9-10",
        "RTP/AVP;unicast;client_port=$CLIENT;source=;server_port=$UDP;ssrc= 00000007",
    ])
    func oddTransportAnswersAreTolerated(transport: String) async throws {
        let camera = try CameraSimulator(
            CameraSimulator.answers(
                transport: transport, media: [.datagramFromOtherPort(Self.video(1, frame: 1, key: true), track: 0)]))
        defer { camera.stop() }
        let sink = RecordingSink()
        let source = try Self.source(camera)
        source.start(sink: sink)
        #expect(await sink.take { $0 == .event(.state(.flowing)) || $0.isBackingOff }.states.last == .flowing)
        #expect(
            source.profile.quirks.contains(.missingServerPort) == !transport.contains("server_port=")
                || transport.contains("0-0"))
        source.stop()
    }

    @Test func datagramsOfTenKilobytesAreSplitForViewers() async throws {
        let camera = try CameraSimulator(
            CameraSimulator.answers(media: [
                .datagram(Self.video(1, frame: 1, key: true, [UInt8](repeating: 5, count: 10_000)), track: 0)
            ]))
        defer { camera.stop() }
        let sink = RecordingSink()
        let source = try Self.source(camera)
        source.start(sink: sink)
        let items = await sink.take { if case .packets(_, 0) = $0 { true } else { false } }
        source.stop()
        let packets = items.packets(ofTrack: 0)
        #expect(packets.count >= 8)
        #expect(packets.allSatisfy { $0.payload.count <= PayloadLimit.everyPath })
        #expect(packets.map(\.payload.count).reduce(0, +) >= 10_000)
    }

    @Test func channelsInAnswerToPortsAreAccepted() async throws {
        let packet = Self.video(1, frame: 1, key: true)
        let camera = try CameraSimulator(
            CameraSimulator.answers(
                transport: "RTP/AVP/TCP;unicast;interleaved=0-1",
                media: [.bytes(interleaved(0, packet) + interleaved(0, Self.audio(1)))]))
        defer { camera.stop() }
        let sink = RecordingSink()
        let source = try Self.source(camera)
        source.start(sink: sink)
        // Both tracks were given the same channels; the payload type distinguishes them.
        let items = await sink.take { if case .packets(_, 1) = $0 { true } else { $0.isBackingOff } }
        #expect(items.states.last == .flowing)
        #expect(items.packets(ofTrack: 1).count == 1)
        #expect(source.profile.transport == .tcp)
        #expect(source.profile.quirks == [.connectionInsteadOfDatagrams])
        source.stop()
    }

    @Test func senderReportsAndStrayControlPacketsOnTheMediaPortAreRead() async throws {
        let report: [UInt8] =
            [0x80, 200, 0, 6, 0, 0, 0, 7, 0xE0, 0, 0, 1, 0x80, 0, 0, 0] + [0, 0, 0x17, 0x70] + [0, 0, 0, 1, 0, 0, 0, 4]
        let camera = try CameraSimulator(
            CameraSimulator.answers(media: [
                .datagram(Self.video(1, frame: 0, key: true), track: 0), .datagram(report, track: 0),
            ]))
        defer { camera.stop() }
        let sink = RecordingSink()
        let source = try Self.source(camera)
        source.start(sink: sink)
        let wanted = CameraEvent.senderReport(track: 0, ntp: 0xE000_0001_8000_0000, rtpTimestamp: 6000)
        #expect(await sink.take { $0 == .event(wanted) || $0.isBackingOff }.last == .event(wanted))
        #expect(source.profile.quirks == [.controlOnMediaPort])
        source.stop()
    }
}

/// What happens when a camera does not send over the transport that is asked for first.
@Suite(.timeLimit(.minutes(10))) struct TransportFallbackTests {
    @Test(arguments: ["461 Unsupported transport", "200 OK", "400 Bad Request"])
    func aCameraWithoutTCPIsPulledOverUDPAtOnce(answer: String) async throws {
        let camera = try CameraSimulator(
            CameraSimulator.answers(
                media: [.datagram(DatagramTests.video(1, frame: 0, key: true), track: 0)],
                special: { request in
                    guard request.method == "SETUP", request.header("transport")?.contains("TCP") == true else {
                        return []
                    }
                    return [
                        .text(
                            "RTSP/1.0 \(answer)\r\nCSeq: $CSEQ\r\nSession: 1\r\n"
                                + "Transport: RTP/AVP;unicast;server_port=$UDP\r\n\r\n")
                    ]
                }))
        defer { camera.stop() }
        let sink = RecordingSink()
        let source = try DatagramTests.source(camera) { $0.transport = .auto }
        source.start(sink: sink)
        let items = await sink.take { $0 == .event(.state(.flowing)) || $0.isBackingOff }
        #expect(items.states.last == .flowing)
        #expect(source.profile.transport == .udp)
        source.stop()
    }

    @Test(arguments: [CameraProfile.Transport.tcp, .udp]) func aSilentTransportIsReplacedByTheOther(
        known: CameraProfile.Transport
    ) async throws {
        // Only the transport that the profile does not know brings packets. They come with the answer to PLAY, or before it:
        // the camera's thread may stand still after the answer for longer than the source waits.
        let packet = DatagramTests.video(1, frame: 0, key: true)
        let camera = try CameraSimulator(
            CameraSimulator.answers(special: { request in
                guard request.method == "PLAY" else { return [] }
                let head = "RTSP/1.0 200 OK\r\nCSeq: \(request.header("cseq") ?? "")\r\nSession: 4711\r\n\r\n"
                let answer = Array(head.utf8)
                return known == .udp
                    ? [.bytes(answer + interleaved(0, packet))] : [.datagram(packet, track: 0), .bytes(answer)]
            }))
        defer { camera.stop() }
        let sink = RecordingSink()
        let source = try DatagramTests.source(camera) { configuration in
            configuration.transport = .auto
            configuration.profile.transport = known
            configuration.firstPacketTimeout = .milliseconds(200)
        }
        source.start(sink: sink)
        let items = await sink.take { $0 == .event(.state(.flowing)) || $0.isBackingOff }
        // Packets of the connection that were not agreed on are not mistaken for media over UDP.
        #expect(items.states.last == .flowing)
        #expect(source.profile.transport == (known == .udp ? .tcp : .udp))
        source.stop()
    }

    @Test func aPinnedTransportIsKept() async throws {
        let camera = try CameraSimulator(CameraSimulator.answers())
        defer { camera.stop() }
        let sink = RecordingSink()
        let source = try DatagramTests.source(camera) { $0.firstPacketTimeout = .milliseconds(100) }
        source.start(sink: sink)
        let items = await sink.take(until: \.isBackingOff)
        source.stop()
        guard case .backingOff(_, let reason)? = items.states.last else { return }
        #expect(reason == .nothingCame(.video, .udp))
    }
}
