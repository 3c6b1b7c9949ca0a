import Cameras
import Codecs
import DatagramPort
import MediaRelay
import RTP
import SDP
import StationFakes
import Stations
import Testing
import Transport

@testable import Signalling
@testable import Stations

/// Pictures for the snapshots.
private enum PicturesOfTheBuiltInCamera {
    /// What the built-in camera's own encoder makes of pictures with their numbers stamped in.
    static func frames(count: Int, width: Int = 320, height: Int = 180) throws -> [[UInt8]] {
        var encoder = try VP8Encoder(
            .init(width: width, height: height, framesPerSecond: 15, bitsPerSecond: 400_000))
        var frames: [[UInt8]] = []
        for number in 0..<count {
            var frame = I420Frame(width: width, height: height)
            // Brighter with every picture.
            for index in frame.luma.indices { frame.luma[index] = UInt8(20 + number * 4) }
            frames.append(try encoder.encode(frame, asKeyFrame: number == 0) { bytes, _ in Array(bytes) })
        }
        return frames
    }
}

@Suite(.ownThread) struct SnapshotTests {
    /// Sends `count` pictures, of which the first is a key frame.
    private func send(
        _ world: ServiceWorld, count: Int, ago age: Duration = .zero, from first: UInt16 = 10
    ) throws {
        var pool = PacketBatchPool()
        var packetizer = VP8Packetizer(firstPictureID: 1)
        var sequence = first
        let now = MonotonicClock.now - age
        for (number, frame) in try PicturesOfTheBuiltInCamera.frames(count: count).enumerated() {
            frame.withUnsafeBytes { bytes in
                packetizer.packetize(bytes) { payload in
                    pool.append(
                        PacketBatch.Packet(
                            offset: 0, length: 0, timestamp: UInt32(first) * 6_000 + UInt32(number * 6_000),
                            sequenceNumber: sequence,
                            payloadType: 96, flags: payload.flags),
                        payload: payload.bytes)
                    sequence &+= 1
                }
            }
            let arrival = now - .nanoseconds(Int64(count - 1 - number) * 66_666_667)
            if let batch = pool.finish(arrival: arrival) { world.camera.deliver(batch, track: 0) }
        }
    }

    private func brightness(_ snapshot: CameraSnapshot) throws -> Int {
        let decoder = try VideoDecoder(codec: "JPEG")
        let frame = try #require(try decoder.decode(snapshot.jpeg))
        #expect(frame.width == snapshot.width && frame.height == snapshot.height)
        return frame.luma.reduce(0) { $0 + Int($1) } / frame.luma.count
    }

    @Test func theNewestPictureComesOutOfTheRingWithoutAKeyFrame() async throws {
        let world = try await ServiceWorld()
        let before = MonotonicClock.now
        try send(world, count: 25)
        let snapshot = try await world.snapshots.snapshot(of: "door", maximumWidth: nil)
        #expect(snapshot.width == 320 && snapshot.height == 180)
        #expect(abs(try brightness(snapshot) - (20 + 24 * 4)) < 8)
        #expect(snapshot.age >= .zero && snapshot.age < MonotonicClock.now - before + .seconds(1))
        #expect(world.camera.keyFrameRequests.isEmpty)
    }

    @Test(arguments: ["H264", "H265", "JPEG"]) func everyCodecGivesItsNewestPicture(name: String) async throws {
        let pictures =
            switch name {
            case "H264": try CodedPictures.h264()
            case "H265": try CodedPictures.h265()
            default: try CodedPictures.jpeg()
            }
        let world = try await ServiceWorld(codecs: [MediaCodec(name: name, clockRate: 90_000)])
        let now = MonotonicClock.now
        for batch in CodedPictures.batches(pictures, arrival: { now - .milliseconds(67 * (pictures.count - 1 - $0)) }) {
            world.camera.deliver(batch, track: 0)
        }
        let snapshot = try await world.snapshots.snapshot(of: "door", maximumWidth: nil)
        #expect(snapshot.width == CodedPictures.width && snapshot.height == CodedPictures.height)
        #expect(snapshot.jpeg.starts(with: [0xFF, 0xD8, 0xFF]))
        let decoder = try VideoDecoder(codec: "JPEG")
        let luma = try #require(try decoder.decode(snapshot.jpeg)).luma.sorted()
        // Also of B-frames the one that is shown last, not the one that came last.
        #expect(abs(Int(luma[luma.count / 2]) - CodedPictures.brightness(CodedPictures.count - 1)) < 8)
    }

    @Test func aSmallerPictureCanBeRequested() async throws {
        let world = try await ServiceWorld()
        try send(world, count: 3)
        let snapshot = try await world.snapshots.snapshot(of: "door", maximumWidth: 160)
        #expect(snapshot.width == 160 && snapshot.height == 90)
        _ = try brightness(snapshot)
        #expect(try await world.snapshots.snapshot(of: "door", maximumWidth: 1_000).width == 320)
    }

