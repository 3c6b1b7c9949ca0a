import RTP
import Testing
import Transport

@testable import MediaRelay

@Suite struct TapStartTests {
    private func camera(_ change: (inout ScriptedCamera.Shape) -> Void = { _ in }) throws -> ScriptedCamera {
        let world = try RelayWorld()
        world.camera.isRunning = false
        return ScriptedCamera(world.shard, at: world.now, change)
    }

    private func track(_ camera: ScriptedCamera) throws -> RelayTrack {
        try #require(camera.shard.tracks[camera.video])
    }

    @Test(arguments: [10, 40, 100]) func aTapBeginsAtTheKeyFrameBeforeAMoment(interval: Int) throws {
        let camera = try camera { $0.keyFrameInterval = interval }
        let start = camera.now
        camera.shard.retain("yard", for: .seconds(15), RetentionStatus { _, _ in })
        camera.run(.milliseconds(47_050))
        for ago in [Duration.zero, .milliseconds(1_250), .seconds(3), .seconds(9), .seconds(15)] {
            let moment = camera.now - ago
            let tap = RecordingTap()
            camera.shard.addTap(tap, to: camera.video, from: .keyFrame(before: moment), at: camera.now)
            let group = Duration.milliseconds(100 * interval)
            let groups = (moment - start).wholeNanoseconds / group.wholeNanoseconds
            let expected = start + .nanoseconds(groups * group.wholeNanoseconds)
            #expect(tap.beginning == TapBeginning(capture: expected))
            #expect(tap.batches.first?.capture == expected && tap.startsWithKeyFrame)
            #expect(tap.hasEverything(of: try track(camera)))
        }
    }

    @Test func aTapBeforeAKeyFrameAtTheVeryMomentBeginsWithIt() throws {
        let camera = try camera()
        let start = camera.now
        camera.run(.milliseconds(2_500))
        let tap = RecordingTap()
        camera.shard.addTap(tap, to: camera.video, from: .keyFrame(before: start + .seconds(1)), at: camera.now)
        #expect(tap.beginning?.capture == start + .seconds(1))
    }

    @Test func aTapThatReachesBackTooFarBeginsWithTheOldestKeyFrameAndLearnsTheShortfall() throws {
        let camera = try camera()
        let start = camera.now
        camera.run(.seconds(30))
        let tap = RecordingTap()
        camera.shard.addTap(
            tap, to: camera.video, from: .keyFrame(before: camera.now - .seconds(10)), at: camera.now)
        // Without a request, two seconds are kept, and the oldest whole group in them is of the 28th second.
        #expect(tap.beginning == TapBeginning(capture: start + .seconds(28), shortfall: .seconds(8)))
        #expect(tap.hasEverything(of: try track(camera)))
    }

    @Test func aTapWithoutAnyKeyFrameBeginsWithTheNextOneAndLearnsWhatIsMissing() throws {
        let camera = try camera {
            $0.keyFrameInterval = nil
            $0.hasSound = false
        }
        camera.run(.seconds(20))
        #expect(try track(camera).ring.oldestStart == nil)
        let tap = RecordingTap()
        let moment = camera.now - .seconds(3)
        camera.shard.addTap(tap, to: camera.video, from: .keyFrame(before: moment), at: camera.now)
        #expect(tap.beginning == nil && camera.requests.count == 1)
        camera.run(.seconds(2))
        let beginning = try #require(tap.beginning)
        #expect(beginning.shortfall == .seconds(3) && beginning.capture == moment + .seconds(3))
        let isWhole = tap.hasEverything(of: try track(camera))
        #expect(tap.startsWithKeyFrame && isWhole)
    }

    @Test func aLiveTapBeginsWithTheNextKeyFrameAndAsksForIt() throws {
        let camera = try camera { $0.keyFrameInterval = 100 }
        camera.run(.milliseconds(2_500))
        let tap = RecordingTap()
        camera.shard.addTap(tap, to: camera.video, from: .live, at: camera.now)
        #expect(tap.batches.isEmpty && camera.requests.count == 1)
        camera.run(.seconds(1))
        #expect(tap.beginning?.shortfall == .zero && tap.startsWithKeyFrame)
        #expect(tap.batches.count == 10)
    }

