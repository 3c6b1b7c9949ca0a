import Cameras
import DatagramPort
import Dispatch
import HomeTypes
import MediaRelay
import RTP
import SDP
import StationFakes
import Stations
import Testing
import Transport

@testable import PushAvStreamTransport

/// Hands on to another sink, and waits with what comes from one device.
private final class GatedSink: RecordingSink {
    let inner = CollectingSink()
    private let state = Locked<(closedFor: String?, isWaiting: Bool)>((nil, false))
    private let gate = DispatchSemaphore(value: 0)

    /// What comes of a device waits, and so does its thread.
    func close(for device: String) { state.withLock { $0.closedFor = device } }

    /// Goes on.
    func open() {
        state.withLock { $0.closedFor = nil }
        gate.signal()
    }

    /// Whether something waits.
    var isWaiting: Bool { state.withLock { $0.isWaiting } }

    func take(_ output: RecordingOutput, of session: RecordingSession.ID) throws(RecordingFault) {
        let waits = state.withLock { state in
            state.isWaiting = state.closedFor == session.device
            return state.isWaiting
        }
        if waits { gate.wait() }
        try inner.take(output, of: session)
    }
}

/// Recorders of fake cameras on a real relay, with one recording thread.
private final class RecordersWorld: Sendable {
    let relay: MediaRelay
    let sink = GatedSink()
    let recorders: CameraRecorders
    let packets = PacketCounts()
    private let reports = Locked<[String]>([])

    /// - Parameter numbersMore: whether sessions that follow one that was cut get numbers.
    init(numbersMore: Bool = true, destinations: UploadDestinations = UploadDestinations()) throws {
        relay = try MediaRelay(ports: UDPPortGroup(.loopback(), count: 2))
        let reports = reports
        let numbers = Locked<UInt64>(100)
        recorders = CameraRecorders(
            relay: relay, sink: sink, destinations: destinations,
            threads: RecordingThreads(count: 1, gathering: .milliseconds(5)), epoch: { _ in 1 },
            nextNumber: { _, _ in
                guard numbersMore else { return nil }
                return numbers.withLock { number in
                    number += 1
                    return number
                }
            },
            report: { device, report in
                let words: String? =
                    switch report {
                    case .began: "began"
                    case .ended(_, let end): "ended \(end.reason)"
                    case .refused: "refused"
                    case .fault: "fault"
                    case .stopped: "stopped"
                    case .keyFrameInterval: nil
                    }
                if let words { reports.withLock { $0.append("\(device) \(words)") } }
            })
    }

    deinit {
        recorders.stop()
        relay.stop()
    }

    /// Waits until the recorders of these cameras hold them and have tapped their tracks. A fake camera makes no key frame
    /// for a caller that came too late for the last one.
    func isTapped(_ stations: CameraStation...) async -> Bool {
        let areHeld = await eventually {
            stations.allSatisfy { $0.snapshot.heldFor == [.recording] && recorders.taps(of: $0.id) > 0 }
        }
        // The relay's thread adds the taps a moment later. What is handed in before that is as old as it says, and the
        // relay keeps two seconds.
        for station in stations {
            await withCheckedContinuation { continuation in
                relay.removeTap(CountingTap(), from: TrackID(camera: station.id, index: 0)) { continuation.resume() }
            }
        }
        return areHeld
    }

    func count(_ report: String) -> Int { reports.withLock { $0.count { $0 == report } } }

    func station(_ id: String, _ camera: FakeCamera) -> CameraStation {
        let station = CameraStation(
            id: id, source: camera, relay: relay, outputs: OutputPermits(camera: id, patience: .seconds(120)))
        station.start()
        return station
    }

