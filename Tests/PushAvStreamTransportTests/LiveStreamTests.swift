import Cameras
import DatagramPort
import MediaRelay
import SDP
import StationFakes
import Stations
import Testing
import Transport

@testable import PushAvStreamTransport

/// A live stream of the built-in camera, on a real relay.
@Suite(.ownThread, .timeLimit(.minutes(10))) struct LiveStreamTests {
    private struct House {
        let relay: MediaRelay
        let station: CameraStation
        let streams: LiveStreams

        init() async throws {
            relay = try MediaRelay(ports: UDPPortGroup(.loopback(), count: 2))
            station = CameraStation(
                id: "door", source: BuiltInCamera(BuiltInCamera.Configuration(name: "Door")), relay: relay,
                configuration: CameraStation.Configuration(),
                outputs: OutputPermits(camera: "door", patience: .seconds(120)))
            streams = LiveStreams(relay: relay)
            await streams.add(station)
            station.start()
        }
    }

    /// The header and some chunks, as a viewer gets them.
    private static func watch(
        _ subscription: LiveSubscription, chunks count: Int
    ) async throws -> (description: LiveDescription, chunks: [LiveChunk]) {
        var description: LiveDescription?
        var chunks: [LiveChunk] = []
        while chunks.count < count, let event = try await subscription.next() {
            switch event {
            case .began(let new): (description, chunks) = (new, [])
            case .chunks(let more): chunks += more
            case .silence: break
            }
        }
        return (try #require(description), chunks)
    }

    @Test func `viewers share one stream, and each begins with a key frame`() async throws {
        let house = try await House()
        defer { house.relay.stop() }
        let first = try house.streams.watch(house.station, owner: "first")
        let (description, chunks) = try await Self.watch(first, chunks: 40)
        #expect(description.mediaType == "video/mp4; codecs=\"vp08.00.10.08, opus\"")
        #expect(chunks[0].canBegin && chunks[0].track == 0)
        #expect(Set(chunks.map(\.track)) == [0, 1])
        let second = try house.streams.watch(house.station, owner: "second")
        #expect(house.streams.count == 1)
        let (same, joined) = try await Self.watch(second, chunks: 10)
        #expect(same == description)
        #expect(joined[0].canBegin && joined[0].track == 0)
        for track in 0..<2 {
            let times = joined.filter { $0.track == track }.map(\.decodeTime)
            #expect(times == times.sorted() && Set(times).count == times.count)
        }
        guard Player.isInstalled else { return }
        let file = description.header + chunks.flatMap(\.bytes)
        #expect(try Player.complaints(about: file) == "")
        first.finish()
        #expect(house.streams.count == 1)
        second.finish()
        #expect(house.streams.count == 0)
    }

    @Test func `a stream that nobody keeps ends`() async throws {
        let house = try await House()
        defer { house.relay.stop() }
        do {
            let subscription = try house.streams.watch(house.station, hasSound: false, owner: "one")
            let (description, _) = try await Self.watch(subscription, chunks: 1)
            #expect(description.tracks.map(\.isVideo) == [true])
        }
        #expect(await eventually { house.streams.count == 0 })
    }

    @Test func `switching the camera off ends it, and returns when its viewer has stopped`() async throws {
        let house = try await House()
        defer { house.relay.stop() }
        let subscription = try house.streams.watch(house.station, owner: "viewer")
        _ = try await Self.watch(subscription, chunks: 3)
        let off = Task { await house.station.setOutputs(OutputPolicy(isOn: false)) }
        await #expect(throws: StationError.refused(camera: "door", .off)) {
            while try await subscription.next() != nil {}
        }
        #expect(throws: StationError.self) { try subscription.check() }
        subscription.finish()
        await off.value
        #expect(throws: StationError.refused(camera: "door", .off)) {
            try house.streams.watch(house.station, owner: "late")
        }
        await house.station.setOutputs(OutputPolicy())
        let again = try house.streams.watch(house.station, owner: "again")
        _ = try await Self.watch(again, chunks: 3)
        again.finish()
    }

    @Test(arguments: [true, false])
    func `a camera that goes or restarts ends its viewers`(returns: Bool) async throws {
        let house = try await House()
        defer { house.relay.stop() }
        let viewers = try ["first", "second"].map { try house.streams.watch(house.station, owner: $0) }
        let small = try house.streams.watch(house.station, hasSound: false, owner: "third")
        _ = try await Self.watch(viewers[0], chunks: 3)
        #expect(house.streams.count == 2)
        await house.streams.remove("door", because: returns ? .restarting : .removed)
        // As the registry does it. Nothing more would come.
        house.station.stop()
        for viewer in viewers + [small] {
            while try await viewer.next() != nil {}
            viewer.finish()
        }
        #expect(house.streams.count == 0)
        // Somebody who has asked for the camera just before.
        let late = try house.streams.watch(house.station, owner: "late")
        #expect(try await late.next() == nil)
        late.finish()
        #expect(await eventually { house.station.outputs.count == 0 && house.station.snapshot.heldFor.isEmpty })
        guard returns else { return }
        let station = CameraStation(
            id: "door", source: BuiltInCamera(BuiltInCamera.Configuration(name: "Door")), relay: house.relay)
        await house.streams.add(station)
        station.start()
        defer { station.stop() }
        let again = try house.streams.watch(station, owner: "again")
        _ = try await Self.watch(again, chunks: 3)
        again.finish()
    }

    @Test func `both streams of a camera end when it goes, and those of others do not`() async throws {
        let house = try await House()
        defer { house.relay.stop() }
        let camera = FakeCamera()
        let gate = CameraStation(
            id: "gate", source: camera, relay: house.relay,
            outputs: OutputPermits(camera: "gate", patience: .seconds(120)))
        await house.streams.add(gate)
        gate.start()
        camera.reportTracks([.vp8, .vp8]) { $0[1].stream = .sub }
        let viewers = try [CameraStream.main, .sub].map { try house.streams.watch(gate, stream: $0, owner: "viewer") }
        let other = try house.streams.watch(house.station, owner: "viewer")
        #expect(house.streams.count == 3)
        await house.streams.remove("gate", because: .removed)
        gate.stop()
        for viewer in viewers {
            while try await viewer.next() != nil {}
            viewer.finish()
        }
        #expect(house.streams.count == 1)
        #expect(await eventually { gate.outputs.count == 0 && gate.snapshot.heldFor.isEmpty })
        _ = try await Self.watch(other, chunks: 3)
        other.finish()
        #expect(house.streams.count == 0)
    }

    private static func chunk(_ number: Int, canBegin: Bool = false, bytes: Int = 100) -> LiveChunk {
        LiveChunk(
            track: 0, canBegin: canBegin, decodeTime: Int64(number), duration: 1,
            bytes: [UInt8](repeating: 0, count: bytes))
    }

    private static let description = LiveDescription(tracks: [], header: [1], number: 1)

    @Test func `what a slow viewer does not take is left out up to the next key frame`() async throws {
        let subscription = LiveSubscription {}
        subscription.begin(Self.description)
        subscription.add(Self.chunk(0, canBegin: true))
        let large = LiveSubscription.largestBacklog / 2
        subscription.add(Self.chunk(1, bytes: large))
        subscription.add(Self.chunk(2, bytes: large))
        subscription.add(Self.chunk(3))
        subscription.add(Self.chunk(4, canBegin: true))
        subscription.add(Self.chunk(5))
        #expect(try await subscription.next() == .began(Self.description))
        #expect(
            try await subscription.next() == .chunks([Self.chunk(4, canBegin: true), Self.chunk(5)]))
        #expect(subscription.dropped == 4)
    }

    @Test func `a viewer that joins between key frames waits for one`() async throws {
        let subscription = LiveSubscription {}
        subscription.begin(Self.description)
        subscription.add(Self.chunk(7))
        subscription.add(Self.chunk(8, canBegin: true))
        #expect(try await subscription.next() == .began(Self.description))
        #expect(try await subscription.next() == .chunks([Self.chunk(8, canBegin: true)]))
    }

    @Test func `a reader hears that nothing has come, and what comes goes first`() async throws {
        let subscription = LiveSubscription {}
        // Something may have come just before the first call.
        subscription.reportSilence()
        subscription.reportSilence()
        #expect(try await subscription.next() == .silence)
        subscription.reportSilence()
        subscription.begin(Self.description)
        #expect(try await subscription.next() == .began(Self.description))
        subscription.reportSilence()
        // It is left out, so the reader has heard nothing.
        subscription.add(Self.chunk(1))
        subscription.reportSilence()
        #expect(try await subscription.next() == .silence)
        subscription.add(Self.chunk(2, canBegin: true))
        #expect(try await subscription.next() == .chunks([Self.chunk(2, canBegin: true)]))
    }

    @Test func `a task that is cancelled stops waiting`() async throws {
        let left = Locked(0)
        let subscription = LiveSubscription { left.withLock { $0 += 1 } }
        let task = Task { try await subscription.next() }
        task.cancel()
        #expect(try await task.value == nil)
        subscription.end()
        subscription.finish()
        #expect(left.withLock { $0 } == 1)
    }
}
