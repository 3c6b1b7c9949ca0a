import Cameras
import DatagramPort
import RTSP
import SDP
import Signalling
import StationFakes
import Testing
import Transport

@testable import RTSPServer

/// What a publisher that says nothing, or reads nothing, means.
@Suite(.ownThread, .timeLimit(.minutes(10)))
struct PublisherLifeTests {
    private let start = Instant(nanoseconds: 1_000_000_000)

    @Test func `silence is reported ten seconds after the last packet, or after the beginning`() throws {
        let (source, sink) = (PublishedSource(), PublishedSink())
        source.start(sink: sink)
        let stream = try AnnouncedStream(parsing: PublishingClient.description)
        let began = source.begin(stream.tracks.map(\.description), requestKeyFrame: { _ in }, ended: { _ in })
        let publication = try #require(began)
        let publisher = Publisher(number: 1, device: "phone-id", path: "phone", stream: stream, ssrc: 1)
        publisher.tracks = stream.tracks.enumerated().map { number, track in
            PublisherTrack(track, number: number, transport: .interleaved(rtp: 0, rtcp: 1))
        }
        publisher.begin(
            StartedPublication(sessionID: "x", publication: publication), nextReport: start + .seconds(60), at: start)
        #expect(publisher.nextDeadline == start + .seconds(10))
        let (picture, sound) = (publisher.tracks[0], publisher.tracks[1])
        func send(_ track: PublisherTrack, _ payloadType: UInt8, _ number: UInt16, after seconds: Int) {
            PublishingClient.packet(payloadType, number).withUnsafeBytes { bytes in
                _ = track.receive(bytes, for: publication, at: start + .seconds(seconds))
            }
        }
        func states() -> [SourceState] { Array(sink.state.withLock { $0.states }.dropFirst(2)) }
        // A publisher that sends no picture has stalled, whatever sound it sends.
        send(sound, 97, 1, after: 9)
        picture.reportSilence(to: publication, at: start + .seconds(9))
        #expect(states() == [.flowing])
        picture.reportSilence(to: publication, at: start + .seconds(10))
        #expect(states() == [.flowing, .stalled(track: 0)])
        // It is reported once.
        #expect(picture.silenceDeadline == nil && publisher.nextDeadline == start + .seconds(19))
        send(sound, 97, 2, after: 20)
        send(picture, 96, 1, after: 20)
        #expect(picture.silenceDeadline == start + .seconds(30))
        picture.reportSilence(to: publication, at: start + .seconds(30))
        #expect(states() == [.flowing, .stalled(track: 0), .flowing, .stalled(track: 0)])
    }