    /// Orders a recording, and counts how often it is said that it has begun.
    func begin(
        _ device: String, _ options: TransportOptions = options(), number: UInt64 = 1, on id: UInt16 = 1,
        of owner: String? = nil, preRoll: Duration = .zero, notBefore: Instant = .zero
    ) -> Locked<Int> {
        let began = Locked(0)
        let connection = TransportConnection(id: id, status: .active, options: options, owner: owner, expiry: nil)
        recorders.begin(
            RecordingOrder(
                device: device, connection: connection, number: number,
                trigger: RecordingSession.Trigger(kind: .command, reason: "a test"), triggeredAt: MonotonicClock.now,
                preRoll: preRoll, notBefore: notBefore)
        ) { began.withLock { $0 += 1 } }
        return began
    }

    /// Streams of a connection, by their ids and names.
    static func options(picture: (UInt16, String)? = (1, "video"), sound: String? = nil) -> TransportOptions {
        var options = OwnConnection(trigger: .continuous).options
        (options.videoStreamID, options.audioStreamID) = (nil, nil)
        options.videoStreams = picture.map { [.init(videoStreamName: $0.1, videoStreamID: $0.0)] }
        options.audioStreams = sound.map { [.init(audioStreamName: $0, audioStreamID: 1)] }
        return options
    }

    func recordings(of device: String) -> [Recording] {
        sink.inner.recordings.filter { $0.session.id.device == device }
    }

    /// Ends the recording, and waits until it has been handed over.
    func end(_ device: String) async -> [Recording] {
        let before = count("\(device) stopped")
        recorders.end(1, of: device, reason: .lengthReached)
        #expect(await eventually { self.count("\(device) stopped") > before })
        return recordings(of: device)
    }
}

extension RecordersWorld: CustomReflectable {
    var customMirror: Mirror { Mirror(self, children: []) }
}

@Suite("The recorders of all cameras", .ownThread) struct CameraRecordersTests {
    /// Twelve pictures that have been captured by now.
    private static func pictures(_ coded: [CodedPictures.Coded]) -> [PacketBatch] {
        let start = MonotonicClock.now - .seconds(3)
        return CodedPictures.batches(coded) { start + .milliseconds(66 * $0) }
    }

    private static func count(_ batches: some Sequence<PacketBatch>) -> Int {
        batches.reduce(0) { $0 + $1.packets.count }
    }

    private static let h264 = MediaCodec(name: "H264", clockRate: 90_000)

    @Test("The last pictures of a camera that goes are handed over, however busy its thread is")
    func busyThread() async throws {
        let world = try RecordersWorld()
        let (door, yard) = (FakeCamera(), FakeCamera())
        let (doorStation, yardStation) = (world.station("door", door), world.station("yard", yard))
        world.recorders.setStations([doorStation, yardStation])
        for camera in [door, yard] { camera.reportTracks([Self.h264]) }
        let began = world.begin("door")
        _ = world.begin("yard")
        #expect(await world.isTapped(doorStation, yardStation))
        let pictures = try Self.pictures(CodedPictures.h264())
        for picture in pictures[..<6] { door.deliver(picture, track: 0) }
        #expect(await eventually { began.withLock { $0 } == 1 })
        world.sink.close(for: "yard")
        for picture in try Self.pictures(CodedPictures.h264()) { yard.deliver(picture, track: 0) }
        #expect(await eventually { world.sink.isWaiting })
        // The thread is busy from here on.
        for picture in pictures[6...] { door.deliver(picture, track: 0) }
        await world.packets.wait(for: Self.count(pictures), of: TrackID(camera: "door", index: 0), on: world.relay)
        world.recorders.setStations([yardStation])
        #expect(await !world.recorders.waitUntilIdle(atMost: .zero))
        world.sink.open()
        #expect(await eventually { world.count("door stopped") == 1 })
        let recording = try #require(world.recordings(of: "door").first)
        #expect(recording.end?.reason == .cameraAway)
        #expect(recording.samples(0).count == CodedPictures.count)
        _ = await world.end("yard")
        #expect(await world.recorders.waitUntilIdle(atMost: .seconds(120)))
        withExtendedLifetime(doorStation) {}
    }

