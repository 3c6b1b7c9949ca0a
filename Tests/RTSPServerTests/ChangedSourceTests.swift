import Cameras
import DatagramPort
import MediaRelay
import PushAvStreamTransport
import RTP
import SDP
import StationFakes
import Stations
import Testing
import Transport

@testable import RTSPServer

/// Keeps which sessions a recorder made.
private final class SessionSink: RecordingSink {
    private struct State {
        var sessions: [RecordingSession] = []
        var ends: [RecordingEnd.Reason] = []
        var keyFrames: [RecordingSession.ID: Int] = [:]
    }

    private let state = Locked(State())

    func take(_ output: RecordingOutput, of session: RecordingSession.ID) throws(RecordingFault) {
        state.withLock { state in
            switch output {
            case .began(let began): state.sessions.append(began)
            case .chunk(let chunk) where chunk.beginsWithKeyFrame: state.keyFrames[session, default: 0] += 1
            case .ended(let end): state.ends.append(end.reason)
            default: break
            }
        }
    }

    var sessions: [RecordingSession] { state.withLock { $0.sessions } }
    var ends: [RecordingEnd.Reason] { state.withLock { $0.ends } }
    /// How many chunks of each session begin with a key frame.
    var keyFrames: [Int] { state.withLock { state in state.sessions.map { state.keyFrames[$0.id] ?? 0 } } }
}

/// One encoder: what it calls itself, where its numbers begin, and the first bytes of its pictures.
private struct TestEncoder {
    var ssrc: UInt8
    var number: UInt16
    var timestamp: UInt32
    /// Its sequence and picture parameter sets.
    var sets: [[UInt8]]

    static let keyFrame: [UInt8] = [0x65, 0x88, 0x84, 0x21]
    static let picture: [UInt8] = [0x41, 0x9A, 0x21, 0x6C]

    /// Constrained Baseline at 640 × 480, and High at 320 × 240.
    static let first = TestEncoder(
        ssrc: 1, number: 10, timestamp: 1_000,
        sets: [[0x67, 0x42, 0xC0, 0x1E, 0xDA, 0x02, 0x80, 0xF6, 0x40], [0x68, 0xCE, 0x3C, 0x80]])
    static let second = TestEncoder(
        ssrc: 2, number: 40_000, timestamp: 9_000_000,
        sets: [[0x67, 0x64, 0x00, 0x1F, 0xAC, 0xB4, 0x0A, 0x0F, 0xC8], [0x68, 0xEE, 0x3C, 0x80]])

    /// The payloads of a key frame and of the pictures after it, a list for each picture.
    func pictures(_ count: Int) -> [[[UInt8]]] {
        [sets + [Self.keyFrame]] + [[[UInt8]]](repeating: [Self.picture], count: count - 1)
    }

    /// The packets of a picture.
    func packets(_ payloads: [[UInt8]], after numbers: Int, at place: Int) -> [[UInt8]] {
        payloads.enumerated().map { index, payload in
            let sequence = number &+ UInt16(numbers + index)
            let time = timestamp &+ UInt32(3_600 * place)
            let marker: UInt8 = index == payloads.count - 1 ? 0x80 : 0
            let header: [UInt8] = [
                0x80, marker | 96, UInt8(sequence >> 8), UInt8(sequence & 0xFF), UInt8(time >> 24),
                UInt8(time >> 16 & 0xFF), UInt8(time >> 8 & 0xFF), UInt8(time & 0xFF), 0, 0, 0, ssrc,
            ]
            return header + payload
        }
    }
}

/// Publishers whose encoder is another one from one picture to the next.
@Suite(.ownThread, .timeLimit(.minutes(10)))
struct ChangedSourceTests {
    /// The first packet of a changed source may hold the parameter sets.
    @Test func `a program that changes its source and its profile loses no parameter set`() async throws {
        let house = try PublishingHouse()
        let client = try PublishingClient(house)
        let description = """
            v=0
            s=x
            m=video 0 RTP/AVP 96
            a=rtpmap:96 H264/90000
            a=fmtp:96 packetization-mode=1
            a=control:streamid=0

            """
        try #require(try client.announce("phone", description).status == 200)
        let transport = ["Transport: RTP/AVP/TCP;unicast;interleaved=0-1;mode=record"]
        try #require(try client.ask("SETUP", "phone/streamid=0", transport).status == 200)
        try #require(try client.ask("RECORD", "phone").status == 200)
        var expected: [[UInt8]] = []
        for encoder in [TestEncoder.first, .second] {
            var numbers = 0
            for (place, payloads) in encoder.pictures(2).enumerated() {
                for packet in encoder.packets(payloads, after: numbers, at: place) { client.send(packet, onChannel: 0) }
                numbers += payloads.count
                expected += payloads
            }
        }
        let sink = house.publishers.sink
        #expect(await eventually { sink.payloads(ofTrack: 0).count >= expected.count })
        #expect(sink.payloads(ofTrack: 0) == expected)
    }

