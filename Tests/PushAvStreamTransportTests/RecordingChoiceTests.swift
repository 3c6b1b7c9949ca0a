import MediaRelay
import RTP
import Testing
import Transport

@testable import PushAvStreamTransport

/// What a recording becomes when tracks are chosen again while it runs.
@Suite("Tracks that are chosen again") struct RecordingChoiceTests {
    @Test("The microphone is muted and un-muted: all pictures are there once, and all sound from before and after")
    func muted() throws {
        var bench = RecordingBench()
        bench.begin()
        bench.run(.seconds(5))
        bench.assembler.setSound(clockRate: nil)
        bench.run(.seconds(3), sounds: false)
        bench.assembler.setSound(clockRate: 48_000)
        bench.run(.seconds(4))
        bench.stop()
        let recording = try #require(bench.recordings.first)
        #expect(bench.recordings.count == 1)
        #expect(recording.faults == [])
        #expect(recording.samples(0).count == 120)
        #expect(recording.samples(0).allSatisfy { $0.duration == 9_000 })
        let sounds = recording.samples(1)
        #expect(sounds.count == 450)
        #expect(sounds.allSatisfy { $0.duration == 960 })
        #expect(!sounds.contains { (5 * 48_000..<8 * 48_000).contains($0.time) })
        // What was recorded before the mute does not wait for its end to be uploaded.
        #expect(recording.segments.contains { $0.track == 1 && $0.decodeTime + $0.duration == 5 * 48_000 })
    }

    @Test("Pictures that were written already begin a session of their own, with their own times")
    func again() throws {
        var bench = RecordingBench(sound: false)
        bench.begin()
        bench.run(.seconds(5), sounds: false)
        // The relay gives the newest group again.
        bench.assembler.setPictures(codecName: "VP8")
        for number in 0..<10 { bench.picture(isKeyFrame: number == 0, later: -90_000 + 9_000 * Int64(number)) }
        bench.run(.seconds(2), sounds: false)
        bench.stop()
        let recordings = bench.recordings
        #expect(recordings.map { $0.end?.reason } == [.cut, .lengthReached])
        #expect(recordings.allSatisfy { $0.faults == [] })
        #expect(recordings.map { $0.samples(0).count } == [50, 30])
        #expect(recordings.allSatisfy { $0.samples(0).allSatisfy { $0.duration == 9_000 } })
    }

    @Test("Pictures that follow what was written go on in the same session")
    func following() throws {
        var bench = RecordingBench()
        bench.begin()
        bench.run(.seconds(5))
        bench.assembler.setPictures(codecName: "VP8")
        bench.run(.seconds(5))
        bench.stop()
        let recording = try #require(bench.recordings.first)
        #expect(bench.recordings.count == 1)
        #expect(recording.faults == [])
        #expect(recording.samples(0).count == 100)
        #expect(recording.samples(0).allSatisfy { $0.duration == 9_000 })
    }

    @Test("The next recording may reach back to the time of the one before")
    func preRollInRecording() throws {
        var bench = RecordingBench(sound: false)
        bench.begin()
        bench.run(.seconds(5), sounds: false)
        bench.stop()
        bench.begin()
        bench.assembler.setPictures(codecName: "VP8")
        for number in 0..<20 { bench.picture(isKeyFrame: number % 10 == 0, later: -180_000 + 9_000 * Int64(number)) }
        bench.run(.seconds(2), sounds: false)
        bench.stop()
        let recording = try #require(bench.recordings.last)
        #expect(bench.recordings.count == 2)
        #expect(recording.faults == [])
        #expect(recording.samples(0).count == 40)
        #expect(recording.samples(0).allSatisfy { $0.duration == 9_000 })
    }