    @Test func `a publisher that never reads stays for as long as it sends`() throws {
        var limits = try #require(
            RTSPServerConfiguration(
                host: "127.0.0.1", port: 0,
                authentication: RTSPAuthentication(passwords: ["a-token"], allowsBasic: true)))
        limits.session.takesPublishers = true
        let address = try #require(TransportAddress("127.0.0.1", port: 9))
        let listener = try TCPListener(on: address.withPort(0))
        let place = try #require(listener.localAddress)
        let connection = RTSPConnection(
            id: 1,
            socket: try TCPSocket.connect(to: place, patience: .seconds(600), unsent: 4096, sendBuffer: 4096),
            peer: address, local: address,
            session: RTSPServerSession(configuration: limits.session, random: .seeded(1), now: start),
            canonicalName: "gatehouse")
        connection.blockedSince = start
        #expect(connection.readingDeadline(limits) == start + .seconds(10))
        Self.ask("ANNOUNCE", "", ["Content-Type: application/sdp", "Content-Length: 0"], connection, at: start)
        Self.ask("SETUP", "/streamid=0", ["Transport: RTP/AVP/TCP;interleaved=0-1;mode=record"], connection, at: start)
        Self.ask("RECORD", "", [], connection, at: start)
        let recording = connection.session.state
        try #require(recording == .recording)
        #expect(connection.readingDeadline(limits) == nil)
        // Its silence ends it.
        #expect(connection.nextDeadline(limits) == start + .seconds(65))
        Self.ask("PAUSE", "", [], connection, at: start)
        #expect(connection.readingDeadline(limits) == start + .seconds(10))
    }

    /// Hands a request to the session of a connection, and answers what it asks.
    private static func ask(
        _ method: String, _ part: String, _ fields: [String], _ connection: RTSPConnection, at now: Instant
    ) {
        var lines = [
            "\(method) rtsp://127.0.0.1/phone\(part) RTSP/1.0", "CSeq: 1", "Authorization: Basic bWU6YS10b2tlbg==",
        ]
        if let identifier = connection.session.identifier { lines.append("Session: \(identifier)") }
        let bytes = Array(((lines + fields).joined(separator: "\r\n") + "\r\n\r\n").utf8)
        connection.session.receive { buffer in
            buffer.copyBytes(from: bytes)
            return bytes.count
        }
        while let event = connection.session.pollEvent(at: now) {
            switch event {
            case .announce: connection.session.answerAnnounce(.accepted(controls: ["streamid=0"]), at: now)
            case .record: connection.session.answerRecord(.started, at: now)
            default: break
            }
        }
    }

    @Test func `a publisher that comes too soon waits, and begins then`() async throws {
        let house = try PublishingHouse()
        let first = try PublishingClient(house)
        try first.publish()
        // Others may have taken the camera over before it asks again.
        await house.publishers.postpone([.milliseconds(100), .milliseconds(50)])
        let second = try PublishingClient(house)
        try second.publish()
        #expect(first.isClosedByServer())
        #expect(await house.publishers.streams.count == 2)
        #expect(await house.publishers.attempts == 4)
        let refusals = house.news.withLock { $0 }.count { news in
            if case .refusedPublisher = news { true } else { false }
        }
        #expect(refusals == 0)
        // Whoever must wait for longer than the time to begin is disconnected, and the camera keeps its publisher.
        let busy = try PublishingHouse { $0.session.recordTimeout = .seconds(15) }
        let winner = try PublishingClient(busy)
        try winner.publish()
        await busy.publishers.postpone([.seconds(3_600)])
        let loser = try PublishingClient(busy)
        #expect(try loser.announce().status == 200)
        let transport = ["Transport: RTP/AVP/TCP;unicast;interleaved=2-3;mode=record"]
        #expect(try loser.ask("SETUP", "phone/streamid=1", transport).status == 200)
        loser.send(loser.recordRequest)
        #expect(loser.isClosedByServer())
        #expect(await busy.publishers.streams.count == 1)
        winner.send(PublishingClient.packet(96, 1), onChannel: 2)
        #expect(await eventually { busy.publishers.sink.payloads(ofTrack: 0).count == 1 })
    }

    @Test func `nobody who has signed in takes all places`() throws {
        let house = try PublishingHouse {
            $0.maximumConnections = 3
            $0.maximumIdleConnections = 2
        }
        let clients = try (0..<3).map { _ in try PublishingClient(house) }
        for client in clients {
            let answer = try client.announce()
            try #require(answer.status == 200)
        }
        // The oldest gives way to another client.
        let next = try PublishingClient(house)
        #expect(try next.ask("OPTIONS", "phone").status == 200)
        #expect(clients[0].isClosedByServer())
        #expect(try clients[1].announce().status == 200)
    }

    @Test func `a publisher takes no reader's place`() throws {
        let house = try PublishingHouse { $0.admitsReader = { _, readers in readers.isEmpty } }
        let publisher = try PublishingClient(house)
        try publisher.publish()
        let reader = try PublishingClient(house)
        // The camera sends nothing, which is not the same as that there are too many readers.
        let transport = ["Transport: RTP/AVP/TCP;unicast;interleaved=0-1"]
        #expect(try reader.ask("SETUP", "door/trackID=0", transport).status == 503)
    }
}