    @Test("A wait for the recorders lasts until the last pictures have been handed over, or until it is cancelled")
    func waitUntilIdle() async throws {
        let world = try RecordersWorld()
        #expect(await world.recorders.waitUntilIdle(atMost: .zero))
        let camera = FakeCamera()
        let station = world.station("door", camera)
        world.recorders.setStations([station])
        camera.reportTracks([Self.h264])
        let began = world.begin("door")
        #expect(await world.isTapped(station))
        for picture in try Self.pictures(CodedPictures.h264()) { camera.deliver(picture, track: 0) }
        #expect(await eventually { began.withLock { $0 } == 1 })
        world.sink.close(for: "door")
        world.recorders.end(1, of: "door", reason: .lengthReached)
        #expect(await eventually { world.sink.isWaiting })
        #expect(await !world.recorders.waitUntilIdle(atMost: .zero))
        let waits = (0..<2).map { _ in
            Task { await world.recorders.waitUntilIdle(atMost: .seconds(3_600)) }
        }
        #expect(await eventually { world.recorders.waits(for: "door") == 2 })
        waits[0].cancel()
        #expect(await !waits[0].value)
        world.sink.open()
        #expect(await waits[1].value)
        #expect(world.recordings(of: "door").map(\.end?.reason) == [.lengthReached])
        withExtendedLifetime(station) {}
    }

    @Test("Other options of a connection do not cut off the end of the recording before")
    func otherOptions() async throws {
        let world = try RecordersWorld()
        let (door, yard) = (FakeCamera(), FakeCamera())
        let (doorStation, yardStation) = (world.station("door", door), world.station("yard", yard))
        world.recorders.setStations([doorStation, yardStation])
        for camera in [door, yard] { camera.reportTracks([Self.h264]) }
        let first = world.begin("door")
        _ = world.begin("yard")
        #expect(await world.isTapped(doorStation, yardStation))
        let pictures = try Self.pictures(CodedPictures.h264())
        for picture in pictures[..<6] { door.deliver(picture, track: 0) }
        #expect(await eventually { first.withLock { $0 } == 1 })
        world.sink.close(for: "yard")
        for picture in try Self.pictures(CodedPictures.h264()) { yard.deliver(picture, track: 0) }
        #expect(await eventually { world.sink.isWaiting })
        for picture in pictures[6...] { door.deliver(picture, track: 0) }
        await world.packets.wait(for: Self.count(pictures), of: TrackID(camera: "door", index: 0), on: world.relay)
        world.recorders.end(1, of: "door", reason: .cut)
        let second = world.begin("door", RecordersWorld.options(picture: (1, "main")), number: 2)
        world.sink.open()
        #expect(await eventually { second.withLock { $0 } == 1 })
        _ = await world.end("yard")
        let recordings = await world.end("door")
        #expect(recordings.map(\.session.number) == [1, 2])
        #expect(recordings.map { $0.session.tracks.map(\.name) } == [["video"], ["main"]])
        #expect(recordings.first?.end?.reason == .cut)
        #expect(recordings.first?.samples(0).count == CodedPictures.count)
        withExtendedLifetime((doorStation, yardStation)) {}
    }