    /// The timestamps of pictures with B-frames jump back and forth. A key frame still begins its group.
    @Test func picturesOutOfOrderBeginAtTheirKeyFrame() throws {
        let camera = try camera { $0.hasBFrames = true }
        camera.shard.retain("yard", for: .seconds(5), RetentionStatus { _, _ in })
        camera.run(.seconds(20))
        let moment = camera.now - .seconds(5)
        let tap = RecordingTap()
        camera.shard.addTap(tap, to: camera.video, from: .keyFrame(before: moment), at: camera.now)
        let beginning = try #require(tap.beginning)
        let isWhole = tap.hasEverything(of: try track(camera))
        #expect(tap.startsWithKeyFrame && isWhole)
        #expect(beginning.shortfall == .zero && beginning.capture <= moment)
        // The next key frame was shown after the moment.
        #expect(beginning.capture + .seconds(1) > moment)
        #expect(tap.batches.filter(\.batch.startsKeyFrame).count >= 5)
    }

    @Test func nothingFromBeforeARestartIsGivenOut() throws {
        let camera = try camera()
        camera.shard.retain("yard", for: .seconds(10), RetentionStatus { _, _ in })
        camera.run(.seconds(20))
        let early = RecordingTap()
        camera.shard.addTap(early, to: camera.video, from: .keyFrame(before: camera.now - .seconds(5)), at: camera.now)
        let restart = camera.now
        camera.announce()
        camera.run(.seconds(4))
        let tap = RecordingTap()
        camera.shard.addTap(tap, to: camera.video, from: .keyFrame(before: camera.now - .seconds(8)), at: camera.now)
        let beginning = try #require(tap.beginning)
        #expect(beginning == TapBeginning(capture: restart, shortfall: .seconds(4)))
        #expect(tap.hasEverything(of: try track(camera)))
        // The one that was there learns of the restart, begins only once, and misses nothing.
        #expect(early.state.withLock { $0.restarts } == 1 && early.beginning != nil)
        #expect(early.hasEverything(of: try track(camera)))
        // The retention lasts through the restart.
        camera.run(.seconds(20))
        let later = RecordingTap()
        camera.shard.addTap(later, to: camera.video, from: .keyFrame(before: camera.now - .seconds(10)), at: camera.now)
        #expect(later.beginning?.shortfall == .zero)
    }
}

@Suite struct SoundWithPictureTests {
    private func camera(_ change: (inout ScriptedCamera.Shape) -> Void = { _ in }) throws -> ScriptedCamera {
        let world = try RelayWorld()
        world.camera.isRunning = false
        return ScriptedCamera(world.shard, at: world.now, change)
    }

    private func add(_ camera: ScriptedCamera, from start: TapStart) -> (picture: RecordingTap, sound: RecordingTap) {
        let taps = (picture: RecordingTap(), sound: RecordingTap())
        camera.shard.addTaps(
            [(taps.sound, camera.audio), (taps.picture, camera.video)], from: start, at: camera.now)
        return taps
    }

    @Test(arguments: [Duration.zero, .milliseconds(380)]) func soundBeginsAtTheMomentOfThePicture(
        delay: Duration
    ) throws {
        let camera = try camera {
            $0.keyFrameInterval = 40
            $0.pictureDelay = delay
        }
        let start = camera.now
        camera.shard.retain("yard", for: .seconds(10), RetentionStatus { _, _ in })
        camera.run(.seconds(35))
        // Only the camera's reports say how much later than the sound a picture comes.
        try #require(camera.shard.tracks[camera.video]).clock.recordReport(timestamp: 0, at: start)
        try #require(camera.shard.tracks[camera.audio]).clock.recordReport(timestamp: 0, at: start)
        let moment = camera.now - .seconds(10)
        let taps = add(camera, from: .keyFrame(before: moment))
        #expect(taps.picture.beginning == TapBeginning(capture: start + .seconds(24)))
        #expect(taps.sound.beginning == TapBeginning(capture: start + .seconds(24)))
        #expect(taps.sound.hasEverything(of: try #require(camera.shard.tracks[camera.audio])))
        #expect(taps.picture.hasEverything(of: try #require(camera.shard.tracks[camera.video])))
    }

