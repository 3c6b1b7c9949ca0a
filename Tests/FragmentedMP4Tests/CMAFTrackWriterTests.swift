import FragmentedMP4
import RTP
import Testing

@Suite("A CMAF track") struct CMAFTrackWriterTests {
    static let picture = MP4Track(codec: .vp8(width: 320, height: 180), timescale: 90_000)
    static let sound = MP4Track(codec: .opus(channels: 2, preSkip: 0), timescale: 48_000)
    /// 2026-11-22 17:43:51.123 UTC.
    static let start: Int64 = 1_795_369_431_123_000_000

    /// What a writer makes of samples.
    static func write(
        _ samples: [MP4Sample], to track: MP4Track = picture, segment: Duration = .seconds(2),
        chunk: Duration = .milliseconds(500), maximumChunkLength: Int = 1 << 20
    ) throws -> (header: [UInt8], chunks: [CMAFChunk], segments: [CMAFSegment]) {
        var writer = try CMAFTrackWriter(
            track: track,
            parameters: CMAFParameters(
                segmentDuration: segment, chunkDuration: chunk, maximumChunkLength: maximumChunkLength),
            start: start)
        var chunks: [CMAFChunk] = []
        var segments: [CMAFSegment] = []
        func take(_ output: CMAFOutput) {
            switch output {
            case .chunk(let chunk): chunks.append(chunk)
            case .segmentEnd(let segment): segments.append(segment)
            }
        }
        for sample in samples { try writer.append(sample, take) }
        writer.finish(take)
        return (writer.header, chunks, segments)
    }

    /// Pictures at 10 a second, each with its number as its content.
    static func pictures(_ count: Int, keyFrameEvery interval: Int) -> [MP4Sample] {
        (0..<count).map {
            MP4Sample(
                data: [UInt8](repeating: UInt8($0 & 0xFF), count: 20), decodeTime: Int64($0) * 9_000,
                isKeyFrame: $0 % interval == 0)
        }
    }

    @Test("The header says CMAF, and describes one track")
    func header() throws {
        let boxes = try #require(Box.all(in: Self.write(Self.pictures(1, keyFrameEvery: 1)).header))
        #expect(boxes.map(\.type) == ["ftyp", "moov"])
        #expect(String(decoding: boxes[0].content[..<4], as: UTF8.self) == "cmfc")
        #expect(Box.all(in: boxes[1].content)?.map(\.type) == ["mvhd", "trak", "mvex"])
    }