    @Test("A connection with sound alone records no picture")
    func soundAlone() async throws {
        let world = try RecordersWorld()
        let camera = FakeCamera()
        let station = world.station("door", camera)
        world.recorders.setStations([station])
        camera.reportTracks([Self.h264, .linear])
        let began = world.begin("door", RecordersWorld.options(picture: nil, sound: "hall"))
        #expect(await world.isTapped(station))
        let start = MonotonicClock.now - .seconds(3)
        let pictures = try Self.pictures(CodedPictures.h264())
        for (number, picture) in pictures.enumerated() {
            camera.deliver(picture, track: 0)
            for piece in number * 4..<number * 4 + 4 {
                camera.sendSound(number: UInt16(piece), track: 1, at: start + .milliseconds(20 * piece))
            }
        }
        #expect(await eventually { began.withLock { $0 } == 1 })
        let recordings = await world.end("door")
        #expect(recordings.map { $0.session.tracks.map(\.name) } == [["hall"]])
        #expect(recordings.flatMap(\.session.tracks).allSatisfy { !$0.isVideo })
        // Where the camera has no sound, nothing takes its place.
        camera.reportTracks([Self.h264])
        _ = world.begin("door", RecordersWorld.options(picture: nil, sound: "hall"), number: 2)
        #expect(await eventually { station.snapshot.heldFor == [.recording] })
        for picture in try Self.pictures(CodedPictures.h264()) { camera.deliver(picture, track: 0) }
        await world.packets.wait(for: Self.count(pictures), of: TrackID(camera: "door", index: 0), on: world.relay)
        #expect(await world.end("door").count == 1)
    }

    @Test(
        "A connection records the picture that it names, under its name, without sound", arguments: [1, 2] as [UInt16])
    func namedPicture(_ id: UInt16) async throws {
        let world = try RecordersWorld()
        let camera = FakeCamera()
        let station = world.station("door", camera)
        world.recorders.setStations([station])
        camera.reportTracks([Self.h264, .h265, .linear]) { $0[1].stream = .sub }
        let began = world.begin("door", RecordersWorld.options(picture: (id, "cam.1")))
        #expect(await world.isTapped(station))
        for picture in try Self.pictures(CodedPictures.h264()) { camera.deliver(picture, track: 0) }
        for picture in try Self.pictures(CodedPictures.h265()) { camera.deliver(picture, track: 1) }
        #expect(await eventually { began.withLock { $0 } == 1 })
        let recordings = await world.end("door")
        let tracks = recordings.flatMap(\.session.tracks)
        #expect(tracks.map(\.name) == ["cam.1"])
        #expect(tracks.map { String($0.codec.prefix(4)) } == [id == 1 ? "avc1" : "hvc1"])
    }

    @Test("A recording that was ordered before its camera came has its number, and says once that it has begun")
    func beforeTheCamera() async throws {
        let world = try RecordersWorld()
        let camera = FakeCamera()
        let began = world.begin("door", number: 7)
        #expect(await world.recorders.waitUntilIdle(atMost: .zero))
        let station = world.station("door", camera)
        world.recorders.setStations([station])
        camera.reportTracks([Self.h264])
        #expect(await world.isTapped(station))
        #expect(began.withLock { $0 } == 0)
        for picture in try Self.pictures(CodedPictures.h264()) { camera.deliver(picture, track: 0) }
        #expect(await eventually { began.withLock { $0 } == 1 })
        // Other pictures begin another session, with the next number.
        camera.reportTracks([.h265])
        let start = MonotonicClock.now
        for picture in CodedPictures.batches(try CodedPictures.h265(), arrival: { start + .milliseconds($0) }) {
            camera.deliver(picture, track: 0)
        }
        #expect(await eventually { world.count("door began") == 2 })
        let recordings = await world.end("door")
        #expect(recordings.map(\.session.number) == [7, 101])
        #expect(began.withLock { $0 } == 1)
    }

    @Test("A recording that is refused says nothing, and begins with its number when the camera is on")
    func refused() async throws {
        let world = try RecordersWorld()
        let camera = FakeCamera()
        let station = world.station("door", camera)
        await station.setOutputs(OutputPolicy(isOn: false))
        world.recorders.setStations([station])
        let began = world.begin("door", number: 7)
        #expect(await eventually { world.count("door refused") == 1 })
        #expect(began.withLock { $0 } == 0)
        // The station stops and starts the camera on its own queue, and a fake one that is stopped tells nobody of tracks.
        #expect(await eventually { camera.runs.stops == 1 })
        await station.setOutputs(OutputPolicy())
        #expect(await eventually { camera.runs.starts == 2 })
        world.recorders.resume("door")
        camera.reportTracks([Self.h264])
        #expect(await world.isTapped(station))
        for picture in try Self.pictures(CodedPictures.h264()) { camera.deliver(picture, track: 0) }
        #expect(await eventually { began.withLock { $0 } == 1 })
        #expect(await world.end("door").map(\.session.number) == [7])
    }

