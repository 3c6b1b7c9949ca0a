import Cameras
import DatagramPort
import Glibc
import Intake
import MediaRelay
import RTP
import RTSP
import SDP
import StationFakes
import Stations
import Testing
import Transport

@testable import RTSPServer

/// Collects what a source brings until there is enough of everything.
private final class Collector: CameraSink {
    struct State {
        var tracks: [TrackDescription] = []
        var packets: [Int: Int] = [:]
        var reports: Set<Int> = []
        var firstPictureIsKeyFrame: Bool?
    }

    let state = Awaitable(State())

    private struct Inlet: PacketInlet {
        let collector: Collector
        let track: Int

        func deliver(_ batch: PacketBatch) { collector.receive(batch, track: track) }
    }

    func open(_ tracks: [TrackDescription]) -> [any PacketInlet] {
        state.withLock { $0.tracks = tracks }
        return tracks.indices.map { Inlet(collector: self, track: $0) }
    }

    private func receive(_ batch: PacketBatch, track: Int) {
        state.withLock { state in
            state.packets[track, default: 0] += batch.packets.count
            if track == 0, state.firstPictureIsKeyFrame == nil { state.firstPictureIsKeyFrame = batch.startsKeyFrame }
        }
    }

    func handle(_ event: CameraEvent) {
        guard case .senderReport(let track, _, _) = event else { return }
        state.withLock { _ = $0.reports.insert(track) }
    }

    /// Waits until both tracks have brought thirty packets and a sender report. Returns whether they have.
    func enough() async -> Bool {
        await state.wait(atMost: .seconds(300)) { state in
            state.packets[0, default: 0] >= 30 && state.packets[1, default: 0] >= 30
                && state.reports.isSuperset(of: [0, 1])
        }
    }
}

/// Counts the holds of a camera.
private final class HoldCounter: Sendable {
    let counts = Locked((taken: 0, held: 0))

    func take() -> CameraHold {
        counts.withLock { $0 = ($0.taken + 1, $0.held + 1) }
        return CameraHold(for: .reader) { self.counts.withLock { $0.held -= 1 } }
    }
}

/// A server that shares the built-in camera as `door`.
private struct SharedDoor {
    let holds = HoldCounter()
    let relay: MediaRelay
    let station: CameraStation
    let server: RTSPServer

    init(
        change: (inout RTSPServerConfiguration) -> Void = { _ in },
        report: @escaping @Sendable (RTSPServerNews) -> Void = { _ in }
    ) throws {
        let relay = try MediaRelay(ports: try UDPPortGroup(.loopback(), count: 2))
        let station = CameraStation(
            id: "door", source: BuiltInCamera(BuiltInCamera.Configuration(name: "Door")), relay: relay,
            outputs: OutputPermits(camera: "door", patience: .seconds(120)))
        var configuration = try #require(
            RTSPServerConfiguration(
                host: "127.0.0.1", port: 0, authentication: RTSPAuthentication(passwords: ["a-token"])))
        // A client that waits for a processor has not gone, and is not too slow.
        configuration.session.idleTimeout = .seconds(3_600)
        configuration.stallTimeout = .seconds(3_600)
        configuration.maximumLag = .seconds(3_600)
        change(&configuration)
        server = try RTSPServer(configuration, relay: relay, report: report)
        let holds = holds
        server.setCameras([
            ServedCamera(
                id: "door", name: "Door", tracks: { station.snapshot.tracks }, hold: { holds.take() })
        ])
        station.start()
        self.relay = relay
        self.station = station
    }

    func stop() {
        server.stop()
        station.stop()
        relay.stop()
    }
}

/// These tests read from sockets and wait there. On a shared thread they would hold up what they wait for.
@Suite("RTSP server", .ownThread, .timeLimit(.minutes(10)))
struct RTSPServerTests {
    /// A source that pulls the door, and stays with it however late the threads of camera and server are.
    private func pull(_ door: SharedDoor) throws -> RTSPSource {
        var configuration = RTSPSource.Configuration()
        configuration.answerTimeout = .seconds(3_600)
        configuration.featureTimeout = .seconds(3_600)
        configuration.firstPacketTimeout = .seconds(3_600)
        configuration.stallTimeout = .seconds(3_600)
        return try RTSPSource(
            address: "rtsp://me:a-token@127.0.0.1:\(door.server.port)/door", configuration: configuration)
    }

