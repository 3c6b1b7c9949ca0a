import Cameras
import DatagramPort
import MediaRelay
import PeerConnection
import SDP
import StationFakes
import Testing
import Transport

@testable import Signalling
@testable import Stations

/// What happens to live views, snapshots and publishers when a camera is switched off, or becomes private.
@Suite(.ownThread) struct OffTests {
    /// The switches that end live views, and the reason.
    static let refusing: [(policy: OutputPolicy, refusal: OutputRefusal)] = [
        (OutputPolicy(isOn: false), .off), (OutputPolicy(softLivestreamPrivacy: true), .livestreamPrivacy),
        (OutputPolicy(hardPrivacy: true), .hardPrivacy), (OutputPolicy(permitsLiveViews: false), .usage),
    ]

    /// Those that end snapshots. A camera whose usages leave live views out still takes a picture.
    static let refusingSnapshots = refusing.filter { $0.refusal != .usage }

    private func refused(_ refusal: OutputRefusal, _ camera: String = "door") -> SignallingError {
        .station(.refused(camera: camera, refusal))
    }

    @Test(arguments: refusing)
    func aRunningViewEndsWithTheReasonAndNothingMoreLeaves(_ policy: OutputPolicy, _ refusal: OutputRefusal)
        async throws
    {
        let world = try await ServiceWorld()
        let viewer = try LoopbackViewer()
        let session = try await world.start(viewer.offer)
        try viewer.accept(session.answerSdp)
        world.camera.sendKeyFrame(number: 1, at: MonotonicClock.now)
        #expect(viewer.run { viewer.isConnected && viewer.packets >= 4 })
        await world.station.setOutputs(policy)
        // Not soon, but now.
        #expect(await world.viewerCount() == 0)
        #expect(world.station.outputs.count == 0)
        #expect(viewer.run { viewer.hasSeenGoodbye && viewer.failure == .closedByPeer })
        let packets = viewer.packets
        world.camera.sendKeyFrame(number: 2, at: MonotonicClock.now)
        _ = await world.relay.counters()
        var looks = 0
        _ = viewer.run {
            looks += 1
            return looks > 20
        }
        #expect(viewer.packets == packets)
        await world.announcements.waitForEnd()
        #expect(world.announcements.ends == [.revoked(refusal)])
        #expect(await world.service.sessions().isEmpty)
        // A later stop does no harm.
        try await world.service.stopLiveView(SessionReference(session.mediaSessionId, principal: "owner"))
        #expect(await failure { _ = try await world.start() } == refused(refusal))
        #expect(await world.service.leases().isEmpty)
    }

    @Test func aTalkerWhoseCameraIsSwitchedOffHasNoLastWords() async throws {
        let world = try await ServiceWorld()
        let speaker = try #require(world.camera.fakeSpeaker)
        for stops in [false, true] {
            let silences = speaker.silences
            let reference = SessionReference(try await world.start().mediaSessionId, principal: "owner")
            try await world.talks.startTalkback(reference, offerSdp: nil)
            // What was said right before may still be on its way.
            if stops { try await world.talks.stopTalkback(reference) }
            #expect(speaker.silences == silences)
            await world.station.setOutputs(OutputPolicy(isOn: false))
            #expect(speaker.silences > silences)
            await world.station.setOutputs(OutputPolicy(isOn: true))
        }
    }

    @Test func aStationEndsItsLiveViewsWithoutTheirOwner() async throws {
        let world = try await ServiceWorld()
        _ = try await world.start()
        #expect(await world.viewerCount() == 1)
        await withCheckedContinuation { continuation in
            world.station.cutLiveViews { continuation.resume() }
        }
        #expect(await world.viewerCount() == 0)
    }