    @Test(
        "A connection for live views is refused by the privacy of live views, and not by that of recordings",
        arguments: [true, false])
    func usage(_ isLiveView: Bool) async throws {
        let world = try RecordersWorld()
        let camera = FakeCamera()
        let station = world.station("door", camera)
        world.recorders.setStations([station])
        await station.setOutputs(
            OutputPolicy(softRecordingPrivacy: isLiveView, softLivestreamPrivacy: !isLiveView))
        camera.reportTracks([Self.h264])
        var options = RecordersWorld.options()
        options.streamUsage = isLiveView ? .liveView : .recording
        let began = world.begin("door", options)
        #expect(await world.isTapped(station))
        for picture in try Self.pictures(CodedPictures.h264()) { camera.deliver(picture, track: 0) }
        #expect(await eventually { began.withLock { $0 } == 1 })
        await station.setOutputs(OutputPolicy(hardPrivacy: true))
        #expect(world.recordings(of: "door").map(\.end?.reason) == [.privacy])
    }

    @Test("A session that follows after its connection was deallocated takes the place of no other one")
    func withoutNumber() async throws {
        let world = try RecordersWorld(numbersMore: false)
        let camera = FakeCamera()
        let station = world.station("door", camera)
        world.recorders.setStations([station])
        camera.reportTracks([Self.h264])
        _ = world.begin("door", number: 7)
        #expect(await world.isTapped(station))
        for picture in try Self.pictures(CodedPictures.h264()) { camera.deliver(picture, track: 0) }
        #expect(await eventually { world.count("door began") == 1 })
        camera.reportTracks([.h265])
        let start = MonotonicClock.now
        for picture in CodedPictures.batches(try CodedPictures.h265(), arrival: { start + .milliseconds($0) }) {
            camera.deliver(picture, track: 0)
        }
        #expect(await eventually { world.count("door began") == 2 })
        let recordings = await world.end("door")
        #expect(recordings.map(\.session.number) == [7, UInt64(recordings.last?.session.id.start ?? 0)])
    }