    @Test("the gateway's own RTSP source pulls picture and sound with their clocks from the server")
    func ownSource() async throws {
        let door = try SharedDoor()
        defer { door.stop() }
        let collector = Collector()
        let source = try pull(door)
        source.start(sink: collector)
        #expect(await collector.enough())
        let counters = await door.server.counters()
        source.stop()
        let (tracks, startsWithKeyFrame) = collector.state.withLock { ($0.tracks, $0.firstPictureIsKeyFrame) }
        #expect(tracks.map(\.codec.name) == ["VP8", "opus"])
        #expect(startsWithKeyFrame == true)
        #expect(counters.readers == ["door": 1])
        #expect(counters.packetsSent >= 60)
        #expect(counters.framesDropped == 0)
        door.server.stop()
        let holds = door.holds.counts.withLock { $0 }
        #expect(holds.taken >= 1)
        #expect(holds.held == 0)
    }

    @Test("a request for a description waits for the tracks of its camera")
    func descriptionWaits() throws {
        let door = try SharedDoor {
            $0.session.authentication = RTSPAuthentication(passwords: ["a-token"], allowsBasic: true)
            $0.descriptionTimeout = .seconds(3_600)
        }
        defer { door.stop() }
        let looks = Locked(0)
        let track = TrackDescription(
            kind: .video, codec: MediaCodec(name: "VP8", clockRate: 90_000), payloadType: 96)
        door.server.setCameras([
            ServedCamera(
                id: "door", name: "Door",
                tracks: {
                    looks.withLock { looks in
                        looks += 1
                        return looks < 4 ? [] : [track]
                    }
                })
        ])
        let socket = try connect(to: door.server.port)
        defer { close(socket) }
        let url = "rtsp://127.0.0.1:\(door.server.port)/door"
        #expect(try ask(socket, "DESCRIBE \(url) RTSP/1.0\r\nCSeq: 1\r\n").hasPrefix("RTSP/1.0 200"))
        #expect(looks.withLock { $0 } == 4)
    }

    @Test("a request for a description of a camera that sends nothing is answered in the end")
    func descriptionEnds() throws {
        let door = try SharedDoor {
            $0.session.authentication = RTSPAuthentication(passwords: ["a-token"], allowsBasic: true)
            $0.descriptionTimeout = .milliseconds(120)
        }
        defer { door.stop() }
        door.server.setCameras([ServedCamera(id: "door", name: "Door", tracks: { [] })])
        let socket = try connect(to: door.server.port)
        defer { close(socket) }
        let url = "rtsp://127.0.0.1:\(door.server.port)/door"
        #expect(try ask(socket, "DESCRIBE \(url) RTSP/1.0\r\nCSeq: 1\r\n").hasPrefix("RTSP/1.0 503"))
    }

    @Test("beyond the limit of a host its oldest connection is closed")
    func connectionLimit() async throws {
        let door = try SharedDoor { $0.maximumConnectionsPerHost = 2 }
        defer { door.stop() }
        let sockets = try (0..<3).map { _ in try connect(to: door.server.port) }
        defer { for socket in sockets { close(socket) } }
        var byte: UInt8 = 0
        // The first one reads the end; the server holds the other two.
        #expect(recv(sockets[0], &byte, 1, 0) == 0)
        let counters = await door.server.counters()
        #expect(counters.connectionsRefused == 1)
        #expect(counters.connections == 2)
    }