    @Test func recordingPrivacyLeavesLiveViewsAndSnapshotsAlone() async throws {
        let world = try await ServiceWorld()
        _ = try await world.start()
        await world.station.setOutputs(OutputPolicy(softRecordingPrivacy: true))
        #expect(await world.viewerCount() == 1)
        _ = try await world.start()
        #expect(await world.service.sessions().count == 2)
        #expect(throws: StationError.refused(camera: "door", .recordingPrivacy)) {
            _ = try world.station.permit(for: .recording, owner: "recorder", revoked: nil)
        }
    }

    @Test func aViewStartsOnTheLineAfterTheCameraWasSwitchedOn() async throws {
        // It answers within the time of a camera whose tracks are known.
        let world = try await ServiceWorld(cameraTimeout: .zero)
        for _ in 0..<3 {
            await world.station.setOutputs(OutputPolicy(isOn: false))
            await world.station.setOutputs(OutputPolicy())
            _ = try await world.start()
        }
        world.station.waitUntilSettled()
        #expect(world.station.snapshot.heldFor == [.liveView])
        #expect(await world.service.sessions().count == 1)
    }

    @Test func aCameraThatWasSavedAsOffIsConnectedWhenItIsSwitchedOn() async throws {
        let world = try await ServiceWorld(
            codecs: [], cameraTimeout: .seconds(3_600), policy: OutputPolicy(isOn: false))
        #expect(await failure { _ = try await world.start() } == refused(.off))
        #expect(world.camera.runs.starts == 0)
        await world.station.setOutputs(OutputPolicy())
        async let starting = world.start()
        #expect(await eventually { world.camera.runs.starts == 1 })
        world.camera.reportTracks([.vp8, .opus])
        _ = try await starting
    }

    @Test func aViewThatWaitsForItsCameraEndsWhenItIsSwitchedOff() async throws {
        let world = try await ServiceWorld(codecs: [], cameraTimeout: .seconds(3_600))
        async let failing = failure { _ = try await world.start() }
        #expect(await eventually { world.station.hasWaiters })
        await world.station.setOutputs(OutputPolicy(isOn: false))
        #expect(await failing == refused(.off))
        #expect(await world.service.leases().isEmpty)
        #expect(world.station.snapshot.heldFor.isEmpty)
    }

    @Test func whatIsTranscodedEndsToo() async throws {
        let world = try await ServiceWorld(codecs: [.vp8, .linear])
        let session = try await world.start()
        let track = TrackID(camera: "door", kind: .audio, index: 1, isDerived: true)
        for number in 0..<50 as Range<UInt16> {
            world.camera.sendSound(number: number, track: 1, at: MonotonicClock.now)
        }
        #expect(await eventually { world.station.cost(of: track) != nil })
        #expect(await world.service.session(session.mediaSessionId)?.codecs.contains("opus") == true)
        await world.station.setOutputs(OutputPolicy(softLivestreamPrivacy: true))
        #expect(world.station.cost(of: track)?.users == 0)
        #expect(await world.viewerCount() == 0)
    }

    @Test(arguments: refusingSnapshots)
    func aSnapshotIsRefusedEvenIfOneIsKept(_ policy: OutputPolicy, _ refusal: OutputRefusal) async throws {
        let world = try await ServiceWorld(codecs: [.h264(profileLevelID: "42e01f")], cameraTimeout: .milliseconds(50))
        func send() throws {
            let now = MonotonicClock.now
            let batches = try CodedPictures.batches(CodedPictures.h264()) { now - .milliseconds(67 * (11 - $0)) }
            for batch in batches { world.camera.deliver(batch, track: 0) }
        }
        func snapshot() async -> SignallingError? {
            await failure { _ = try await world.snapshots.snapshot(of: "door", maximumWidth: nil) }
        }
        try send()
        #expect(await snapshot() == nil)
        await world.station.setOutputs(policy)
        #expect(await snapshot() == refused(refusal))
        // Pictures of the time in which nobody may see the camera.
        try send()
        await world.station.setOutputs(OutputPolicy())
        // The last one from before is not shown, and none from meanwhile.
        switch await snapshot() {
        case .station(.noKeyFrame), .station(.noMedia): break
        case let other: Issue.record("\(String(describing: other))")
        }
        world.station.waitUntilSettled()
        world.camera.reportTracks([.h264(profileLevelID: "42e01f")])
        try send()
        #expect(await eventually { await snapshot() == nil })
    }

    @Test func aSnapshotThatIsOnItsWayIsWaitedFor() async throws {
        let world = try await ServiceWorld(codecs: [.h264(profileLevelID: "42e01f")])
        let now = MonotonicClock.now
        for batch in try CodedPictures.batches(CodedPictures.h264(), arrival: { now - .milliseconds(67 * (11 - $0)) }) {
            world.camera.deliver(batch, track: 0)
        }
        let picture = try await world.snapshots.snapshot(of: "door", maximumWidth: nil)
        let permit = try #require(picture.permit)
        let hasReturned = Locked(false)
        let change = Task {
            await world.station.setOutputs(OutputPolicy(isOn: false))
            hasReturned.withLock { $0 = true }
        }
        #expect(await eventually { permit.revocation != nil })
        #expect(!hasReturned.withLock { $0 })
        // Its sender sees that it must not be sent, and lets it go.
        permit.end()
        await change.value
    }

    @Test(arguments: refusingSnapshots)
    func aSnapshotThatWaitsForAPictureEndsAtOnce(_ policy: OutputPolicy, _ refusal: OutputRefusal) async throws {
        let world = try await ServiceWorld(cameraTimeout: .seconds(3_600))
        async let failing = failure { _ = try await world.snapshots.snapshot(of: "door", maximumWidth: nil) }
        // It has looked into the ring, and waits for a key frame.
        #expect(await eventually { !world.camera.keyFrameRequests.isEmpty })
        await world.station.setOutputs(policy)
        #expect(await failing == refused(refusal))
        #expect(world.station.snapshot.heldFor.isEmpty)
    }

    @Test func aPublisherStaysAndItsMediaGoesNowhere() async throws {
        let world = try await ServiceWorld()
        let source = PublishedSource()
        let phone = CameraStation(
            id: "phone", source: source, relay: world.relay,
            outputs: OutputPermits(camera: "phone", patience: .seconds(120)))
        await world.signalling.add(phone)
        phone.start()
        let sink = Locked<[Int]>([])
        let publication = try #require(
            source.begin([TrackDescription(kind: .video, codec: .vp8, payloadType: 96)]) { track in
                sink.withLock { $0.append(track) }
            } ended: { _ in
            })
        // Sixteen bytes of VP8's payload: a key frame of one packet.
        func send(_ number: UInt8) {
            var packet: [UInt8] = [0x80, 0x80 | 96, 0, number, 0, 0, number, 0, 0, 0, 0, 7]
            packet += [0x10, 0x10, 0x02, 0x00, 0x9D, 0x01, 0x2A, 0x40, 0x01, 0xB4, 0x00, 0, 0, 0, 0, 0]
            packet.withUnsafeBytes { publication.receive($0, track: 0, at: MonotonicClock.now) }
        }
        let before = await world.relay.counters().packetsReceived
        for number in 1..<4 as Range<UInt8> { send(number) }
        #expect(await eventually { await world.relay.counters().packetsReceived > before })
        await phone.setOutputs(OutputPolicy(isOn: false))
        let received = await world.relay.counters().packetsReceived
        for number in 4..<20 as Range<UInt8> { send(number) }
        #expect(await world.relay.counters().packetsReceived == received)
        #expect(phone.snapshot.state == .flowing)
        #expect(
            await failure { _ = try await world.start(device: "phone") } == refused(.off, "phone"))
        await phone.setOutputs(OutputPolicy())
        _ = try await world.start(device: "phone")
        for number in 20..<24 as Range<UInt8> { send(number) }
        #expect(await eventually { await world.relay.counters().packetsReceived > received })
    }

    /// Views that start while the camera is switched off: when that is done, none of them lives or begins.
    @Test(arguments: 0..<24 as Range<UInt64>) func noViewSurvivesThatStartsMeanwhile(seed: UInt64) async throws {
        let random = Locked(RandomSource.seeded(seed))
        func below(_ limit: UInt64) -> UInt64 { random.withLock { $0.next() % limit } }
        let knowsTracks = below(3) > 0
        let world = try await ServiceWorld(
            codecs: knowsTracks ? [.vp8, .opus] : [], cameraTimeout: .seconds(60))
        let offer = try ServiceWorld.text("offers/chromium-talkback-sendrecv-audio.offer.sdp")
        let starts = (0..<6).map { number in
            let (pauses, isSnapshot) = (below(60), below(4) == 0)
            return Task.detached { () -> SignallingError? in
                for _ in 0..<pauses { await Task.yield() }
                return await failure {
                    if isSnapshot {
                        _ = try await world.snapshots.snapshot(of: "door", maximumWidth: nil)
                    } else {
                        _ = try await world.start(offer, principal: "viewer \(number)")
                    }
                }
            }
        }
        for _ in 0..<below(40) { await Task.yield() }
        if !knowsTracks { world.camera.reportTracks([.vp8, .opus]) }
        for _ in 0..<below(40) { await Task.yield() }
        await world.station.setOutputs(OutputPolicy(isOn: false))
        #expect(await world.viewerCount() == 0)
        #expect(world.station.outputs.count == 0)
        for start in starts {
            let error = await start.value
            #expect(error == nil || error == refused(.off))
        }
        #expect(await world.viewerCount() == 0)
        #expect(await world.service.leases().isEmpty)
        #expect(world.station.snapshot.heldFor.isEmpty)
    }
}