    @Test(
        "Every sample comes back with its time and duration, whatever the durations of segments and chunks",
        arguments: [500, 1_000, 4_000, 65_500], [0, 500, 700, 2_000])
    func samplesComeBack(segment: Int, chunk: Int) throws {
        let pictures = Self.pictures(133, keyFrameEvery: 15)
        let (header, chunks, segments) = try Self.write(
            pictures, segment: .milliseconds(segment), chunk: .milliseconds(chunk))
        let read = try #require(samples(in: header + chunks.flatMap(\.bytes)))
        #expect(read.map(\.time) == pictures.map { Int($0.decodeTime) })
        #expect(read.map(\.data) == pictures.map(\.data))
        #expect(read.map(\.isKeyFrame) == pictures.map(\.isKeyFrame))
        #expect(read.allSatisfy { $0.duration == 9_000 })
        #expect(segments.map(\.number) == Array(1...UInt32(segments.count)))
        #expect(segments.reduce(0) { $0 + $1.duration } == 133 * 9_000)
        #expect(chunks.reduce(0) { $0 + $1.duration } == 133 * 9_000)
        for segment in segments {
            let own = chunks.filter { $0.segment == segment.number }
            #expect(own.map(\.beginsSegment) == [true] + own.dropFirst().map { _ in false })
            #expect(own[0].beginsWithKeyFrame)
            #expect(own[0].decodeTime == segment.decodeTime)
            #expect(own.reduce(0) { $0 + $1.duration } == segment.duration)
        }
        if chunk == 0 { #expect(chunks.count == segments.count) }
        // Key frames come every 1.5 s. A segment ends at the first one after its duration.
        let expected = [500: 9, 1_000: 9, 4_000: 3, 65_500: 1][segment]
        #expect(segments.count == expected)
    }

    @Test("A segment waits for a key frame, and says how long it is then")
    func longGroup() throws {
        let segments = try Self.write(Self.pictures(150, keyFrameEvery: 70), segment: .seconds(1)).segments
        #expect(segments.map(\.duration) == [630_000, 630_000, 90_000])
    }

    @Test("Sound is cut by time alone")
    func sound() throws {
        let packets = (0..<250).map { MP4Sample(data: [0xFC], decodeTime: Int64($0) * 960, isKeyFrame: true) }
        let segments = try Self.write(packets, to: Self.sound, segment: .seconds(2)).segments
        #expect(segments.map(\.duration) == [96_000, 96_000, 48_000])
    }

    @Test("A chunk begins with styp where it begins a segment, and with the time of capture")
    func boxes() throws {
        let (_, chunks, _) = try Self.write(Self.pictures(45, keyFrameEvery: 15), segment: .seconds(1))
        for chunk in chunks {
            let boxes = try #require(Box.all(in: chunk.bytes))
            #expect(boxes.map(\.type) == (chunk.beginsSegment ? ["styp"] : []) + ["prft", "moof", "mdat"])
            let time = try #require(boxes.first { $0.type == "prft" })
            #expect(time.content[0] == 1)
            #expect(time.integer(at: 16, length: 8) == Int(chunk.decodeTime))
            let ntp = UInt64(time.integer(at: 8, length: 4)) << 32 | UInt64(time.integer(at: 12))
            #expect(NTPTimestamp(rawValue: ntp).unixNanoseconds == chunk.wallTime)
            #expect(chunk.wallTime == Self.start + chunk.decodeTime * 100_000 / 9)
        }
    }

    @Test("An event is in front of the next chunk")
    func event() throws {
        var writer = try CMAFTrackWriter(track: Self.picture, parameters: CMAFParameters(), start: 0)
        writer.append(
            CMAFEvent(scheme: "urn:example", value: "motion", time: 4_500, number: 7, message: Array("{}".utf8)))
        var bytes: [UInt8] = []
        func take(_ output: CMAFOutput) { if case .chunk(let chunk) = output { bytes += chunk.bytes } }
        try writer.append(Self.pictures(1, keyFrameEvery: 1)[0], take)
        writer.finish(take)
        let boxes = try #require(Box.all(in: bytes))
        #expect(boxes.map(\.type) == ["styp", "prft", "emsg", "moof", "mdat"])
        #expect(boxes[2].content[0] == 1)
        #expect(boxes[2].integer(at: 4) == 90_000)
        #expect(boxes[2].integer(at: 8, length: 8) == 4_500)
        #expect(boxes[2].integer(at: 20) == 7)
        #expect(Array(boxes[2].content.dropFirst(24)) == Array("urn:example\0motion\0{}".utf8))
    }

    @Test("A hole ends a chunk, and the next one says when it begins")
    func hole() throws {
        var writer = try CMAFTrackWriter(
            track: Self.picture, parameters: CMAFParameters(segmentDuration: .seconds(60), chunkDuration: .zero),
            start: 0)
        var chunks: [CMAFChunk] = []
        var segments: [CMAFSegment] = []
        func take(_ output: CMAFOutput) {
            switch output {
            case .chunk(let chunk): chunks.append(chunk)
            case .segmentEnd(let segment): segments.append(segment)
            }
        }
        for sample in Self.pictures(10, keyFrameEvery: 10) { try writer.append(sample, take) }
        var late = Self.pictures(1, keyFrameEvery: 1)[0]
        late.decodeTime = 900_000
        try writer.append(late, previousDuration: 9_000, take)
        writer.flush(take)
        late.decodeTime = 1_000_000
        late.isKeyFrame = false
        try writer.append(late, take)
        writer.finish(lastDuration: 50, take)
        #expect(chunks.map(\.decodeTime) == [0, 900_000, 1_000_000])
        #expect(chunks.map(\.duration) == [90_000, 9_000, 50])
        #expect(chunks.map(\.segment) == [1, 1, 1])
        #expect(segments == [CMAFSegment(number: 1, decodeTime: 0, duration: 1_000_050)])
    }

    @Test("What cannot be written is refused, and changes nothing")
    func refusals() throws {
        var writer = try CMAFTrackWriter(track: Self.picture, parameters: CMAFParameters(), start: 0)
        let key = Self.pictures(1, keyFrameEvery: 1)[0]
        var other = key
        other.isKeyFrame = false
        #expect(throws: MP4Error.noKeyFrame(decodeTime: 0)) { try writer.append(other) { _ in } }
        try writer.append(key) { _ in }
        #expect(throws: MP4Error.self) { try writer.append(key) { _ in } }
        other.decodeTime = -5
        #expect(throws: MP4Error.self) { try writer.append(other) { _ in } }
        other.data = []
        #expect(throws: MP4Error.self) { try writer.append(other) { _ in } }
        var outputs: [CMAFOutput] = []
        writer.finish { outputs.append($0) }
        #expect(outputs.count == 2)
    }

    @Test("Without key frames a chunk is bounded by its bytes")
    func boundedChunk() throws {
        let chunks = try Self.write(
            Self.pictures(100, keyFrameEvery: 1_000), chunk: .zero, maximumChunkLength: 200
        ).chunks
        #expect(chunks.count == 10)
        #expect(chunks.dropFirst().allSatisfy { !$0.beginsSegment })
    }

    @Test("Codecs have the names that manifests need")
    func codecNames() {
        let avc = MP4Track(
            codec: .h264(
                width: 16, height: 16, sequenceParameterSets: [[0x67, 0x64, 0x00, 0x1F]], pictureParameterSets: [[0x68]]
            ),
            timescale: 90_000)
        #expect(avc.codecName == "avc1.64001F")
        #expect(Self.picture.codecName == "vp08.00.10.08")
        #expect(Self.sound.codecName == "opus")
        let aac = MP4Track(
            codec: .aac(channels: 1, sampleRate: 16_000, audioSpecificConfig: [0x14, 0x08]), timescale: 16_000)
        #expect(aac.codecName == "mp4a.40.2")
        #expect(avc.pictureSize?.width == 16)
        #expect(aac.pictureSize == nil)
    }
}
