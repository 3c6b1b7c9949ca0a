import Cameras
import MediaRelay
import SDP
import StationFakes
import Testing
import Transport

@testable import Signalling
@testable import Stations

/// A service with a camera that is published, and servers of other protocols than WebRTC.
private struct StreamWorld {
    let world: ServiceWorld
    let station: CameraStation
    let gate: PublishingGate
    /// Whether the principals may publish.
    let mayPublish = Locked(true)
    /// What was reported to the servers, with the stream's name.
    let told = Locked<[String]>([])

    init() async throws {
        world = try await ServiceWorld()
        station = CameraStation(id: "phone", source: PublishedSource(), relay: world.relay)
        await world.signalling.add(station)
        station.start()
        let mayPublish = mayPublish
        gate = PublishingGate(world.publishing) { _, _ in mayPublish.withLock { $0 } }
    }

    static let tracks = [TrackDescription(kind: .video, codec: .vp8, payloadType: 96)]

    func start(
        _ name: String, device: String = "phone", principal: String = "owner", protocolName: String = "RTSP",
        requestKeyFrame: @escaping @Sendable (Int) -> Void = { _ in }
    ) async throws -> StartedPublication {
        let told = told
        return try await gate.start(
            PublishedStream(
                deviceID: device, principal: principal, protocolName: protocolName, tracks: Self.tracks),
            requestKeyFrame: requestKeyFrame
        ) { end in told.withLock { $0.append("\(name): \(end)") } }
    }

    var toldNow: [String] { told.withLock { $0 } }

    func offer() async throws -> StartLiveViewResponse {
        let text = try ServiceWorld.text("offers/chromium-sendonly-publish-av.offer.sdp")
        return try await world.publishing.startPublishing(
            StartLiveViewRequest(deviceID: "phone", principal: "owner", offerSdp: text))
    }

    /// What was announced about publishers.
    var announced: [String] {
        world.announcements.all.compactMap { change in
            switch change {
            case .publisherStarted(_, let device, let principal, let protocolName):
                "\(principal) publishes to \(device) by \(protocolName)"
            case .publisherEnded(_, let device, let end): "\(device): \(end)"
            default: nil
            }
        }
    }

    /// A key frame of VP8 in one packet.
    static func send(_ number: UInt8, to publication: Publication) {
        var packet: [UInt8] = [0x80, 0x80 | 96, 0, number, 0, 0, number, 0, 0, 0, 0, 7]
        packet += [0x10, 0x10, 0x02, 0x00, 0x9D, 0x01, 0x2A, 0x40, 0x01, 0xB4, 0x00, 0, 0, 0, 0, 0]
        packet.withUnsafeBytes { publication.receive($0, track: 0, at: Instant(nanoseconds: 1_000_000_000)) }
    }
}

