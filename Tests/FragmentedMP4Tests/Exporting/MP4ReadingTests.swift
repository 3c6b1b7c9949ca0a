import FragmentedMP4
import Testing
import Transport

/// The reader of recorded files, also with damaged ones.
@Suite struct MP4ReadingTests {
    @Test func theHeaderDescribesTheTrack() throws {
        let track = try MP4ExporterTests.recording()[0]
        let one = try #require(track.header.tracks.first)
        #expect(one.isVideo)
        #expect(one.timescale == 90_000)
        #expect((one.width, one.height) == (320, 180))
        #expect(one.format == "vp08")
    }

    @Test func everySampleIsFoundWhereItIs() throws {
        for track in try MP4ExporterTests.recording() {
            var index = 0
            for chunk in track.chunks {
                var time = chunk.decodeTime
                for run in chunk.runs {
                    var place = Int(run.offset)
                    for sample in run.samples {
                        let written = track.samples[index]
                        #expect(Array(track.file[place..<place + Int(sample.size)]) == written.data)
                        #expect(time == written.decodeTime)
                        #expect(sample.isSync == written.isKeyFrame)
                        place += Int(sample.size)
                        time += Int64(sample.duration)
                        index += 1
                    }
                }
            }
            #expect(index == track.samples.count)
        }
    }

    @Test func aNarrowWindowShowsTheSame() throws {
        let track = try MP4ExporterTests.recording()[0]
        for window in [1, 8, 17, 100, 1 << 20] {
            #expect(try RecordedTrack.chunks(of: track.file, track.header, window: window) == track.chunks)
        }
    }

    @Test func aFileThatIsCutOffHasItsWholeChunks() throws {
        let track = try MP4ExporterTests.recording()[0]
        for cut in stride(from: 1, to: track.file.count, by: 211) {
            let file = Array(track.file.dropLast(cut))
            let whole = track.chunks.filter { $0.end <= Int64(file.count) }
            #expect(try RecordedTrack.chunks(of: file, track.header, window: 4_096) == whole)
        }
    }

    @Test func theTimeOfCaptureIsRead() throws {
        let track = try MP4ExporterTests.recording()[0]
        // 2026-11-22T18:00:00.250Z in NTP's form, for media time 7.
        let network = (UInt64(1_795_370_400 + 2_208_988_800) << 32) | 0x4000_0000
        var box: [UInt8] = [0, 0, 0, 32] + Array("prft".utf8) + [1, 0, 0, 24, 0, 0, 0, 1]
        for value in [network, 7] { withUnsafeBytes(of: value.bigEndian) { box.append(contentsOf: $0) } }
        let chunks = try RecordedTrack.chunks(of: box + track.file, track.header, window: 4_096)
        #expect(chunks.first?.producerTime == .init(wallTime: 1_795_370_400_250_000, mediaTime: 7))
        #expect(chunks.count == track.chunks.count)
    }

    @Test func damageIsRefusedAndNeverReadOutside() throws {
        let track = try RecordedTrack(
            MP4ExporterTests.pictures, timescale: 90_000, count: 30, step: 3_000, keyFrames: 10, reordered: true)
        var writer = try FragmentedMP4Writer(
            tracks: [MP4Track(codec: MP4ExporterTests.pictures, timescale: 90_000)])
        _ = writer.finish()
        let start = writer.initializationSegment
        var random = RandomSource.seeded(11)
        var refused = 0
        for _ in 0..<3_000 {
            var bytes = start
            var file = track.file
            for _ in 0..<Int.random(in: 1...4, using: &random) {
                if Bool.random(using: &random) {
                    bytes[Int.random(in: bytes.indices, using: &random)] = UInt8.random(in: 0...255, using: &random)
                } else {
                    file[Int.random(in: file.indices, using: &random)] = UInt8.random(in: 0...255, using: &random)
                }
            }
            guard let header = try? MP4Header(bytes),
                let chunks = try? RecordedTrack.chunks(of: file, header, window: 64)
            else {
                refused += 1
                continue
            }
            for chunk in chunks {
                for run in chunk.runs { #expect(run.offset >= 0 && run.offset + run.length <= Int64(file.count)) }
            }
        }
        #expect(refused > 0)
    }
}
