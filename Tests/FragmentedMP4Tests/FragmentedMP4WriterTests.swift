import FragmentedMP4
import Testing

@Suite struct FragmentedMP4WriterTests {
    static let parameters: [UInt8] = [0x67, 0x42, 0xC0, 0x1F, 0xDA]
    static let video = MP4Track(codec: .vp8(width: 640, height: 360), timescale: 90_000)
    static let h264 = MP4Track(
        codec: .h264(
            width: 640, height: 360, sequenceParameterSets: [parameters], pictureParameterSets: [[0x68, 0xCE]]),
        timescale: 90_000)
    static let audio = MP4Track(codec: .opus(channels: 1, preSkip: 0), timescale: 48_000)

    private func sample(_ number: Int, at time: Int64, isKeyFrame: Bool = true) -> MP4Sample {
        MP4Sample(
            data: [UInt8](repeating: UInt8(number & 0xFF), count: 10 + number), decodeTime: time,
            isKeyFrame: isKeyFrame)
    }

    @Test func describesEachTrack() throws {
        let writer = try FragmentedMP4Writer(tracks: [
            Self.video, Self.h264, Self.audio, MP4Track(codec: .muLaw(channels: 1), timescale: 8_000),
            MP4Track(codec: .aLaw(channels: 2), timescale: 8_000),
        ])
        let boxes = try #require(Box.all(in: writer.initializationSegment))
        #expect(boxes.map(\.type) == ["ftyp", "moov"])
        let tracks = (Box.all(in: boxes[1].content) ?? []).filter { $0.type == "trak" }
        let entries = tracks.map { track in
            track.find("mdia", "minf", "stbl", "stsd").flatMap { Box.all(in: $0.content, from: 8)?.first }
        }
        #expect(entries.map { $0?.type } == ["vp08", "avc1", "Opus", "ulaw", "alaw"])
        #expect(tracks.map { $0.find("mdia", "mdhd")?.integer(at: 12) } == [90_000, 90_000, 48_000, 8_000, 8_000])
        #expect(entries[0]?.integer(at: 24, length: 2) == 640)
        #expect(entries[0]?.integer(at: 26, length: 2) == 360)
        let avcC = entries[1].flatMap { Box.all(in: $0.content, from: 78)?.first }
        #expect(avcC?.type == "avcC")
        #expect(
            avcC?.content == [1, 0x42, 0xC0, 0x1F, 0xFF, 0xE1, 0, 5] + Self.parameters + [1, 0, 2, 0x68, 0xCE])
        #expect(boxes[1].find("mvex").flatMap { Box.all(in: $0.content)?.count } == 5)
    }

    @Test func aFragmentEndsBeforeEachKeyFrameAndHoldsAllTracks() throws {
        var writer = try FragmentedMP4Writer(tracks: [Self.video, Self.audio], fragmentDuration: .seconds(10))
        var file: [UInt8] = []
        var fragments = 0
        for number in 0..<31 {
            for half in 0..<3 {
                let sound = try writer.append(
                    sample(half, at: Int64(number * 3 + half) * 960), track: 1)
                #expect(sound == nil)
            }
            if let fragment = try writer.append(
                sample(number, at: Int64(number) * 6_000, isKeyFrame: number % 15 == 0), track: 0)
            {
                fragments += 1
                file += fragment
            }
        }
        // At the first key frame only sound has come; then one at 15 and one at 30.
        #expect(fragments == 3)
        let last = writer.finish()
        file += try #require(last)
        let nothing = writer.finish()
        #expect(nothing == nil)
        let read = try #require(samples(in: file))
        let pictures = read.filter { $0.track == 0 }
        #expect(pictures.map(\.time) == (0..<31).map { $0 * 6_000 })
        #expect(pictures.allSatisfy { $0.duration == 6_000 })
        #expect(pictures.map(\.isKeyFrame) == (0..<31).map { $0 % 15 == 0 })
        #expect(pictures.map(\.data) == (0..<31).map { sample($0, at: 0).data })
        let sounds = read.filter { $0.track == 1 }
        #expect(sounds.map(\.time) == (0..<93).map { $0 * 960 })
        #expect(sounds.allSatisfy { $0.duration == 960 && $0.isKeyFrame })
    }

    @Test func soundAloneIsCutByTime() throws {
        var writer = try FragmentedMP4Writer(tracks: [Self.audio], fragmentDuration: .milliseconds(200))
        var lengths: [Int] = []
        for number in 0..<100 {
            if let fragment = try writer.append(sample(1, at: Int64(number) * 960), track: 0) {
                lengths.append(samples(in: fragment)?.count ?? -1)
            }
        }
        #expect(lengths == [Int](repeating: 10, count: 9))
    }

    @Test func aFragmentIsBoundedByItsBytes() throws {
        var writer = try FragmentedMP4Writer(
            tracks: [Self.video], fragmentDuration: .seconds(3_600), maximumFragmentLength: 1_000)
        var fragments = 0
        for number in 0..<50 {
            let data = MP4Sample(
                data: [UInt8](repeating: 1, count: 300), decodeTime: Int64(number) * 6_000, isKeyFrame: number == 0)
            if let fragment = try writer.append(data, track: 0) {
                fragments += 1
                #expect(fragment.count < 1_500)
            }
        }
        #expect(fragments > 10)
    }

    @Test func unevenTimesGiveEachSampleItsOwnDuration() throws {
        var writer = try FragmentedMP4Writer(tracks: [Self.video])
        let times: [Int64] = [100, 6_000, 6_001, 30_000]
        for (number, time) in times.enumerated() {
            let fragment = try writer.append(sample(number, at: time, isKeyFrame: number == 0), track: 0)
            #expect(fragment == nil)
        }
        let last = writer.finish()
        let read = try #require(last.flatMap(samples))
        #expect(read.map(\.time) == [100, 6_000, 6_001, 30_000])
        #expect(read.map(\.duration) == [5_900, 1, 23_999, 23_999])
    }

    @Test func refusesWhatCannotBeWritten() throws {
        var writer = try FragmentedMP4Writer(tracks: [Self.video])
        #expect(throws: MP4Error.unknownTrack(1)) { _ = try writer.append(sample(1, at: 0), track: 1) }
        #expect(throws: MP4Error.unknownTrack(-1)) { _ = try writer.append(sample(1, at: 0), track: -1) }
        #expect(throws: MP4Error.invalidSample(track: 0, length: 0)) {
            _ = try writer.append(MP4Sample(data: [], decodeTime: 0, isKeyFrame: true), track: 0)
        }
        _ = try writer.append(sample(1, at: 10), track: 0)
        #expect(throws: MP4Error.timeNotRising(track: 0, decodeTime: 10, previous: 10)) {
            _ = try writer.append(sample(1, at: 10), track: 0)
        }
        #expect(throws: MP4Error.self) { _ = try writer.append(sample(1, at: .max), track: 0) }
        // The refused sample has left no trace.
        let next = try writer.append(sample(2, at: 20), track: 0)
        #expect(next.flatMap(samples)?.map(\.duration) == [10])
    }

    @Test func aTrackThatCannotBeDescribedIsRefused() {
        let cases: [(codec: MP4Track.Codec, timescale: Int, fault: MP4Error.TrackFault)] = [
            (.vp8(width: 0, height: 360), 90_000, .pictureSize(width: 0, height: 360)),
            (.vp8(width: 640, height: 70_000), 90_000, .pictureSize(width: 640, height: 70_000)),
            (.vp8(width: 640, height: 360), 0, .timescale(0)),
            (.opus(channels: 3, preSkip: 0), 48_000, .channels(3, limit: 2)),
            (.opus(channels: 1, preSkip: -1), 48_000, .preSkip(-1)),
            (
                .h264(width: 1, height: 1, sequenceParameterSets: [], pictureParameterSets: [[1]]), 1,
                .h264SequenceParameterSets
            ),
            (
                .h264(width: 1, height: 1, sequenceParameterSets: [Self.parameters], pictureParameterSets: []), 1,
                .h264PictureParameterSets
            ),
        ]
        for (codec, timescale, fault) in cases {
            #expect(throws: MP4Error.invalidTrack(0, fault)) {
                _ = try FragmentedMP4Writer(tracks: [MP4Track(codec: codec, timescale: timescale)])
            }
        }
    }

    @Test func startCodesBecomeLengths() {
        #expect(
            MP4Sample.lengthPrefixed(annexB: [0, 0, 0, 1, 9, 0xF0, 0, 0, 1, 0x67, 1, 2, 0, 0, 0, 1, 0x65, 0, 0, 3])
                == [0, 0, 0, 3, 0x67, 1, 2, 0, 0, 0, 4, 0x65, 0, 0, 3])
        #expect(MP4Sample.lengthPrefixed(annexB: []) == [])
        #expect(MP4Sample.lengthPrefixed(annexB: [1, 2, 3]) == [])
        #expect(MP4Sample.lengthPrefixed(annexB: [0, 0, 1]) == [])
        #expect(MP4Sample.lengthPrefixed(annexB: [0, 0, 1, 0, 0, 1, 5]) == [0, 0, 0, 1, 5])
    }
}
