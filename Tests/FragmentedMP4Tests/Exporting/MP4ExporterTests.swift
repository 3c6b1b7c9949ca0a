import FragmentedMP4
import Testing
import Transport

/// Files made of recorded segments, checked sample by sample.
@Suite struct MP4ExporterTests {
    static let pictures = MP4Track.Codec.vp8(width: 320, height: 180)
    static let sound = MP4Track.Codec.opus(channels: 1, preSkip: 0)

    /// Ten seconds: 25 pictures a second with a key frame each second, and packets of sound of 20 ms.
    static func recording(seed: UInt8 = 0) throws -> [RecordedTrack] {
        [
            try RecordedTrack(pictures, timescale: 90_000, count: 250, step: 3_600, keyFrames: 25, seed: seed),
            try RecordedTrack(sound, timescale: 48_000, count: 500, step: 960, seed: seed),
        ]
    }

    /// Adds a session whose time 0 is at `start`, with its range.
    static func add(
        _ tracks: [RecordedTrack], to exporter: inout MP4Exporter, start: Int64, range: Range<Int64>, source: Int = 0
    ) throws {
        try exporter.begin(.init(tracks: tracks.map { $0.header.tracks[0] }, start: start, range: range))
        for (index, track) in tracks.enumerated() {
            for chunk in track.chunks { try exporter.add(chunk, track: index, source: source + index) }
        }
    }

    @Test func anExportBeginsAndEndsExactlyWhereItWasAskedTo() throws {
        let tracks = try Self.recording()
        var exporter = MP4Exporter(startTime: 0)
        // From 2.34 s to 5.678 s of the session.
        try Self.add(tracks, to: &exporter, start: -2_340_000, range: 0..<3_338_000)
        let export = try exporter.finish()
        let file = try #require(PlainFile(export.bytes(from: tracks.map(\.file))))
        #expect(Double(file.duration) / Double(file.timescale) == 3.338)
        #expect(export.duration == 3_338_000)

        let video = try #require(file.tracks.first { $0.isVideo })
        // Pictures 50 (the key frame before) to 141 (5.64 s), and all of their bytes.
        #expect(video.samples.map(\.data) == tracks[0].samples[50...141].map(\.data))
        #expect(video.samples.map(\.time) == (0..<92).map { $0 * 3_600 })
        #expect(video.samples.indices.filter { video.samples[$0].isSync } == [0, 25, 50, 75])
        // The edit begins 0.34 s behind the key frame, and is as long as the range.
        #expect(video.edits.map(\.mediaTime) == [30_600])
        #expect(video.edits.map(\.duration) == [3_338_000])

        let sound = try #require(file.tracks.first { !$0.isVideo })
        // Sound from 80 ms before the range: the packet that ends behind 2.26 s is that of 2.26 s.
        #expect(sound.samples.map(\.data) == tracks[1].samples[113...283].map(\.data))
        // 2.34 s is 80 ms behind 2.26 s.
        #expect(sound.edits.map(\.mediaTime) == [3_840])
        #expect(sound.edits.map(\.duration) == [3_338_000])
    }

    @Test func aTrackThatBeginsLaterKeepsItsPlace() throws {
        let tracks = try Self.recording()
        var exporter = MP4Exporter(startTime: 0)
        // The range begins a second before the session, and sound comes half a second late.
        try exporter.begin(
            .init(tracks: tracks.map { $0.header.tracks[0] }, start: 1_000_000, range: 0..<5_000_000))
        for chunk in tracks[0].chunks { try exporter.add(chunk, track: 0, source: 0) }
        for var chunk in tracks[1].chunks {
            chunk.decodeTime += 24_000
            try exporter.add(chunk, track: 1, source: 1)
        }
        let file = try #require(PlainFile(try exporter.finish().bytes(from: tracks.map(\.file))))
        #expect(file.tracks[0].edits.map(\.duration) == [1_000_000, 4_000_000])
        #expect(file.tracks[0].edits.map(\.mediaTime) == [-1, 0])
        #expect(file.tracks[1].edits.map(\.duration) == [1_500_000, 3_500_000])
    }