    @Test("Nothing is recorded that was captured before the connection became active")
    func notBefore() throws {
        var bench = RecordingBench(sound: false)
        let active = bench.now - bench.delay
        bench.assembler.start(
            RecordingBench.trigger, triggeredAt: bench.now - .seconds(3), notBefore: active, at: bench.now)
        for number in 0..<10 { bench.picture(isKeyFrame: number == 0, later: -90_000 + 9_000 * Int64(number)) }
        // The rest of the group cannot be shown without its key frame.
        for _ in 0..<5 {
            bench.picture(isKeyFrame: false)
            bench.wait(.milliseconds(100))
        }
        #expect(bench.recordings.isEmpty)
        #expect(bench.assembler.needsKeyFrame)
        bench.run(.seconds(2), sounds: false)
        #expect(!bench.assembler.needsKeyFrame)
        bench.stop()
        let recording = try #require(bench.recordings.first)
        #expect(recording.faults == [])
        #expect(recording.samples(0).count == 20)
    }

    @Test("Chunks know when they were captured, whatever becomes of the wall clock")
    func captured() throws {
        var bench = RecordingBench()
        bench.begin()
        bench.run(.seconds(3))
        bench.assembler.wallClockOffset += 3_000_000_000
        bench.run(.seconds(3))
        bench.stop()
        let recording = try #require(bench.recordings.first)
        #expect(bench.recordings.count == 1)
        for chunk in recording.chunks {
            let scale = Int64(recording.session.tracks[chunk.track].timescale)
            let captured = try #require(chunk.captured)
            let expected =
                RecordingBench.start - bench.delay + .nanoseconds(chunk.decodeTime * 1_000_000_000 / scale)
            #expect(abs((captured - expected).wholeNanoseconds) < 1_000_000)
        }
    }

    // MARK: Mutes

    /// Ten packets of 20 ms, the first of which was captured and arrived at this moment.
    private func sound(at moment: Instant) throws -> TappedBatch {
        var pool = PacketBatchPool()
        for number in 0..<10 {
            [UInt8](repeating: 1, count: 20).withUnsafeBytes {
                pool.append(
                    PacketBatch.Packet(
                        offset: 0, length: 0, timestamp: UInt32(number) * 960, sequenceNumber: UInt16(number),
                        payloadType: 97, flags: [.startsFrame]),
                    payload: $0)
            }
        }
        // They come together when the last one has been captured.
        let finished = pool.finish(arrival: moment + .milliseconds(180))
        let batch = try #require(finished)
        return TappedBatch(batch: batch, firstPacket: 0, firstSequence: 0, timestampOffset: 0, capture: moment)
    }

    @Test("Sound from before the moment of un-muting stays out, however late it is read")
    func unmuted() throws {
        let start = RecordingBench.start
        var mutes = SoundGate.Mutes(isMuted: true)
        #expect(try sound(at: start).after(mutes, clockRate: 48_000) == nil)
        mutes.record(isMuted: false, at: start + .milliseconds(70))
        let rest = try #require(try sound(at: start).after(mutes, clockRate: 48_000))
        #expect(rest.firstPacket == 4)
        #expect(rest.capture == start + .milliseconds(80))
        #expect(try sound(at: start + .seconds(1)).after(mutes, clockRate: 48_000)?.firstPacket == 0)
    }

    @Test("Sound from before a mute may still be recorded, that of the mute never, also after the next one")
    func mutedTwice() throws {
        let start = RecordingBench.start
        var mutes = SoundGate.Mutes()
        #expect(mutes.areNone)
        mutes.record(isMuted: true, at: start + .seconds(1))
        #expect(try sound(at: start).after(mutes, clockRate: 48_000)?.firstPacket == 0)
        #expect(try sound(at: start + .seconds(1)).after(mutes, clockRate: 48_000) == nil)
        mutes.record(isMuted: false, at: start + .seconds(2))
        mutes.record(isMuted: true, at: start + .seconds(5))
        mutes.record(isMuted: true, at: start + .seconds(6))
        mutes.record(isMuted: false, at: start + .seconds(7))
        let heard = try (0..<9).filter {
            try sound(at: start + .seconds($0)).after(mutes, clockRate: 48_000) != nil
        }
        #expect(heard == [0, 2, 3, 4, 7, 8])
        // The memory is bounded, and forgets nothing that could still come.
        for number in 10..<300 {
            mutes.record(isMuted: number.isMultiple(of: 2), at: start + .seconds(number))
        }
        #expect(mutes.past.count <= 64)
        #expect(mutes.contain(start + .seconds(290)) && !mutes.contain(start + .seconds(299)))
    }
}