    @Test func soundWaitsForThePictureThatItBeginsWith() throws {
        let camera = try camera { $0.keyFrameInterval = nil }
        camera.run(.seconds(20))
        let taps = add(camera, from: .newestKeyFrame)
        #expect(taps.picture.beginning == nil && taps.sound.beginning == nil)
        camera.run(.seconds(1))
        let picture = try #require(taps.picture.beginning)
        let sound = try #require(taps.sound.beginning)
        #expect((Duration.zero...(.milliseconds(20))).contains(picture.capture - sound.capture))
        #expect(taps.sound.hasEverything(of: try #require(camera.shard.tracks[camera.audio])))
    }

    @Test func soundGoesOnWithoutThePictureThatItWaitedFor() throws {
        let camera = try camera { $0.keyFrameInterval = nil }
        camera.run(.seconds(20))
        let taps = add(camera, from: .newestKeyFrame)
        try #require(camera.shard.tracks[camera.video]).removeTap(taps.picture)
        camera.run(.milliseconds(500))
        #expect(taps.sound.batches.count == 25)
        let others = add(camera, from: .live)
        // The camera comes back without a picture.
        camera.shape.hasPicture = false
        camera.announce()
        camera.run(.milliseconds(500))
        #expect(others.picture.state.withLock { $0.hasEnded })
        #expect(others.sound.batches.count == 25 && others.sound.state.withLock { $0.restarts } == 1)
    }

    /// The microphone was muted, or the camera paused its sound. A consumer would take the old packet for the beginning, and
    /// show a picture that stands still until the sound has reached the present.
    @Test func soundFromBeforeAPauseIsNotGivenOut() throws {
        let camera = try camera { $0.keyFrameInterval = 20 }
        camera.run(.seconds(5))
        camera.shape.hasSound = false
        camera.run(.seconds(9))
        let taps = add(camera, from: .newestKeyFrame)
        #expect(taps.picture.beginning != nil && taps.sound.batches.isEmpty)
        camera.shape.hasSound = true
        camera.run(.milliseconds(100))
        let sound = try #require(taps.sound.batches.first)
        #expect(sound.firstPacket == 0 && taps.sound.state.withLock { $0.restarts } == 0)
        #expect(taps.sound.hasEverything(of: try #require(camera.shard.tracks[camera.audio])))
    }

    /// What is handed in while the request is on the way belongs to what the tap gets.
    @Test(arguments: [TapStart.live, .newestKeyFrame]) func soundAloneMissesNothingThatWaits(_ start: TapStart) throws {
        let camera = try camera { $0.hasPicture = false }
        camera.run(.seconds(5))
        camera.run(.milliseconds(15), isLastTakenIn: false)
        let tap = RecordingTap()
        camera.shard.addTap(tap, to: camera.audio, from: start, at: camera.now)
        camera.shard.handleInlets(at: camera.now)
        #expect(tap.batches.count == 1)
        #expect(tap.hasEverything(of: try #require(camera.shard.tracks[camera.audio])))
    }

    @Test func aCameraWithoutPicturesBeginsAtTheMoment() throws {
        let camera = try camera { $0.hasPicture = false }
        camera.shard.retain("yard", for: .seconds(5), RetentionStatus { _, _ in })
        let start = camera.now
        camera.run(.seconds(20))
        let tap = RecordingTap()
        camera.shard.addTap(
            tap, to: camera.audio, from: .keyFrame(before: start + .milliseconds(15_010)), at: camera.now)
        #expect(tap.beginning == TapBeginning(capture: start + .seconds(15)))
        #expect(tap.hasEverything(of: try #require(camera.shard.tracks[camera.audio])))
        let late = RecordingTap()
        camera.shard.addTap(late, to: camera.audio, from: .keyFrame(before: start), at: camera.now)
        #expect(try #require(late.beginning).shortfall > .seconds(13))
    }
}