/// Publishers whose packets a server of their protocol takes.
@Suite(.ownThread) struct PublishedStreamTests {
    @Test func `a stream becomes the camera, and its own end is not reported to it`() async throws {
        let streams = try await StreamWorld()
        let asked = Locked<[Int]>([])
        let started = try await streams.start("one") { track in asked.withLock { $0.append(track) } }
        #expect(streams.station.snapshot.state == .connecting)
        #expect(streams.station.snapshot.tracks.map(\.codec.name) == ["VP8"])
        StreamWorld.send(1, to: started.publication)
        #expect(streams.station.snapshot.state == .flowing)
        streams.station.source.requestKeyFrame(track: 0)
        #expect(asked.withLock { $0 } == [0])
        await streams.gate.end(started.sessionID, because: .silent)
        #expect(
            streams.station.snapshot.state == .backingOff(seconds: 0, reason: .noPublisher(after: .silent)))
        await streams.gate.end(started.sessionID, because: .stopped)
        #expect(streams.toldNow.isEmpty)
        #expect(streams.announced == ["owner publishes to phone by RTSP", "phone: silent"])
    }

    @Test func `publishers of all protocols replace one another, and the one before is informed once`() async throws {
        let streams = try await StreamWorld()
        let first = try await streams.start("one")
        let second = try await streams.start("two", protocolName: "RTMP")
        #expect(streams.toldNow == ["one: replaced"])
        // Too late: it is the camera no more.
        await streams.gate.end(first.sessionID, because: .stopped)
        #expect(streams.station.snapshot.state == .connecting)
        streams.world.clock.advance(by: PublisherStarts.takeoverInterval)
        let view = try await streams.offer()
        #expect(streams.toldNow == ["one: replaced", "two: replaced"])
        #expect(await streams.world.relay.counters().publishers == 1)
        await streams.gate.end(second.sessionID, because: .stopped)
        #expect(streams.station.snapshot.tracks.map(\.codec.name) == ["VP8", "opus"])
        streams.world.clock.advance(by: PublisherStarts.takeoverInterval)
        _ = try await streams.start("three")
        #expect(await streams.world.relay.counters().publishers == 0)
        #expect(streams.toldNow.count == 2)
        // The publisher by WebRTC may say goodbye.
        try await streams.world.publishing.stopPublishing(
            SessionReference(view.mediaSessionId, of: "phone", principal: "owner"))
        #expect(streams.toldNow.count == 2)
        #expect(
            streams.announced == [
                "owner publishes to phone by RTSP", "phone: replaced", "owner publishes to phone by RTMP",
                "phone: replaced", "owner publishes to phone by WHIP", "phone: replaced",
                "owner publishes to phone by RTSP",
            ])
    }

    @Test func `publishers replace one another once a second at most, whatever their protocols`() async throws {
        let streams = try await StreamWorld()
        _ = try await streams.start("one", protocolName: "RTMP")
        // The first one that comes back after a lost connection does not wait.
        _ = try await streams.start("two")
        streams.world.clock.advance(by: .milliseconds(400))
        let tooSoon = SignallingError.publishersChangeTooOften(device: "phone", wait: .milliseconds(600))
        let byServer = await failure { _ = try await streams.start("three", protocolName: "RTMP") }
        let byWebRTC = await failure { _ = try await streams.offer() }
        #expect(byServer == tooSoon && byWebRTC == tooSoon)
        // The camera keeps its publisher.
        #expect(streams.toldNow == ["one: replaced"])
        #expect(await streams.world.relay.counters().publishers == 0)
        streams.world.clock.advance(by: .milliseconds(600))
        _ = try await streams.offer()
        #expect(streams.toldNow == ["one: replaced", "two: replaced"])
        let again = await failure { _ = try await streams.start("four") }
        #expect(again == .publishersChangeTooOften(device: "phone", wait: .seconds(1)))
        #expect(await streams.world.relay.counters().publishers == 1)
    }

    @Test func `a publisher that comes when the one before has ended takes nobody's place`() async throws {
        let streams = try await StreamWorld()
        _ = try await streams.start("one")
        var last = try await streams.start("two")
        for name in ["three", "four", "five"] {
            await streams.gate.end(last.sessionID, because: .stopped)
            last = try await streams.start(name)
        }
        #expect(streams.toldNow == ["one: replaced"])
        let refused = await failure { _ = try await streams.start("six") }
        #expect(refused == .publishersChangeTooOften(device: "phone", wait: .seconds(1)))
    }

    @Test func `a publisher that begins and ends again and again waits after ten times`() async throws {
        let streams = try await StreamWorld()
        for _ in 0..<10 {
            let started = try await streams.start("one", protocolName: "RTMP")
            await streams.gate.end(started.sessionID, because: .stopped)
        }
        let tooOften = SignallingError.publishersChangeTooOften(device: "phone", wait: .seconds(10))
        let byServer = await failure { _ = try await streams.start("one", protocolName: "RTMP") }
        let byWebRTC = await failure { _ = try await streams.offer() }
        #expect(byServer == tooOften && byWebRTC == tooOften)
        streams.world.clock.advance(by: .seconds(10))
        _ = try await streams.offer()
    }

    @Test func `who lost the right is ended, and others stay`() async throws {
        let streams = try await StreamWorld()
        _ = try await streams.start("one", principal: "encoder")
        await streams.world.publishing.endPublishers(of: "other") { _ in false }
        await streams.world.publishing.endPublishers(of: "encoder") { $0 == "phone" }
        #expect(streams.toldNow.isEmpty)
        await streams.world.publishing.endPublishers(of: "encoder") { $0 == "door" }
        #expect(streams.toldNow == ["one: accessEnded"])
        #expect(
            streams.station.snapshot.state == .backingOff(seconds: 0, reason: .noPublisher(after: .accessEnded)))
    }

    @Test func `the right is needed at the beginning, and still when it has begun`() async throws {
        let streams = try await StreamWorld()
        streams.mayPublish.withLock { $0 = false }
        #expect(await failure { _ = try await streams.start("one") } == .mayNotPublish(device: "phone"))
        #expect(streams.announced.isEmpty)
        // It goes while the publisher begins.
        let asked = Locked(0)
        let gate = PublishingGate(streams.world.publishing) { _, _ in
            asked.withLock { count in
                count += 1
                return count == 1
            }
        }
        let stream = PublishedStream(
            deviceID: "phone", principal: "owner", protocolName: "RTSP", tracks: StreamWorld.tracks)
        let refused = await failure { _ = try await gate.start(stream, requestKeyFrame: { _ in }, ended: { _ in }) }
        #expect(refused == .mayNotPublish(device: "phone"))
        #expect(streams.announced == ["owner publishes to phone by RTSP", "phone: accessEnded"])
    }

    @Test func `a camera that is pulled or gone takes no stream, and one that goes ends it`() async throws {
        let streams = try await StreamWorld()
        #expect(
            await failure { _ = try await streams.start("one", device: "door") } == .takesNoPublisher(device: "door"))
        #expect(await failure { _ = try await streams.start("one", device: "attic") } == .unknownDevice("attic"))
        _ = try await streams.start("one")
        await streams.world.signalling.remove("phone")
        #expect(streams.toldNow == ["one: \(PublisherEnd.cameraGone(.removed))"])
        let others = try await StreamWorld()
        _ = try await others.start("two")
        await others.world.signalling.endAll()
        #expect(others.toldNow == ["two: shuttingDown"])
        others.station.stop()
        #expect(await failure { _ = try await others.start("three") } == .stopped(device: "phone"))
    }

    @Test func `a source that is stopped ends its stream`() async throws {
        let streams = try await StreamWorld()
        _ = try await streams.start("one")
        streams.station.stop()
        #expect(await eventually { streams.toldNow == ["one: sourceStopped"] })
    }

    @Test func `what only WebRTC has is unknown of a stream`() async throws {
        let streams = try await StreamWorld()
        let session = try await streams.start("one").sessionID
        let fragment = "a=ice-ufrag:other\r\na=ice-pwd:0123456789abcdefghijklmn\r\n"
        let refused = await failure {
            _ = try await streams.world.publishing.tricklePublisher(
                fragment, SessionReference(session, of: "phone", principal: "owner"))
        }
        #expect(refused == .unknownSession)
        try await streams.world.publishing.stopPublishing(
            SessionReference(session, of: "phone", principal: "owner"))
        #expect(streams.toldNow == ["one: stopped"])
    }
}
