import Cameras
import Codecs
import DatagramPort
import Glibc
import MediaRelay
import RTP
import SDP
import StationFakes
import Stations
import Testing
import Transport

@testable import PushAvStreamTransport

@Suite("A recorder on a camera", .ownThread) struct CameraRecorderTests {
    static let trigger = RecordingSession.Trigger(kind: .command, reason: "a test")

    @Test("The built-in camera is recorded from its pre-roll on, and plays")
    func builtInCamera() async throws {
        let world = try RecorderWorld(BuiltInCamera(BuiltInCamera.Configuration(name: "Door")))
        let hold = world.station.hold(for: .preRoll(.seconds(2)))
        defer { hold.end() }
        // More than two seconds of it are in the relay before the trigger, however late the camera began.
        #expect(await eventually { world.station.snapshot.state == .flowing })
        let flowing = MonotonicClock.now
        #expect(await eventually { MonotonicClock.now - flowing > .seconds(4) })
        world.recorder.start(Self.trigger, preRoll: .seconds(2))
        #expect(await eventually { world.recorder.counters.chunks >= 12 })
        #expect(world.recorder.isRecording)
        let recording = try #require(await world.stop().first)
        #expect(!world.recorder.isRecording)
        #expect(recording.faults == [])
        // A camera that gets no processor time for two seconds leaves a hole.
        #expect(recording.gaps.allSatisfy { $0.reason == .cameraAway })
        #expect(recording.session.tracks.map(\.codec) == ["vp08.00.10.08", "opus"])
        #expect(recording.session.triggeredAt - recording.session.id.start >= 2_000)
        // One that gets none for less than that is late with one of them.
        #expect(abs(recording.end(0) - recording.end(1)) < 2)
        guard Player.isInstalled else { return }
        for track in 0..<2 { #expect(try Player.complaints(about: recording.file(track)) == "") }
    }

    @Test("Nothing is written after the end of the tenure, not even the session's end")
    func lostTenure() async throws {
        let coordinator = FakeCoordinator()
        coordinator.grant(until: .distantFuture)
        let tenures = Tenures(coordinator)
        try await tenures.take("door")
        let world = try RecorderWorld(
            BuiltInCamera(BuiltInCamera.Configuration(name: "Door", hasSound: false)), tenures: tenures)
        world.recorder.start(Self.trigger)
        #expect(await eventually { world.recorder.counters.chunks >= 2 })
        // Another gateway has it.
        tenures.renew(Tenure(device: "door", epoch: 1, deadline: .zero))
        #expect(await eventually { world.refusals == 1 })
        let written = world.sink.recordings.map(\.chunks.count)
        #expect(!world.recorder.isRecording && world.ends.isEmpty)
        // It does not begin again by itself, and has nothing to stop.
        _ = await world.stop()
        #expect(world.sink.recordings.map(\.chunks.count) == written)
        #expect(world.sink.recordings.allSatisfy { $0.end == nil })
    }

    @Test("H.264 with B-frames, and linear sound that becomes Opus, through a restart of the camera")
    func restart() async throws {
        let camera = FakeCamera()
        var start = MonotonicClock.now
        let world = try RecorderWorld(camera) { $0.stopClocks(at: start) }
        camera.reportTracks([MediaCodec(name: "H264", clockRate: 90_000), .linear])
        world.recorder.start(Self.trigger)
        var packets = 0
        #expect(await eventually { world.recorder.taps == 1 })
        for round in 0..<2 {
            if round > 0 {
                camera.reportTracks([MediaCodec(name: "H264", clockRate: 90_000), .linear])
                start += .seconds(6)
            }
            let pictures = CodedPictures.batches(try CodedPictures.h264()) { start + .milliseconds(66 * $0) }
            for (number, batch) in pictures.enumerated() {
                camera.deliver(batch, track: 0)
                for piece in number * 3..<number * 3 + 3 {
                    camera.sendSound(
                        number: UInt16(piece), track: 1, at: start + .milliseconds(20 * piece))
                }
            }
            // What is under way when a camera starts again is lost.
            packets += pictures.reduce(0) { $0 + $1.packets.count }
            await world.waitForPackets(packets, of: 0)
        }
        let recording = try #require(await world.stop(at: start + .seconds(60)).first)
        #expect(world.sink.recordings.count == 1)
        #expect(recording.faults == [])
        #expect(recording.session.tracks.map(\.name) == ["video", "audio"])
        #expect(recording.session.tracks[0].codec.hasPrefix("avc1."))
        #expect(recording.session.tracks[1].codec == "opus")
        #expect(recording.samples(0).count == 24)
        #expect(recording.samples(0).contains { $0.compositionOffset != 0 })
        #expect(recording.gaps.map(\.reason) == [.cameraAway])
        #expect(recording.end(0) > 6)
        guard Player.isInstalled else { return }
        for track in 0..<2 { #expect(try Player.complaints(about: recording.file(track)) == "") }
    }

    @Test("A camera that comes back with another codec begins another session")
    func otherCodec() async throws {
        let camera = FakeCamera()
        let world = try RecorderWorld(camera)
        camera.reportTracks([MediaCodec(name: "H264", clockRate: 90_000)])
        world.recorder.start(Self.trigger)
        let start = MonotonicClock.now
        #expect(await eventually { world.recorder.taps == 1 })
        let pictures = CodedPictures.batches(try CodedPictures.h264()) { start + .milliseconds(66 * $0) }
        for batch in pictures { camera.deliver(batch, track: 0) }
        await world.waitForPackets(pictures.reduce(0) { $0 + $1.packets.count }, of: 0)
        camera.reportTracks([.h265])
        #expect(await eventually { world.recorder.taps == 2 })
        let others = CodedPictures.batches(
            try CodedPictures.h265(), arrival: { start + .milliseconds(2_000 + 66 * $0) })
        for batch in others { camera.deliver(batch, track: 0) }
        #expect(await eventually { world.recorder.counters.sessions == 2 })
        // The counter of the first codec was that of a track that has gone.
        await PacketCounts().wait(
            for: others.reduce(0) { $0 + $1.packets.count }, of: TrackID(camera: "door", index: 0), on: world.relay)
        let recordings = await world.stop(at: start + .seconds(60))
        #expect(recordings.allSatisfy { $0.faults == [] })
        #expect(recordings.map { String($0.session.tracks[0].codec.prefix(4)) } == ["avc1", "hvc1"])
        #expect(recordings.map { $0.samples(0).count } == [12, 12])
        #expect(recordings[0].end?.reason == .formatChanged)
        guard Player.isInstalled else { return }
        for recording in recordings { #expect(try Player.complaints(about: recording.file(0)) == "") }
    }

    static let refusals: [(fault: RecordingFault, reason: RecordingEnd.Reason)] = [
        (.storageFull(path: "journal.jsonl", .system(ENOSPC)), .storageFull),
        (.storage(path: "journal.jsonl", .system(EIO)), .storageFailed),
        (.refused(.unusableSession(.trackCount)), .storageRefused), (.unknownSession, .storageRefused),
    ]

    @Test(
        "A sink that refuses ends the session with the reason, and the next one follows when it takes something again",
        arguments: refusals)
    func fault(_ fault: RecordingFault, _ reason: RecordingEnd.Reason) async throws {
        let world = try RecorderWorld(BuiltInCamera(BuiltInCamera.Configuration(name: "Door", hasSound: false))) {
            $0.pauseAfterFault = .milliseconds(50)
        }
        world.recorder.start(Self.trigger)
        #expect(await eventually { world.recorder.counters.chunks >= 2 })
        world.sink.refuse(fault)
        #expect(await eventually { world.faults > 0 })
        #expect(await eventually { world.ends.contains(reason) })
        // On a busy machine the first session has more than two chunks.
        let before = world.recorder.counters.chunks
        world.sink.refuse(nil)
        #expect(await eventually { world.recorder.counters.chunks >= before + 4 })
        let recordings = await world.stop()
        #expect(recordings.count == 2)
        #expect(recordings.last?.faults == [])
    }

    @Test("Switching the camera off returns when recording has stopped, and refuses the next recording")
    func switchedOff() async throws {
        let world = try RecorderWorld(BuiltInCamera(BuiltInCamera.Configuration(name: "Door", hasSound: false)))
        world.recorder.start(Self.trigger)
        #expect(await eventually { world.recorder.counters.chunks >= 2 })
        await world.station.setOutputs(OutputPolicy(isOn: false))
        #expect(!world.recorder.isRecording)
        let recording = try #require(world.sink.recordings.first)
        #expect(recording.end?.reason == .inactive)
        #expect(recording.faults == [])
        world.recorder.start(Self.trigger)
        #expect(await eventually { world.refusals == 1 })
        #expect(!world.recorder.isRecording)
        await world.station.setOutputs(OutputPolicy())
        world.recorder.start(Self.trigger)
        #expect(await eventually { world.recorder.session != nil })
        await world.station.setOutputs(OutputPolicy(softRecordingPrivacy: true))
        // On a busy machine the sound comes after the pictures, and begins a session of its own.
        let reasons = world.sink.recordings.compactMap { $0.end?.reason }.filter { $0 != .formatChanged }
        #expect(reasons == [.inactive, .privacy])
    }

    @Test("Muting and un-muting records each picture once, and no sound of the time in between")
    func muted() async throws {
        let camera = FakeCamera()
        let moment = MonotonicClock.now
        let world = try RecorderWorld(camera) { $0.stopClocks(at: moment) }
        camera.reportTracks([MediaCodec(name: "H264", clockRate: 90_000), .linear])
        /// Waits until the relay's thread has added what the recorder has asked for.
        func relayHasTaps() async {
            await withCheckedContinuation { continuation in
                world.relay.removeTap(CountingTap(), from: TrackID(camera: "door", index: 1)) { continuation.resume() }
            }
        }
        world.recorder.start(Self.trigger)
        #expect(await eventually { world.recorder.taps == 1 })
        world.countPackets(of: 0)
        world.countPackets(of: 1, kind: .audio)
        await relayHasTaps()
        // The switches are set when the recorder's clock stands still, long before this.
        let start = moment + .seconds(60)
        let pictures = CodedPictures.batches(try CodedPictures.h264()) { start + .milliseconds(66 * $0) }
        /// Sends pictures with their sound, and waits until the relay has them.
        func send(_ numbers: Range<Int>) async {
            for number in numbers {
                camera.deliver(pictures[number], track: 0)
                for piece in number * 3..<number * 3 + 3 {
                    camera.sendSound(number: UInt16(piece), track: 1, at: start + .milliseconds(20 * piece))
                }
            }
            await world.waitForPackets(pictures[..<numbers.upperBound].reduce(0) { $0 + $1.packets.count }, of: 0)
            await world.waitForPackets(numbers.upperBound * 3, of: 1, kind: .audio)
            // Of two rounds of the recorder that end from now on, the second has begun with all of it.
            for _ in 0..<2 {
                let before = world.recorder.counters.processorTime
                #expect(await eventually { world.recorder.counters.processorTime > before })
            }
        }
        await send(0..<4)
        await world.station.setOutputs(OutputPolicy(mutesRecordings: true))
        // The segment of sound is complete.
        #expect(
            await eventually {
                world.sink.recordings.first?.segments.contains { $0.track == 1 } ?? false
            })
        await send(4..<8)
        await world.station.setOutputs(OutputPolicy())
        #expect(await eventually { world.recorder.taps == 2 })
        await relayHasTaps()
        await send(8..<12)
        let recordings = await world.stop(at: start + .seconds(60))
        let recording = try #require(recordings.first)
        #expect(recordings.count == 1)
        #expect(recording.faults == [])
        #expect(recording.samples(0).count == CodedPictures.count)
        // 20 ms each, twelve from before and twelve from after.
        let times = recording.samples(1).map { Double($0.time) / 48_000 }
        #expect(times.contains { $0 < 0.2 } && times.contains { $0 > 0.45 })
        #expect(times.count <= 24)
        #expect(!times.contains { $0 > 0.25 && $0 < 0.45 })
    }

    @Test("A recording keeps a camera going that is pulled on demand")
    func hold() async throws {
        let camera = FakeCamera()
        let world = try RecorderWorld(camera)
        world.recorder.start(Self.trigger)
        #expect(await eventually { world.station.snapshot.heldFor.contains(.recording) })
        #expect(await world.stop().isEmpty)
        #expect(!world.station.snapshot.heldFor.contains(.recording))
    }

    @Test("Motion JPEG is recorded as the VP8 that viewers get")
    func motionJPEG() async throws {
        let camera = FakeCamera()
        let world = try RecorderWorld(camera, transcodesVideo: .automatic)
        camera.reportTracks([MediaCodec(name: "JPEG", clockRate: 90_000)])
        world.recorder.start(Self.trigger)
        let pictures = try CodedPictures.jpeg()
        let start = MonotonicClock.now
        var round = 0
        // The transcoder skips what comes too fast.
        #expect(
            await eventually {
                guard world.recorder.session == nil else { return true }
                let batches = CodedPictures.batches(Array(pictures[0..<1])) { _ in start + .milliseconds(66 * round) }
                if MonotonicClock.now > start + .milliseconds(66 * round), let batch = batches.first {
                    camera.deliver(Self.later(batch, by: round), track: 0)
                    round += 1
                }
                return false
            })
        let recording = try #require(await world.stop().first)
        #expect(recording.session.tracks.map(\.codec) == ["vp08.00.10.08"])
        #expect(recording.faults == [])
    }

    /// The batch with the numbers of a later picture.
    private static func later(_ batch: PacketBatch, by pictures: Int) -> PacketBatch {
        var pool = PacketBatchPool()
        for packet in batch.packets {
            var packet = packet
            let payload = batch.payload(of: packet)
            packet.timestamp &+= UInt32(pictures * 6_000)
            packet.sequenceNumber &+= UInt16(truncatingIfNeeded: pictures * batch.packets.count)
            pool.append(packet, payload: payload)
        }
        return pool.finish(arrival: batch.arrival) ?? batch
    }
}
