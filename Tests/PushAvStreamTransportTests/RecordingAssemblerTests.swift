import Foundation
import FragmentedMP4
import RTP
import Testing
import Transport

@testable import PushAvStreamTransport

@Suite("What a recorder makes of a camera") struct RecordingAssemblerTests {
    @Test(
        "Both tracks come out whole and in step, at any duration of segments and chunks",
        arguments: [500, 2_000, 4_000], [0, 500, 1_000])
    func bothTracks(segment: Int, chunk: Int) throws {
        var bench = RecordingBench(segment: .milliseconds(segment), chunk: .milliseconds(chunk))
        bench.begin()
        bench.run(.seconds(20))
        bench.stop()
        let recording = try #require(bench.recordings.first)
        #expect(bench.recordings.count == 1)
        #expect(recording.faults == [])
        #expect(recording.gaps == [])
        #expect(recording.session.tracks.map(\.name) == ["video", "audio"])
        #expect(recording.session.tracks.map(\.codec) == ["vp08.00.10.08", "opus"])
        #expect(recording.session.number == 41)
        #expect(recording.samples(0).count == 200)
        #expect(recording.samples(0).allSatisfy { $0.duration == 9_000 })
        // The first picture arrives after the first sound of the same moment.
        #expect(recording.samples(1).count == 1_000)
        #expect(recording.samples(1).allSatisfy { $0.duration == 960 })
        #expect(recording.length(0) == 20)
        #expect(recording.length(1) == 20)
        #expect(recording.end?.reason == .lengthReached)
        // Key frames come every second.
        let expected = max((segment + 999) / 1_000, 1)
        let pictures = recording.segments.filter { $0.track == 0 }
        #expect(pictures.dropLast().allSatisfy { $0.duration == Int64(expected) * 90_000 })
        // Sound begins a segment where pictures do.
        let sounds = recording.segments.filter { $0.track == 1 }
        for (picture, sound) in zip(pictures, sounds) {
            #expect(abs(Double(picture.decodeTime) / 90_000 - Double(sound.decodeTime) / 48_000) < 0.6)
        }
    }

    @Test("Chunks say when they were captured, by the wall clock")
    func wallTime() throws {
        var bench = RecordingBench()
        bench.begin()
        bench.run(.seconds(5))
        bench.stop()
        let recording = try #require(bench.recordings.first)
        let start = RecordingBench.wallClock / 1_000 - 80_000
        #expect(recording.session.id.start == start / 1_000)
        for chunk in recording.chunks {
            let scale = Int64(recording.session.tracks[chunk.track].timescale)
            #expect(abs(chunk.wallTime - start - chunk.decodeTime * 1_000_000 / scale) <= 1)
        }
        #expect(abs((recording.end?.at ?? 0) - start - 5_000_000) < 1_000)
    }

    @Test("A segment begins at a key frame, however rare those are", arguments: [1, 7, 30, 95])
    func keyFrameInterval(interval: Int) throws {
        var bench = RecordingBench(segment: .milliseconds(500), chunk: .milliseconds(500))
        bench.begin()
        bench.run(.seconds(20), keyFrameEvery: interval)
        bench.stop()
        let recording = try #require(bench.recordings.first)
        #expect(recording.faults == [])
        #expect(recording.samples(0).count == 200)
        let lengths = recording.segments.filter { $0.track == 0 }.map(\.duration).dropLast()
        #expect(lengths.allSatisfy { $0 == max(Int64(interval), 5) * 9_000 })
    }

    @Test("A camera without sound")
    func withoutSound() throws {
        var bench = RecordingBench(sound: false)
        bench.begin()
        bench.run(.seconds(6), sounds: false)
        bench.stop()
        let recording = try #require(bench.recordings.first)
        #expect(recording.faults == [])
        #expect(recording.session.tracks.count == 1)
        #expect(recording.length(0) == 6)
    }

    @Test("A camera that announces sound and sends none begins without it")
    func silentSound() throws {
        var bench = RecordingBench()
        bench.begin()
        bench.run(.seconds(6), sounds: false)
        bench.stop()
        let recording = try #require(bench.recordings.first)
        #expect(recording.faults == [])
        #expect(recording.session.tracks.map(\.name) == ["video"])
        #expect(recording.length(0) == 6)
    }