    @Test("Nothing stays of connections that were deallocated")
    func deallocated() async throws {
        let destinations = UploadDestinations()
        let world = try RecordersWorld(destinations: destinations)
        let camera = FakeCamera()
        let station = world.station("door", camera)
        world.recorders.setStations([station])
        var options = RecordersWorld.options()
        (options.tlsEndpointID, options.url) = (1, "https://ingest.example/in/")
        for id in 2...5 as ClosedRange<UInt16> {
            let session = RecordingSession(
                id: .init(device: "door", start: 0, epoch: 1, sequence: 1), connection: id, number: 1,
                trigger: .init(kind: .command, reason: "a test"), triggeredAt: 0, tracks: [])
            world.recorders.setPreRoll(.seconds(2), of: id, of: "door")
            _ = world.begin("door", options, number: UInt64(id), on: id)
            #expect(await eventually { station.snapshot.heldFor.contains(.recording) })
            #expect(destinations.destination(of: session) != nil)
            // Some end while they record, and the others afterwards.
            world.recorders.end(id, of: "door", reason: id == 2 ? .lengthReached : .removed)
            if id == 2 { #expect(await eventually { world.count("door stopped") == 1 }) }
            world.recorders.setPreRoll(nil, of: id, of: "door")
            #expect(await eventually { world.recorders.remembered == 0 })
            #expect(await eventually { destinations.destination(of: session) == nil })
            #expect(await eventually { station.snapshot.heldFor.isEmpty })
        }
    }

    @Test("What was ordered before a connection ended with its right is not uploaded, and nothing stays of the end")
    func endedWithTheirRight() async throws {
        let destinations = UploadDestinations()
        let world = try RecordersWorld(destinations: destinations)
        var options = RecordersWorld.options()
        (options.tlsEndpointID, options.url) = (1, "https://ingest.example/in/")
        for id in 2...50 as ClosedRange<UInt16> {
            // No camera runs, so the order waits. It is on its way when its connection ends.
            _ = world.begin("door", options, number: UInt64(id), on: id, of: "phone")
            let connection = TransportConnection(id: id, status: .active, options: options, owner: "phone", expiry: nil)
            world.recorders.end(id, of: "door", reason: .removed)
            world.recorders.setPreRoll(nil, of: id, of: "door")
            world.recorders.endUploads(of: [connection], on: "door")
            let session = RecordingSession(
                id: .init(device: "door", start: 0, epoch: 1, sequence: 1), connection: id, number: 1,
                trigger: .init(kind: .command, reason: "a test"), triggeredAt: 0, tracks: [])
            #expect(destinations.destination(of: session) == nil)
        }
        // This waits for what was asked before.
        #expect(world.recorders.remembered == 0)
        #expect(destinations.remembered == 0)
    }

    @Test("Nothing is recorded that was captured before the connection became active, whatever the relay has")
    func notBefore() async throws {
        let world = try RecordersWorld()
        let camera = FakeCamera()
        let station = world.station("door", camera)
        world.recorders.setStations([station])
        camera.reportTracks([Self.h264])
        // Another connection keeps the camera on, so the relay has them.
        let before = MonotonicClock.now - .seconds(1)
        for picture in CodedPictures.batches(try CodedPictures.h264(), arrival: { before + .milliseconds(66 * $0) }) {
            camera.deliver(picture, track: 0)
        }
        let active = MonotonicClock.now
        let began = world.begin("door", preRoll: .seconds(4), notBefore: active)
        #expect(await world.isTapped(station))
        camera.reportTracks([.h265])
        // Half a second later, because pictures that are shown later than they come seem captured earlier than they come.
        let after = active + .milliseconds(500)
        for picture in CodedPictures.batches(try CodedPictures.h265(), arrival: { after + .milliseconds(66 * $0) }) {
            camera.deliver(picture, track: 0)
        }
        #expect(await eventually { began.withLock { $0 } == 1 })
        let recordings = await world.end("door")
        #expect(recordings.count == 1)
        #expect(recordings.first?.session.tracks.first?.codec.hasPrefix("hvc1") == true)
    }

    @Test("A pre-roll is held before, during and after recordings, whatever their options, until nobody wants it")
    func preRoll() async throws {
        let world = try RecordersWorld()
        let camera = FakeCamera()
        world.recorders.setPreRoll(.seconds(4), of: 1, of: "door")
        let station = world.station("door", camera)
        world.recorders.setStations([station])
        #expect(await eventually { station.snapshot.heldFor == [.preRoll(.seconds(4))] })
        for (index, name) in ["video", "main", "main"].enumerated() {
            _ = world.begin("door", RecordersWorld.options(picture: (1, name)), number: UInt64(index))
            #expect(await eventually { Set(station.snapshot.heldFor) == [.preRoll(.seconds(4)), .recording] })
            #expect(await world.end("door").isEmpty)
            // A recorder that another one has replaced reports that it has stopped, too, maybe only now.
            #expect(await eventually { station.snapshot.heldFor == [.preRoll(.seconds(4))] })
        }
        world.recorders.setPreRoll(nil, of: 1, of: "door")
        #expect(await eventually { station.snapshot.heldFor == [] })
    }
}