    @Test("connections that have signed in are not counted for their host, and refusals are reported once per minute")
    func connectionLimitOfStrangers() async throws {
        let news = Locked<[RTSPServerNews]>([])
        let door = try SharedDoor(
            change: {
                $0.maximumConnectionsPerHost = 1
                $0.session.authentication = RTSPAuthentication(passwords: ["a-token"], allowsBasic: true)
            }, report: { event in news.withLock { $0.append(event) } })
        defer { door.stop() }
        var sockets: [Int32] = []
        defer { for socket in sockets { close(socket) } }
        for _ in 0..<3 {
            let socket = try connect(to: door.server.port)
            sockets.append(socket)
            // "me:a-token"
            let request = "DESCRIBE rtsp://h/attic RTSP/1.0\r\nCSeq: 1\r\nAuthorization: Basic bWU6YS10b2tlbg==\r\n\r\n"
            #expect(send(socket, request, request.utf8.count, Int32(MSG_NOSIGNAL)) == request.utf8.count)
            var answer = [UInt8](repeating: 0, count: 12)
            #expect(recv(socket, &answer, answer.count, Int32(MSG_WAITALL)) == answer.count)
            #expect(String(decoding: answer, as: UTF8.self) == "RTSP/1.0 404")
        }
        sockets.append(try connect(to: door.server.port))
        var byte: UInt8 = 0
        for _ in 0..<2 {
            let stranger = try #require(sockets.last)
            sockets.append(try connect(to: door.server.port))
            #expect(recv(stranger, &byte, 1, 0) == 0)
        }
        let counters = await door.server.counters()
        #expect(counters.connections == 4)
        #expect(counters.connectionsRefused == 2)
        #expect(news.withLock { $0 } == [.refusedConnection(host: "127.0.0.1", total: 1)])
    }

    /// The head of the answer to a request with the right password.
    private func ask(_ socket: Int32, _ request: String) throws -> String {
        // "me:a-token"
        let text = "\(request)Authorization: Basic bWU6YS10b2tlbg==\r\n\r\n"
        #expect(send(socket, text, text.utf8.count, Int32(MSG_NOSIGNAL)) == text.utf8.count)
        var answer: [UInt8] = []
        var byte: UInt8 = 0
        while !answer.suffix(4).elementsEqual([13, 10, 13, 10]), answer.count < 4_096 {
            guard recv(socket, &byte, 1, 0) == 1 else { break }
            answer.append(byte)
        }
        let head = String(decoding: answer, as: UTF8.self)
        let length = head.split(separator: "\r\n").first { $0.hasPrefix("Content-Length: ") }
        if let count = length.flatMap({ Int($0.dropFirst(16)) }), count > 0 {
            var body = [UInt8](repeating: 0, count: count)
            #expect(recv(socket, &body, count, Int32(MSG_WAITALL)) == count)
        }
        return head
    }

    /// Reads until the connection ends, however it does, and answers how many bytes came.
    private func readToEnd(_ socket: Int32) -> Int {
        var (buffer, count) = ([UInt8](repeating: 0, count: 65_536), 0)
        for _ in 0..<1_000_000 {
            let read = recv(socket, &buffer, buffer.count, 0)
            let error = errno
            guard read > 0 else {
                #expect(read == 0 || error == ECONNRESET, "the connection stays open")
                break
            }
            count += read
        }
        return count
    }

    static let refusing: [(policy: OutputPolicy, refusal: OutputRefusal)] = [
        (OutputPolicy(isOn: false), .off), (OutputPolicy(softLivestreamPrivacy: true), .livestreamPrivacy),
        (OutputPolicy(hardPrivacy: true), .hardPrivacy), (OutputPolicy(permitsLiveViews: false), .usage),
    ]