    @Test("Sound that comes later begins another session at a key frame, and no picture is lost")
    func lateSound() throws {
        var bench = RecordingBench()
        bench.begin()
        bench.run(.seconds(5), sounds: false)
        bench.run(.seconds(5))
        bench.stop()
        let recordings = bench.recordings
        #expect(recordings.map(\.session.tracks.count) == [1, 2])
        #expect(recordings.allSatisfy { $0.faults == [] })
        #expect(recordings[0].end?.reason == .formatChanged)
        #expect(recordings.reduce(0) { $0 + $1.samples(0).count } == 100)
    }

    @Test("A camera with sound only")
    func soundOnly() throws {
        var bench = RecordingBench(pictures: nil)
        bench.begin()
        bench.run(.seconds(10), pictures: false)
        bench.stop()
        let recording = try #require(bench.recordings.first)
        #expect(recording.faults == [])
        #expect(recording.session.tracks.map(\.name) == ["audio"])
        #expect(recording.samples(0).count == 500)
        #expect(recording.segments.map(\.duration) == [96_000, 96_000, 96_000, 96_000, 96_000])
    }

    @Test("A camera whose pictures never come is recorded with its sound")
    func missingPictures() throws {
        var bench = RecordingBench()
        bench.begin()
        bench.run(.seconds(20), pictures: false)
        bench.stop()
        let recording = try #require(bench.recordings.first)
        #expect(recording.faults == [])
        #expect(recording.session.tracks.map(\.name) == ["audio"])
        #expect(recording.length(0) > 14)
    }