/// The same with a camera that really sends.
@Suite(.ownThread) struct OffWithARealCameraTests {
    @Test func nothingComesAfterOffAndTheFirstPictureComesAfterOn() async throws {
        let world = try await ServiceWorld(cameraTimeout: .seconds(3_600))
        let yard = CameraStation(
            id: "yard", source: BuiltInCamera(BuiltInCamera.Configuration(name: "Yard")), relay: world.relay,
            outputs: OutputPermits(camera: "yard", patience: .seconds(120)))
        await world.signalling.add(yard)
        yard.start()
        var viewers: [LoopbackViewer] = []
        func watch() async throws -> LoopbackViewer {
            let viewer = try LoopbackViewer()
            let session = try await world.start(viewer.offer, device: "yard")
            try viewer.accept(session.answerSdp)
            return viewer
        }
        for _ in 0..<4 {
            let viewer = try await watch()
            viewers.append(viewer)
            #expect(viewer.run { viewer.packets > 20 })
        }
        let start = MonotonicClock.now
        await yard.setOutputs(OutputPolicy(isOn: false))
        let end = MonotonicClock.now
        // What arrived before is still read.
        for viewer in viewers { #expect(viewer.run { viewer.failure != nil }) }
        let before = viewers.map(\.packets)
        var late = 0
        for (viewer, count) in zip(viewers, before) {
            let limit = MonotonicClock.now + .milliseconds(200)
            _ = viewer.run { MonotonicClock.now > limit }
            if viewer.packets > count { late += 1 }
        }
        #expect(late == 0)
        var first: [Duration] = []
        for round in 0..<3 {
            if round > 0 { await yard.setOutputs(OutputPolicy(isOn: false)) }
            yard.waitUntilSettled()
            let start = MonotonicClock.now
            await yard.setOutputs(OutputPolicy())
            let viewer = try await watch()
            // The relay begins with a key frame.
            #expect(viewer.run { viewer.packets > 0 })
            first.append(MonotonicClock.now - start)
        }
        print("off: \(end - start); views that still deliver: \(late); on to the first picture: \(first)")
        yard.stop()
    }
}