    @Test func reorderedPicturesKeepTheirTimes() throws {
        let track = try RecordedTrack(
            Self.pictures, timescale: 90_000, count: 90, step: 3_000, keyFrames: 30, reordered: true)
        var exporter = MP4Exporter(startTime: 0)
        try Self.add([track], to: &exporter, start: -1_500_000, range: 0..<1_000_000)
        let file = try #require(PlainFile(try exporter.finish().bytes(from: [track.file])))
        let picked = track.samples[30..<75]
        #expect(file.tracks[0].samples.map(\.data) == picked.map(\.data))
        #expect(
            file.tracks[0].samples.map(\.shown)
                == picked.map { Int($0.decodeTime + Int64($0.compositionOffset)) - 90_000 })
        #expect(file.tracks[0].edits.map(\.mediaTime) == [45_000])
    }

    /// With negative offsets (`ctts`, version 1), a picture may be decoded after the range and shown in it.
    @Test(arguments: [false, true])
    func aPictureThatIsDecodedAfterTheEndIsThereUnlessMoreFollows(isFollowed: Bool) throws {
        let track = try RecordedTrack(
            Self.pictures, timescale: 90_000, count: 90, step: 3_000, keyFrames: 30, reordered: true, earliest: -3_000)
        var exporter = MP4Exporter(startTime: 0)
        // From picture 30 to the middle of picture 46, which is decoded after picture 47.
        try exporter.begin(
            .init(
                tracks: track.header.tracks, start: -1_000_000, range: 0..<550_000, isFollowed: isFollowed))
        for chunk in track.chunks { try exporter.add(chunk, track: 0, source: 0) }
        let file = try #require(PlainFile(try exporter.finish().bytes(from: [track.file])))
        #expect(file.tracks[0].samples.map(\.data) == track.samples[30...(isFollowed ? 46 : 47)].map(\.data))
        #expect(file.tracks[0].edits.map(\.duration) == [550_000])
    }

    @Test func aGapStaysAsLongAsItWas() throws {
        let track = try RecordedTrack(
            Self.pictures, timescale: 90_000, count: 100, step: 3_600, keyFrames: 25, gap: (50, 450_000))
        var exporter = MP4Exporter(startTime: 0)
        try Self.add([track], to: &exporter, start: 0, range: 0..<9_000_000)
        let file = try #require(PlainFile(try exporter.finish().bytes(from: [track.file])))
        #expect(file.tracks[0].samples.map(\.time) == track.samples.map { Int($0.decodeTime) })
        #expect(file.tracks[0].samples[50].time - file.tracks[0].samples[49].time == 453_600)
    }

    @Test func sessionsFollowEachOtherAtTheirTimes() throws {
        let (first, second) = (try Self.recording(), try Self.recording(seed: 0x80))
        var exporter = MP4Exporter(startTime: 0)
        try Self.add(first, to: &exporter, start: -5_000_000, range: 0..<5_000_000)
        // The second begins 7.5 s later, after a pause of 2.5 s.
        try Self.add(second, to: &exporter, start: 7_500_000, range: 7_500_000..<9_000_000, source: 2)
        let export = try exporter.finish()
        let file = try #require(PlainFile(export.bytes(from: first.map(\.file) + second.map(\.file))))
        for (track, rate) in zip(file.tracks, [90_000, 48_000]) {
            let index = track.isVideo ? 0 : 1
            let begins = try #require(
                track.samples.firstIndex { $0.data == second[index].samples[0].data && $0.isSync })
            let mediaTime = try #require(track.edits.first).mediaTime
            #expect(track.samples[begins].time - mediaTime == rate * 15 / 2)
        }
        #expect(file.tracks[0].samples.count == 125 + 38)
        #expect(export.duration == 9_000_000)
    }

    @Test func aChangedFormatIsReportedWithItsTime() throws {
        let first = try RecordedTrack(Self.pictures, timescale: 90_000, count: 50, step: 3_600, keyFrames: 25)
        let second = try RecordedTrack(
            .vp8(width: 640, height: 360), timescale: 90_000, count: 50, step: 3_600, keyFrames: 25)
        var exporter = MP4Exporter(startTime: 0)
        try Self.add([first], to: &exporter, start: 0, range: 0..<2_000_000)
        let error = #expect(throws: MP4ExportError.self) {
            try Self.add([second], to: &exporter, start: 2_000_000, range: 2_000_000..<4_000_000)
        }
        #expect(
            error?.description
                == "the format changes after 2.0 s from vp08 of 320 × 180 at 90000 Hz to vp08 of 640 × 360 at 90000 "
                + "Hz, and one file holds one format")
    }

    /// The range begins half a second after the only picture has ended. It ended the process before.
    @Test func aRangeThatBeginsAfterTheLastPictureIsReported() throws {
        let track = try RecordedTrack(Self.pictures, timescale: 90_000, count: 1, step: 3_000)
        var exporter = MP4Exporter(startTime: 0)
        try Self.add([track], to: &exporter, start: -1_000_000, range: 0..<2_000_000)
        #expect(throws: MP4ExportError.empty) { try exporter.finish() }
    }

    @Test func aRangeWithoutFootageIsReported() throws {
        var exporter = MP4Exporter(startTime: 0)
        try Self.add(try Self.recording(), to: &exporter, start: -60_000_000, range: 0..<1)
        // What is shown at the very end of the footage is the last picture, and it is long over.
        var nothing = MP4Exporter(startTime: 0)
        #expect(throws: MP4ExportError.empty) { try nothing.finish() }
    }

    @Test func everyPartOfAFileIsThatPartOfTheWhole() throws {
        let tracks = try Self.recording()
        var exporter = MP4Exporter(startTime: 0)
        try Self.add(tracks, to: &exporter, start: -1_000_000, range: 0..<4_000_000)
        let export = try exporter.finish()
        let sources = tracks.map(\.file)
        let whole = export.bytes(from: sources)
        #expect(Int64(whole.count) == export.length)
        var random = RandomSource.seeded(5)
        for _ in 0..<200 {
            let from = Int64.random(in: 0..<export.length, using: &random)
            let until = Int64.random(in: from...export.length, using: &random)
            #expect(export.bytes(of: from..<until, from: sources) == Array(whole[Int(from)..<Int(until)]))
        }
    }
}