    @Test("A restart of the camera leaves a gap, and both tracks go on by the wall clock")
    func restart() throws {
        var bench = RecordingBench()
        bench.begin()
        bench.run(.seconds(5))
        bench.assembler.recordRestart(ofPictures: true)
        bench.assembler.recordRestart(ofPictures: false)
        bench.wait(.seconds(12))
        // The camera begins with other timestamps.
        bench.pictureClock = 5
        bench.soundClock = 4_000_000_000
        bench.run(.seconds(5))
        bench.stop()
        let recording = try #require(bench.recordings.first)
        #expect(bench.recordings.count == 1)
        #expect(recording.faults == [])
        let start = RecordingBench.wallClock / 1_000 - 80_000
        #expect(
            recording.gaps.map { [$0.from - start, $0.until - start] } == [[5_000_000, 17_000_000]])
        #expect(recording.gaps.map(\.reason) == [.cameraAway])
        #expect(recording.samples(0).count == 100)
        #expect(recording.length(0) == 10)
        #expect(abs(recording.end(0) - 22) < 0.001)
        #expect(abs(recording.end(1) - 22) < 0.021)
    }

    @Test("After a long absence a session ends, and the next one begins by itself")
    func longAbsence() throws {
        var bench = RecordingBench()
        bench.begin()
        bench.run(.seconds(5))
        for _ in 0..<100 { bench.wait(.seconds(1)) }
        bench.run(.seconds(5))
        bench.stop()
        let recordings = bench.recordings
        #expect(recordings.map { $0.end?.reason } == [.cameraAway, .lengthReached])
        #expect(recordings.allSatisfy { $0.faults == [] && $0.length(0) == 5 })
    }

    @Test(
        "A jump of the camera's clock changes nothing", arguments: [-3_600.0, -30, -1.5, 1.5, 30, 3_600, 40_000])
    func clockJump(seconds: Double) throws {
        var bench = RecordingBench()
        bench.begin()
        bench.run(.seconds(6))
        bench.pictureClock &+= UInt32(truncatingIfNeeded: Int64(seconds * 90_000))
        bench.run(.seconds(6))
        bench.soundClock &+= UInt32(truncatingIfNeeded: Int64(seconds * 48_000))
        bench.run(.seconds(8))
        bench.stop()
        let recording = try #require(bench.recordings.first)
        #expect(bench.recordings.count == 1)
        #expect(recording.faults == [])
        #expect(recording.gaps == [])
        #expect(recording.samples(0).count == 200)
        #expect(abs(recording.end(0) - 20) < 0.01)
        #expect(abs(recording.end(1) - 20) < 0.1)
    }

    @Test("Timestamps that mean nothing are replaced by arrivals", arguments: [0.0, 10.5])
    func wildTimestamps(factor: Double) throws {
        var bench = RecordingBench(sound: false)
        bench.begin()
        for step in 0..<600 {
            bench.picture(isKeyFrame: step % 10 == 0)
            let clock = bench.pictureClock
            bench.wait(.milliseconds(100))
            bench.pictureClock = clock &+ UInt32(9_000 * factor)
        }
        bench.stop()
        let recording = try #require(bench.recordings.first)
        #expect(recording.faults == [])
        #expect(recording.samples(0).count == 600)
        #expect(abs(recording.end(0) - 60) < 0.5)
    }

    @Test("A network that stops for a moment and catches up leaves the times of capture")
    func burst() throws {
        var bench = RecordingBench(sound: false)
        bench.begin()
        bench.run(.seconds(4), sounds: false)
        // Fifteen pictures come at once, 1.5 s late.
        var clock = bench.pictureClock
        bench.wait(.milliseconds(1_500))
        for step in 0..<15 {
            bench.pictureClock = clock
            bench.picture(isKeyFrame: step % 10 == 0)
            clock &+= 9_000
        }
        bench.pictureClock = clock
        bench.run(.seconds(4), sounds: false)
        bench.stop()
        let recording = try #require(bench.recordings.first)
        #expect(recording.faults == [])
        #expect(recording.gaps == [])
        #expect(recording.samples(0).allSatisfy { $0.duration == 9_000 })
    }

    @Test("A sender report that moves the captures brings the tracks in step, slowly for pictures")
    func senderReport() throws {
        var bench = RecordingBench()
        bench.begin()
        bench.run(.seconds(5))
        bench.captureError = .milliseconds(-300)
        bench.run(.seconds(15))
        bench.stop()
        let recording = try #require(bench.recordings.first)
        #expect(recording.faults == [])
        #expect(abs(recording.end(0) - 19.7) < 0.02)
        #expect(abs(recording.end(1) - 19.7) < 0.1)
        // No picture lasts visibly longer or shorter than the others.
        #expect(recording.samples(0).allSatisfy { abs(Int($0.duration) - 9_000) <= 450 })
    }

    @Test("Captures that are far from the arrivals say nothing", arguments: [-3_600, -4, 1, 3_600])
    func implausibleCaptures(seconds: Int) throws {
        var bench = RecordingBench()
        bench.captureError = .seconds(seconds)
        bench.begin()
        bench.run(.seconds(6))
        bench.stop()
        let recording = try #require(bench.recordings.first)
        #expect(bench.recordings.count == 1)
        #expect(recording.faults == [])
        #expect(abs(recording.length(0) - 6) < 0.2)
        // It began when its packets came.
        #expect(abs(recording.session.id.start - RecordingBench.wallClock / 1_000_000) < 1_000)
    }

    @Test("A lost picture leaves a gap with its reason")
    func loss() throws {
        var bench = RecordingBench()
        bench.begin()
        bench.run(.seconds(4))
        bench.assembler.recordMissing(.loss, inPictures: true)
        bench.run(.seconds(1), pictures: false)
        bench.run(.seconds(4))
        bench.stop()
        let recording = try #require(bench.recordings.first)
        #expect(recording.faults == [])
        #expect(recording.gaps.map(\.reason) == [.loss])
        #expect(recording.gaps.map { $0.until - $0.from } == [1_000_000])
        // The picture before the gap stays on the screen: the line has no hole.
        #expect(recording.length(0) == 9)
    }

    @Test("B-frames keep the times at which they are shown", arguments: [true, false])
    func bFrames(isStated: Bool) throws {
        var bench = RecordingBench(pictures: "h264", sound: false)
        bench.assembler.outOfBandParameters = isStated ? H264Fixture.parametersWithBFrames : H264Fixture.parameters
        bench.begin()
        // Two B-frames follow each P-frame in the order of decoding.
        let shown = [0, 3, 1, 2, 6, 4, 5, 9, 7, 8, 12, 10, 11, 14, 13]
        let clock = bench.pictureClock
        for group in 0..<10 {
            for place in 0..<15 {
                let number = Int64(group * 15 + shown[place])
                let isKeyFrame = place == 0
                bench.assembler.append(
                    RecordedPicture(
                        data: [0, 0, 0, 1, isKeyFrame ? 0x65 : 0x41, UInt8(group), UInt8(shown[place])],
                        timestamp: clock &+ UInt32(number * 6_000), isKeyFrame: isKeyFrame,
                        capture: RecordingBench.start + .microseconds(66_667 * number), arrival: bench.now),
                    at: bench.now)
                bench.wait(.microseconds(66_667))
            }
        }
        bench.stop()
        let recording = try #require(bench.recordings.first)
        #expect(recording.faults == [])
        let samples = recording.samples(0)
        #expect(samples.count == 150)
        let times = samples.map { ($0.time + Int64($0.compositionOffset)) / 6_000 }
        let expected = (0..<10).flatMap { group in shown.map { Int64(group * 15 + $0) } }
        #expect(times == expected)
        if isStated { #expect(samples.dropLast().allSatisfy { $0.duration == 6_000 }) }
    }

    @Test("Another size of the pictures ends the session, and the next one loses nothing")
    func formatChange() throws {
        var bench = RecordingBench()
        bench.begin()
        bench.run(.seconds(5))
        bench.width = 128
        bench.run(.seconds(5))
        bench.stop()
        let recordings = bench.recordings
        #expect(recordings.map { $0.session.tracks[0].width } == [64, 128])
        #expect(recordings.map { $0.end?.reason } == [.formatChanged, .lengthReached])
        #expect(recordings.allSatisfy { $0.faults == [] })
        #expect(recordings.reduce(0) { $0 + $1.samples(0).count } == 100)
        #expect(recordings.reduce(0) { $0 + $1.samples(1).count } == 500)
        #expect(recordings.map(\.session.number) == [41, 42])
    }

    @Test("A long recording is cut at a key frame, and the next session follows without a gap")
    func cut() throws {
        var bench = RecordingBench { $0.longestSession = .milliseconds(4_500) }
        bench.begin()
        bench.run(.seconds(20))
        bench.stop()
        let recordings = bench.recordings
        #expect(recordings.map { $0.end?.reason } == [.cut, .cut, .cut, .lengthReached])
        #expect(recordings.allSatisfy { $0.faults == [] && $0.length(0) == 5 })
        #expect(recordings.reduce(0) { $0 + $1.samples(1).count } == 1_000)
        for (earlier, later) in zip(recordings, recordings.dropFirst()) {
            #expect(abs((earlier.end?.at ?? 0) - (later.chunks.first?.wallTime ?? 0)) < 21_000)
        }
    }

    @Test("The wall clock is set: decode times go on, and the next session has the right time")
    func wallClockStep() throws {
        var bench = RecordingBench()
        bench.begin()
        bench.run(.seconds(5))
        bench.assembler.wallClockOffset += 3_600_000_000_000
        bench.run(.seconds(5))
        bench.stop()
        let recordings = bench.recordings
        #expect(recordings.count == 2)
        #expect(recordings.allSatisfy { $0.faults == [] && $0.length(0) == 5 })
        #expect(recordings[1].session.id.start - recordings[0].session.id.start == 3_605_000)
    }

    @Test("Nothing is kept that was captured after the stop, and nothing before the start")
    func bounds() throws {
        var bench = RecordingBench()
        bench.run(.seconds(3))
        #expect(bench.outputs.isEmpty)
        bench.begin()
        bench.run(.seconds(4))
        bench.assembler.stop(.privacy, at: bench.now - .seconds(1))
        bench.take()
        bench.run(.seconds(3))
        let recording = try #require(bench.recordings.first)
        #expect(bench.recordings.count == 1)
        #expect(recording.faults == [])
        #expect(recording.end?.reason == .privacy)
    }

    @Test("A session waits for a key frame, also the one after a fault", arguments: [false, true])
    func beginsWithKeyFrame(afterFault: Bool) throws {
        var bench = RecordingBench()
        if afterFault { bench.begin() }
        bench.run(.seconds(2))
        if afterFault {
            bench.assembler.abandon(.storageFull)
            bench.take()
        } else {
            bench.begin()
        }
        // The rest of a group of pictures, whose key frame came before.
        for _ in 0..<7 {
            bench.picture(isKeyFrame: false)
            bench.wait(.milliseconds(100))
        }
        bench.run(.seconds(2))
        bench.stop()
        let recording = try #require(bench.recordings.last)
        #expect(bench.recordings.count == (afterFault ? 2 : 1))
        #expect(recording.faults == [])
        #expect(recording.samples(0).count == 20)
        #expect(recording.samples(0).first?.isKeyFrame == true)
        // Nothing of the session lies before it.
        #expect(recording.samples(0).first?.time == 0)
        let first = try #require(recording.chunks.first)
        #expect(abs(first.wallTime - recording.session.id.start * 1_000) < 2_000)
    }

    @Test("A further trigger is added to the session, and is in the track")
    func trigger() throws {
        var bench = RecordingBench()
        bench.begin()
        bench.run(.seconds(2))
        let press = RecordingSession.Trigger(kind: .command, reason: "press of the button", events: ["e2"])
        bench.assembler.extend(press, at: bench.now)
        bench.run(.seconds(2))
        bench.stop()
        let recording = try #require(bench.recordings.first)
        #expect(recording.triggers == [press])
        let bytes = recording.chunks.filter { $0.track == 0 }.flatMap(\.bytes)
        let text = String(decoding: bytes, as: UTF8.self)
        #expect(text.components(separatedBy: "urn:gatehouse:recording:trigger").count == 3)
        #expect(text.contains("press of the button"))
    }

    @Test("A further trigger is one of its session, and of none that follows")
    func triggerOfOneSession() throws {
        var bench = RecordingBench { $0.longestSession = .milliseconds(9_500) }
        bench.begin()
        bench.run(.seconds(5))
        let press = RecordingSession.Trigger(kind: .command, reason: "press of the button", events: ["e2"])
        bench.assembler.extend(press, at: bench.now)
        bench.run(.seconds(20))
        bench.stop()
        let recordings = bench.recordings
        #expect(recordings.count == 3)
        #expect(recordings.map(\.session.trigger.events) == [["e1"], ["e1"], ["e1"]])
        #expect(recordings.map(\.triggers) == [[press], [], []])
    }

    @Test("The newest triggers that come while the camera is away are those of the next session, and only of that one")
    func triggersWithoutSession() throws {
        var bench = RecordingBench { $0.longestSession = .milliseconds(9_500) }
        bench.begin()
        for number in 1...1_000 {
            bench.assembler.extend(
                RecordingSession.Trigger(kind: .motion, reason: "motion in Driveway", events: ["m\(number)"]),
                at: bench.now)
        }
        bench.take()
        bench.run(.seconds(15))
        bench.stop()
        let recordings = bench.recordings
        #expect(recordings.count == 2)
        let newest = (901...1_000).map { "m\($0)" }
        #expect(recordings.first?.session.trigger.events == ["e1"] + newest)
        #expect(recordings.last?.session.trigger.events == ["e1"])
        #expect(recordings.allSatisfy { $0.faults == [] && $0.triggers == [] })
    }
}

/// Parameter sets of H.264 (320 × 180, High) after start codes: with and without a statement about reordered pictures.
enum H264Fixture {
    static let pictureParameters: [UInt8] = [0, 0, 0, 1, 0x68, 0xEE, 0x3C, 0x80]
    static let parameters =
        [0, 0, 0, 1, 0x67, 0x64, 0x00, 0x1F, 0xAC, 0xDB, 0x05, 0x06, 0x7E, 0x74] + pictureParameters
    /// Two pictures at most.
    static let parametersWithBFrames =
        [0, 0, 0, 1, 0x67, 0x64, 0x00, 0x1F, 0xAC, 0xDB, 0x05, 0x06, 0x7E, 0x78, 0x07, 0x8A, 0x14, 0xCB]
        + pictureParameters
}