    @Test func manyRequestsAtOnceGetTheSamePicture() async throws {
        let world = try await ServiceWorld()
        try send(world, count: 5)
        let snapshots = world.snapshots
        let images = try await withThrowingTaskGroup(of: [UInt8].self) { group in
            for _ in 0..<20 { group.addTask { try await snapshots.snapshot(of: "door", maximumWidth: nil).jpeg } }
            return try await group.reduce(into: Set<[UInt8]>()) { $0.insert($1) }
        }
        #expect(images.count == 1)
    }

    @Test func theReasonForAMissingPictureIsReported() async throws {
        let world = try await ServiceWorld(codecs: [])
        #expect(
            await failure { _ = try await world.snapshots.snapshot(of: "attic", maximumWidth: nil) }
                == .unknownDevice("attic"))
        let state = SourceState.backingOff(seconds: 3, reason: .unreachable(CameraUnreachable("no route to host")))
        world.camera.report(.state(state))
        let gone = await failure { _ = try await world.snapshots.snapshot(of: "door", maximumWidth: nil) }
        #expect(gone == .station(.noMedia(camera: "door", state)))
        world.camera.reportTracks([.vp8])
        let late = await failure { _ = try await world.snapshots.snapshot(of: "door", maximumWidth: nil) }
        guard case .station(.noKeyFrame(camera: "door", _)) = late else {
            Issue.record("\(String(describing: late))")
            return
        }
        world.camera.reportTracks([.opus])
        let mute = await failure { _ = try await world.snapshots.snapshot(of: "door", maximumWidth: nil) }
        #expect(mute == .station(.noVideo(camera: "door")))
    }

    @Test func anIdleCameraIsPulledForAPicture() async throws {
        let world = try await ServiceWorld(codecs: [], station: { $0.pull = .onDemand })
        let station = world.station
        async let snapshot = station.snapshot(timeout: .seconds(3_600))
        #expect(await eventually { world.camera.runs.starts == 1 })
        world.camera.reportTracks([.vp8])
        try send(world, count: 2)
        #expect(try await snapshot.width == 320)
        world.clock.advance(by: .seconds(10))
        world.station.waitUntilSettled()
        #expect(world.camera.runs.stops == 1)
    }

    /// What was announced of damage, in order; nil for a recovery.
    private func damage(_ world: ServiceWorld) -> [PictureDamage?] {
        world.announcements.all.compactMap { change in
            if case .pictures("door", let damage) = change { .some(damage) } else { nil }
        }
    }

    @Test func theLastGoodPictureOfDamagedVideoIsReturnedWithItsAge() async throws {
        // However slow the machine is.
        let world = try await ServiceWorld(station: { $0.longestPictureAge = .seconds(3_600) })
        try send(world, count: 3, ago: .seconds(5))
        let good = try await world.snapshots.snapshot(of: "door", maximumWidth: nil)
        world.camera.sendKeyFrame(number: 9, at: MonotonicClock.now)
        var last = good
        // The damage shows when the picture is made again.
        #expect(
            await eventually {
                guard let again = try? await world.snapshots.snapshot(of: "door", maximumWidth: nil) else {
                    return false
                }
                last = again
                return !damage(world).isEmpty
            })
        #expect(last.jpeg == good.jpeg && last.age >= .seconds(5) && last.age >= good.age)
        #expect(damage(world).count == 1 && damage(world).first??.codec == "VP8")
        try send(world, count: 2, from: 60)
        #expect(
            await eventually {
                _ = try? await world.snapshots.snapshot(of: "door", maximumWidth: nil)
                return damage(world).count == 2
            })
        #expect(damage(world).last == .some(nil))
    }

    @Test func damagedVideoWithoutARecentPictureIsUnavailableAndReportedOnce() async throws {
        for age in [nil, Duration.seconds(60)] {
            let world = try await ServiceWorld()
            if let age {
                try send(world, count: 2, ago: age)
                _ = try await world.snapshots.snapshot(of: "door", maximumWidth: nil)
            }
            world.camera.sendKeyFrame(number: 9, at: MonotonicClock.now)
            var refusal: SignallingError?
            #expect(
                await eventually {
                    refusal = await failure { _ = try await world.snapshots.snapshot(of: "door", maximumWidth: nil) }
                    return refusal != nil
                })
            for _ in 0..<20 {
                let again = await failure { _ = try await world.snapshots.snapshot(of: "door", maximumWidth: nil) }
                #expect(again == refusal)
            }
            guard case .station(.damagedVideo(camera: "door", let found, _)) = refusal else {
                Issue.record("\(String(describing: refusal))")
                return
            }
            #expect(found.codec == "VP8")
            #expect(damage(world).count == 1)
        }
    }

    @Test func everyWidthAtOnceGivesEachItsOwn() async throws {
        let world = try await ServiceWorld()
        try send(world, count: 2)
        let snapshots = world.snapshots
        let widths = try await withThrowingTaskGroup(of: (Int, Int).self) { group in
            for width in stride(from: 16, through: 320, by: 8) {
                group.addTask { (width, try await snapshots.snapshot(of: "door", maximumWidth: width).width) }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(widths.allSatisfy { $0.1 <= $0.0 })
    }
}
