import FragmentedMP4
import Testing
import Transport

@testable import PushAvStreamTransport

@Suite("How long a recorder waits for what does not come") struct RecordingAssemblerWaitingTests {
    @Test("At a picture every 3 s, one that is lost is not a gap")
    func lowFrameRate() throws {
        var bench = RecordingBench(sound: false)
        for number in 0..<23 {
            // What comes before the recording shows how rare pictures are.
            if number == 3 { bench.begin() }
            if number != 9 { bench.picture(isKeyFrame: true) }
            for _ in 0..<10 { bench.wait(.milliseconds(300)) }
        }
        bench.stop()
        let recording = try #require(bench.recordings.first)
        #expect(recording.faults == [])
        #expect(recording.gaps == [])
        #expect(recording.samples(0).map(\.duration).filter { $0 == 540_000 }.count == 1)
        #expect(recording.samples(0).count == 19)
    }

    @Test("Sound goes on in segments of its own when the pictures stop")
    func soundWithoutPictures() throws {
        var bench = RecordingBench(segment: .seconds(2))
        bench.begin()
        bench.run(.seconds(5))
        bench.run(.seconds(30), pictures: false)
        bench.stop()
        let recording = try #require(bench.recordings.first)
        #expect(bench.recordings.count == 1 && recording.faults == [])
        #expect(recording.length(1) > 34)
        let longest = recording.segments.filter { $0.track == 1 }.map(\.duration).max() ?? 0
        #expect((96_000...200_000).contains(longest))
    }

    @Test("So many bytes wait for the other track, and no more", arguments: [100, 32 << 20])
    func waitingBytes(most: Int) {
        var bench = RecordingBench {
            $0.patience = .seconds(100)
            $0.silence = .seconds(100)
            $0.mostWaitingBytes = most
        }
        bench.begin()
        bench.run(.seconds(4), sounds: false)
        #expect(bench.outputs.isEmpty == (most > 100))
    }

    @Test("What waits for sound is kept when the camera goes away")
    func absence() throws {
        var bench = RecordingBench {
            $0.longestAbsence = .milliseconds(500)
            $0.patience = .seconds(2)
        }
        bench.begin()
        bench.run(.seconds(3))
        bench.run(.milliseconds(300), sounds: false)
        for _ in 0..<10 { bench.wait(.milliseconds(100)) }
        let recording = try #require(bench.recordings.first)
        #expect(recording.faults == [])
        #expect(recording.end?.reason == .cameraAway)
        #expect(recording.samples(0).count == 33)
    }
}