    @Test func `another source with another size goes on for a reader and begins another recording`() async throws {
        let house = try PublishingHouse()
        let source = PublishedSource()
        let station = CameraStation(
            id: "door", source: source, relay: house.relay,
            outputs: OutputPermits(camera: "door", patience: .seconds(120)))
        house.server.setCameras([ServedCamera(station, name: "Door")])
        station.start()
        defer { station.stop() }
        let track = TrackDescription(
            kind: .video, codec: MediaCodec(name: "H264", clockRate: 90_000), payloadType: 96)
        let begun = source.begin([track], requestKeyFrame: { _ in }, ended: { _ in })
        let publication = try #require(begun)

        let sink = SessionSink()
        let recorder = CameraRecorder(
            station: station, relay: house.relay,
            configuration: CameraRecorder.Configuration(device: "d1", connection: 1),
            threads: RecordingThreads(count: 1, gathering: .milliseconds(5)), sink: sink,
            naming: { start, known in
                (.init(device: "d1", start: start, epoch: 1, sequence: UInt32(sink.sessions.count + 1)), known ?? 1)
            })
        recorder.start(RecordingSession.Trigger(kind: .command, reason: "test"))
        let reader = try PublishingClient(house)

        let start = MonotonicClock.now
        var place = 0
        var expected: [[UInt8]] = []
        var read: [[UInt8]] = []
        for (index, encoder) in [TestEncoder.first, .second].enumerated() {
            var numbers = 0
            for (picture, payloads) in encoder.pictures(3).enumerated() {
                let now = start + .milliseconds(40 * place)
                for packet in encoder.packets(payloads, after: numbers, at: picture) {
                    packet.withUnsafeBytes { publication.receive($0, track: 0, at: now) }
                }
                numbers += payloads.count
                place += 1
                expected += payloads
            }
            // Recorder and reader have begun with the first encoder before the second one comes.
            #expect(await eventually { sink.sessions.count == index + 1 })
            if index == 0 {
                let transport = ["Transport: RTP/AVP/TCP;unicast;interleaved=0-1"]
                try #require(try reader.ask("SETUP", "door/trackID=0", transport).status == 200)
                try #require(try reader.ask("PLAY", "door").status == 200)
            }
            while read.count < expected.count {
                let packet = try reader.nextPacket()
                if packet.channel == 0 { read.append(packet.bytes) }
            }
        }
        recorder.stop(.lengthReached, at: start + .seconds(60))
        #expect(await eventually { sink.ends.count == 2 })

        #expect(read.map { Array($0.dropFirst(12)) } == expected)
        // To the reader it is one source, of which something is missing where the second encoder begins.
        #expect(Set(read.map { Array($0[8..<12]) }).count == 1)
        let numbers = read.map { UInt16($0[2]) << 8 | UInt16($0[3]) }
        #expect(zip(numbers, numbers.dropFirst()).map { $1 &- $0 } == [1, 1, 1, 1, 2, 1, 1, 1, 1])
        let times = read.map { $0[4..<8].reduce(UInt32(0)) { $0 << 8 | UInt32($1) } }
        #expect(zip(times, times.dropFirst()).map { $1 &- $0 } == [0, 0, 3_600, 3_600, 3_600, 0, 0, 3_600, 3_600])

        #expect(sink.sessions.map { $0.tracks.map(\.codec) } == [["avc1.42C01E"], ["avc1.64001F"]])
        #expect(sink.sessions.map { $0.tracks.first?.width } == [640, 320])
        #expect(sink.ends == [.formatChanged, .lengthReached])
        #expect(sink.keyFrames == [1, 1])
    }
}