    @Test("a reader of a camera that is switched off is ended, and others are refused", arguments: refusing)
    func offEndsReaders(_ policy: OutputPolicy, _ refusal: OutputRefusal) async throws {
        let news = Locked<[RTSPServerNews]>([])
        let door = try SharedDoor(
            change: { $0.session.authentication = RTSPAuthentication(passwords: ["a-token"], allowsBasic: true) },
            report: { event in news.withLock { $0.append(event) } })
        defer { door.stop() }
        door.server.setCameras([ServedCamera(door.station, name: "Door")])
        let url = "rtsp://127.0.0.1:\(door.server.port)/door"
        #expect(await !door.station.tracks(within: .seconds(3_600)).tracks.isEmpty)
        // One that plays and reads nothing, one that has only set up, and one that has only asked what there is. In half of
        // the cases the first has no room for what comes.
        let isFull = refusal == .off || refusal == .hardPrivacy
        let sockets = try (0..<4).map {
            try connect(to: door.server.port, receiveBuffer: $0 == 0 && isFull ? 2_048 : nil)
        }
        defer { for socket in sockets { close(socket) } }
        for socket in sockets.prefix(3) {
            #expect(try ask(socket, "DESCRIBE \(url) RTSP/1.0\r\nCSeq: 1\r\n").hasPrefix("RTSP/1.0 200"))
        }
        let transport = "Transport: RTP/AVP/TCP;unicast;interleaved=0-1\r\n"
        for socket in sockets.prefix(2) {
            let answer = try ask(socket, "SETUP \(url)/trackID=0 RTSP/1.0\r\nCSeq: 2\r\n\(transport)")
            #expect(answer.hasPrefix("RTSP/1.0 200"))
            guard socket == sockets[0] else { continue }
            let session = try #require(answer.split(separator: "Session: ").last?.prefix { $0 != ";" })
            let play = try ask(socket, "PLAY \(url) RTSP/1.0\r\nCSeq: 3\r\nSession: \(session)\r\n")
            #expect(play.hasPrefix("RTSP/1.0 200"))
        }
        #expect(door.station.outputs.count == 3)
        await door.station.setOutputs(policy)
        #expect(door.station.outputs.count == 0)
        let sent = await door.server.counters().packetsSent
        // The two with a session have ended; nothing is left in the kernel that would go on for long.
        for socket in sockets.prefix(2) { _ = readToEnd(socket) }
        #expect(
            news.withLock { $0 }.contains { event in
                if case .ended("door", _, .revoked(refusal), _, _) = event { true } else { false }
            })
        // The third may go on to ask, and is refused like a new one.
        for socket in sockets.suffix(2) {
            #expect(try ask(socket, "DESCRIBE \(url) RTSP/1.0\r\nCSeq: 7\r\n").hasPrefix("RTSP/1.0 403"))
            let answer = try ask(socket, "SETUP \(url)/trackID=0 RTSP/1.0\r\nCSeq: 8\r\n\(transport)")
            #expect(answer.hasPrefix("RTSP/1.0 403"))
        }
        #expect(await door.server.counters().packetsSent == sent)
        #expect(door.station.snapshot.heldFor.isEmpty)
        await door.station.setOutputs(OutputPolicy())
        #expect(try ask(sockets[3], "DESCRIBE \(url) RTSP/1.0\r\nCSeq: 9\r\n").hasPrefix("RTSP/1.0 200"))
    }

    @Test("recording privacy leaves readers alone")
    func recordingPrivacyLeavesReaders() async throws {
        let door = try SharedDoor()
        defer { door.stop() }
        door.server.setCameras([ServedCamera(door.station, name: "Door")])
        await door.station.setOutputs(OutputPolicy(softRecordingPrivacy: true))
        let collector = Collector()
        let source = try pull(door)
        source.start(sink: collector)
        #expect(await collector.enough())
        await door.station.setOutputs(OutputPolicy())
        #expect(await door.server.counters().readers == ["door": 1])
        source.stop()
    }

    @Test("garbage ends its own connection and nothing else")
    func garbage() async throws {
        let door = try SharedDoor()
        defer { door.stop() }
        let collector = Collector()
        let source = try pull(door)
        source.start(sink: collector)
        defer { source.stop() }
        var random = RandomSource.seeded(11)
        for _ in 0..<24 {
            let socket = try connect(to: door.server.port)
            let bytes = (0..<2000).map { _ in UInt8(truncatingIfNeeded: random.next()) }
            _ = send(socket, bytes, bytes.count, Int32(MSG_NOSIGNAL))
            close(socket)
        }
        #expect(await collector.enough())
        #expect(await door.server.counters().readers == ["door": 1])
    }

    private func connect(to port: UInt16, receiveBuffer: Int32? = nil) throws -> Int32 {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        try #require(descriptor >= 0)
        if var receiveBuffer {
            let size = socklen_t(MemoryLayout<Int32>.size)
            try #require(setsockopt(descriptor, SOL_SOCKET, SO_RCVBUF, &receiveBuffer, size) == 0)
        }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        let status = withUnsafePointer(to: address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                Glibc.connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        try #require(status == 0)
        // What never comes fails the test instead of holding it for ever.
        var patience = timeval(tv_sec: 120, tv_usec: 0)
        let size = socklen_t(MemoryLayout<timeval>.size)
        try #require(setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &patience, size) == 0)
        return descriptor
    }
}
