import Cameras
import DatagramPort
import PacketFakes
import Signalling
import StationFakes
import Stations
import StreamFormats
import Testing
import Transport

@testable import RTMPServer

/// Who may not publish, and what a hostile client may not do.
@Suite(.ownThread, .timeLimit(.minutes(10))) struct RTMPRefusalTests {
    @Test func `A wrong token is refused, counted and answered late`() async throws {
        let yard = try await PublishedYard()
        defer { yard.stop() }
        for attempt in 1...2 as ClosedRange<UInt64> {
            let client = try RTMPTestClient(to: yard.server.port)
            client.send(RTMPPublisherBytes.asking("yard?token=wrong").bytes)
            let answer = try #require(client.statuses().last)
            #expect(answer.code == "NetStream.Publish.Denied" && answer.words.hasPrefix("unauthorized"))
            let counters = await yard.server.counters()
            #expect(counters.refusedCredentials == attempt && counters.publishersStarted == 0)
        }
        #expect(yard.news.withLock { $0 } == [.refused(host: "127.0.0.1"), .refused(host: "127.0.0.1")])
        #expect(yard.station.snapshot.tracks.isEmpty)
    }

    @Test(arguments: [
        ("yard", "NetStream.Publish.Denied", "KEY?token=TOKEN"),
        ("attic?token=right", "NetStream.Publish.Denied", "there is no camera attic"),
        ("?token=right", "NetStream.Publish.Denied", "names no camera"),
    ])
    func `An address that cannot be published to is refused with what to do`(
        name: String, code: String, words: String
    ) async throws {
        let yard = try await PublishedYard()
        defer { yard.stop() }
        var bytes = RTMPPublisherBytes()
        bytes.connect(to: "")
        bytes.publish(name)
        let client = try RTMPTestClient(to: yard.server.port)
        client.send(bytes.bytes)
        let answer = try #require(client.statuses().last)
        #expect(answer.code == code && answer.words.contains(words))
    }

    @Test func `A token that loses the right while the stream begins publishes nothing`() async throws {
        let yard = try await PublishedYard()
        defer { yard.stop() }
        yard.mayPublish.withLock { $0 = false }
        let client = try RTMPTestClient(to: yard.server.port)
        client.send(RTMPPublisherBytes.asking().bytes + RTMPPublisherBytes.media())
        let answer = try #require(client.statuses().last)
        #expect(answer.code == "NetStream.Failed")
        #expect(answer.words == SignallingError.mayNotPublish(device: "yard").words)
        #expect(yard.station.snapshot.tracks.isEmpty)
    }

    @Test func `A token that loses the right later ends its publisher`() async throws {
        let yard = try await PublishedYard()
        defer { yard.stop() }
        let client = try RTMPTestClient(to: yard.server.port)
        client.send(RTMPPublisherBytes.asking().bytes + RTMPPublisherBytes.media())
        #expect(await yard.reaches(.flowing))
        await yard.signalling.services.publishing.endPublishers(of: "encoder") { _ in false }
        #expect(client.statuses().last?.words == PublisherEnd.accessEnded.words)
        #expect(yard.ends == [.accessEnded])
    }

    @Test func `A client that plays is refused`() async throws {
        let yard = try await PublishedYard()
        defer { yard.stop() }
        var bytes = RTMPPublisherBytes()
        bytes.connect(to: "live")
        bytes.command("createStream", 2, [.null])
        bytes.command("play", 3, [.null, .text("yard")], stream: 1)
        let client = try RTMPTestClient(to: yard.server.port)
        client.send(bytes.bytes)
        #expect(client.statuses().last?.code == "NetStream.Play.Failed")
    }

    @Test func `A client that speaks TLS or wants to play is reported, a silent one is not`() async throws {
        let yard = try await PublishedYard { $0.closingTimeout = .milliseconds(50) }
        defer { yard.stop() }
        let silent = try RTMPTestClient(to: yard.server.port)
        silent.finish()
        #expect(silent.statuses().isEmpty)
        let secure = try RTMPTestClient(to: yard.server.port)
        secure.send([0x16, 3, 1, 2, 0])
        #expect(secure.statuses().isEmpty)
        var bytes = RTMPPublisherBytes()
        bytes.connect(to: "live")
        bytes.command("play", 2, [.null, .text("yard")], stream: 1)
        let player = try RTMPTestClient(to: yard.server.port)
        player.send(bytes.bytes)
        #expect(player.statuses().last?.code == "NetStream.Play.Failed")
        let reasons: [RTMPPublisherEnd] = [.violation(.notRTMP(firstByte: 0x16)), .askedToPlay]
        let told: [RTMPServerNews] = reasons.map {
            .ended(camera: "", device: nil, host: "127.0.0.1", program: "", end: $0, count: 1)
        }
        #expect(yard.news.withLock { $0 } == told)
    }

    @Test func `A client that says nothing, or does not ask, is closed`() async throws {
        let yard = try await PublishedYard { limits in
            limits.handshakeTimeout = .seconds(1)
            limits.closingTimeout = .milliseconds(50)
        }
        defer { yard.stop() }
        let silent = try RTMPTestClient(to: yard.server.port)
        #expect(silent.statuses().isEmpty)
        // Long enough for the client to get through the handshake, on a machine that is busy with other tests.
        let patient = try await PublishedYard { limits in
            limits.publishTimeout = .seconds(5)
            limits.closingTimeout = .milliseconds(50)
        }
        defer { patient.stop() }
        let idle = try RTMPTestClient(to: patient.server.port)
        var bytes = RTMPPublisherBytes()
        bytes.connect(to: "live")
        idle.send(bytes.bytes)
        #expect(idle.statuses().last?.words == RTMPPublisherEnd.tooLate.words)
    }

    @Test func `A publisher that sends nothing more is ended`() async throws {
        let yard = try await PublishedYard { $0.silenceTimeout = .seconds(1) }
        defer { yard.stop() }
        let client = try RTMPTestClient(to: yard.server.port)
        client.send(RTMPPublisherBytes.asking().bytes + RTMPPublisherBytes.media())
        #expect(client.statuses().last?.words == RTMPPublisherEnd.silent.words)
        #expect(await yard.waits(after: .silent))
    }

    @Test func `A stream of nothing but codecs that are not supported is refused by their names`() async throws {
        let yard = try await PublishedYard { $0.silenceTimeout = .seconds(1) }
        defer { yard.stop() }
        var media = RTMPPublisherBytes(handshake: false)
        media.message(9, [0x12, 0, 0, 0, 0, 1])
        media.message(8, [0xB2, 0, 0])
        let client = try RTMPTestClient(to: yard.server.port)
        client.send(RTMPPublisherBytes.asking().bytes + media.bytes)
        let words = client.statuses().last?.words ?? ""
        let parts: [UnsupportedPart] = [.numberedCodec(.video, 2), .codec(.speex)]
        #expect(words == RTMPPublisherEnd.unusable(parts).words)
        // The encoder tries again. The log has all of that already.
        let again = try RTMPTestClient(to: yard.server.port)
        again.send(RTMPPublisherBytes.asking().bytes + media.bytes)
        #expect(again.statuses().last?.words == words)
        // The log had the codecs before the end, for somebody who stops the encoder at once.
        let told = yard.news.withLock { $0 }.count { $0 == .leftOut(device: "yard", parts: parts) }
        #expect(told == 1 && yard.reportedEnds == [words])
    }

    @Test func `An encoder that fails again and again is reported once in a while`() async throws {
        let yard = try await PublishedYard { $0.closingTimeout = .milliseconds(50) }
        defer { yard.stop() }
        yard.mayPublish.withLock { $0 = false }
        let forbidden = SignallingError.mayNotPublish(device: "yard").words
        for _ in 0..<5 {
            let client = try RTMPTestClient(to: yard.server.port)
            client.send(RTMPPublisherBytes.asking().bytes + RTMPPublisherBytes.media())
            #expect(client.statuses().last?.words == forbidden)
        }
        #expect(yard.reportedEnds == [forbidden])
        // Another reason is reported at once.
        yard.mayPublish.withLock { $0 = true }
        let client = try RTMPTestClient(to: yard.server.port)
        client.send(RTMPPublisherBytes.asking().bytes + RTMPPublisherBytes.media())
        #expect(await yard.reaches(.flowing))
        await yard.signalling.remove("yard")
        let removed = client.statuses().last?.words ?? ""
        #expect(removed != forbidden && yard.reportedEnds == [forbidden, removed])
    }

    @Test func `A client that is refused again and again is reported once in a while`() async throws {
        let yard = try await PublishedYard { $0.closingTimeout = .milliseconds(50) }
        defer { yard.stop() }
        let words = PublisherRefusal.unknownCamera("attic").words
        for _ in 0..<3 {
            let client = try RTMPTestClient(to: yard.server.port)
            client.send(RTMPPublisherBytes.asking("attic?token=right").bytes)
            #expect(client.statuses().last?.words == words)
        }
        #expect(yard.reportedEnds == [words])
        // Many names cost a bounded number of reports, and hide nothing of a publisher with a token.
        for number in 0..<20 {
            let client = try RTMPTestClient(to: yard.server.port)
            client.send(RTMPPublisherBytes.asking("attic\(number)?token=right").bytes)
            #expect(client.statuses().last?.code == "NetStream.Publish.Denied")
        }
        #expect(yard.reportedEnds.count == 16)
        yard.mayPublish.withLock { $0 = false }
        let publisher = try RTMPTestClient(to: yard.server.port)
        publisher.send(RTMPPublisherBytes.asking().bytes + RTMPPublisherBytes.media())
        let forbidden = SignallingError.mayNotPublish(device: "yard").words
        #expect(publisher.statuses().last?.words == forbidden)
        #expect(yard.reportedEnds.count == 17 && yard.reportedEnds.last == forbidden)
    }

    @Test func `What is not RTMP ends its connection and no other`() async throws {
        let yard = try await PublishedYard { $0.closingTimeout = .milliseconds(50) }
        defer { yard.stop() }
        let publisher = try RTMPTestClient(to: yard.server.port)
        publisher.send(RTMPPublisherBytes.asking().bytes + RTMPPublisherBytes.media())
        #expect(await yard.reaches(.flowing))
        let hostile: [[UInt8]] = [
            Array("GET / HTTP/1.1\r\n\r\n".utf8), [0x16, 3, 1, 2, 0],
            RTMPPublisherBytes.handshake + [UInt8](repeating: 0xFF, count: 5_000),
            RTMPPublisherBytes.handshake + [UInt8](repeating: 0, count: 100_000),
        ]
        for bytes in hostile {
            let client = try RTMPTestClient(to: yard.server.port)
            client.send(bytes)
            client.finish()
            #expect(!client.statuses().contains { $0.code == "NetStream.Publish.Start" })
        }
        let counters = await yard.server.counters()
        #expect(counters.publishers == 1 && yard.station.snapshot.state == .flowing)
    }

    @Test func `Beyond the limit of a host its oldest connection without a token is closed`() async throws {
        let yard = try await PublishedYard { $0.maximumConnectionsPerHost = 2 }
        defer { yard.stop() }
        let publisher = try RTMPTestClient(to: yard.server.port)
        publisher.send(RTMPPublisherBytes.asking().bytes)
        #expect(await yard.hasPublisher())
        let strangers = try (0..<3).map { _ in try RTMPTestClient(to: yard.server.port) }
        // The first one reads the end; the server holds the other two, and the publisher.
        #expect(strangers[0].statuses().isEmpty)
        let counters = await yard.server.counters()
        #expect(counters.connectionsRefused == 1 && counters.connections == 3)
        #expect(yard.news.withLock { $0 } == [.refusedConnection(host: "127.0.0.1", total: 1)])
        // Each is closed when nothing refers to it any more.
        withExtendedLifetime((publisher, strangers)) {}
    }

    @Test func `Somebody with a token who publishes nothing gives way in a full server`() async throws {
        let yard = try await PublishedYard { $0.maximumConnections = 2 }
        defer { yard.stop() }
        let publisher = try RTMPTestClient(to: yard.server.port)
        publisher.send(RTMPPublisherBytes.asking().bytes + RTMPPublisherBytes.media())
        #expect(await yard.reaches(.flowing))
        let idle = try RTMPTestClient(to: yard.server.port)
        idle.send(RTMPPublisherBytes.asking().bytes)
        let isAdmitted = await eventually { await yard.server.counters().publishers == 2 }
        #expect(isAdmitted)
        let newcomer = try RTMPTestClient(to: yard.server.port)
        newcomer.send(RTMPPublisherBytes.asking("yard").bytes)
        #expect(newcomer.statuses().last?.code == "NetStream.Publish.Denied")
        // This reads to the end of the connection.
        _ = idle.statuses()
        let counters = await yard.server.counters()
        #expect(counters.connectionsRefused == 1 && counters.publishers == 1)
        #expect(yard.station.snapshot.state == .flowing)
    }

    @Test func `A port that is in use is said to be`() async throws {
        let yard = try await PublishedYard()
        defer { yard.stop() }
        let configuration = try #require(RTMPServerConfiguration(host: "127.0.0.1", port: yard.server.port))
        let gate = PublishingGate(yard.signalling.services.publishing) { _, _ in true }
        let admission = PublisherAdmission { _, _ in .failure(.noToken) }
        let error = #expect(throws: SystemCallError.self) {
            try RTMPServer(configuration, gate: gate, admission: admission)
        }
        #expect(error.map { "\($0)" }?.contains("choose another rtmp.port") == true)
        #expect(RTMPServerConfiguration(host: "everywhere", port: 1) == nil)
    }
}
