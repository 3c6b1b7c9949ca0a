import FragmentedMP4
import PacketFakes
import Testing

@testable import StreamFormats

/// Streams that ask for much more memory or time than they have bytes.
struct HostileStreamTests {
    private static func big(_ value: Int, _ count: Int) -> [UInt8] {
        (0..<count).map { UInt8(truncatingIfNeeded: value >> (8 * (count - 1 - $0))) }
    }

    // MARK: Fragmented MP4

    private static func box(_ type: String, _ content: [UInt8]) -> [UInt8] {
        big(content.count + 8, 4) + Array(type.utf8) + content
    }

    /// A run of samples that have what the fragment says.
    private static func run(_ count: Int, at place: Int? = nil) -> [UInt8] {
        let offset: [UInt8] = if let place { big(place, 4) } else { [] }
        return box("trun", big(place == nil ? 0 : 1, 4) + big(count, 4) + offset)
    }

    /// A fragment of the first track and its media.
    private static func segment(
        time: Int = 0, duration: Int = 0, size: Int = 0, runs: [UInt8], media: [UInt8] = []
    ) -> [UInt8] {
        // The flags say that durations and sizes have defaults.
        let header = box("tfhd", big(0x18, 4) + big(1, 4) + big(duration, 4) + big(size, 4))
        let decode = box("tfdt", big(1 << 24, 4) + big(time, 8))
        return box("moof", box("traf", header + decode + runs)) + box("mdat", media)
    }

    private static func units(of segment: [UInt8]) throws -> [StreamUnit] {
        let writer = try FragmentedMP4Writer(
            tracks: [MP4Track(codec: .opus(channels: 1, preSkip: 0), timescale: 1)])
        var demuxer = try FragmentDemuxer(header: writer.initializationSegment)
        var units: [StreamUnit] = []
        try segment.withUnsafeBytes { bytes in try demuxer.append(bytes) { units.append($0) } }
        return units
    }

    @Test func `The runs of a fragment have no more samples together than one may have`() throws {
        let half = MP4ChunkReader.maximumSamples / 2
        #expect(try Self.units(of: Self.segment(runs: Self.run(half) + Self.run(half))).isEmpty)
        let limit = MP4ChunkReader.maximumSamples
        #expect(throws: StreamFormatError.damaged(.segment(.tooLarge(.samplesOfFragment, limit: limit)))) {
            _ = try Self.units(of: Self.segment(runs: Self.run(half) + Self.run(half) + Self.run(1)))
        }
    }

    @Test func `A time that grows beyond what can be counted is an error`() {
        let hostile = Self.segment(
            time: 1 << 60 - 1, duration: 0xFFFF_FFFF, size: 1, runs: Self.run(1) + Self.run(1), media: [1, 2])
        // The second run is the box at fault.
        #expect(throws: StreamFormatError.damaged(.segment(.invalidBox("trun", offset: 76, .timeTooLarge)))) {
            _ = try Self.units(of: hostile)
        }
    }

    @Test func `Runs that return to the same bytes do not multiply them`() throws {
        let media = [UInt8](repeating: 7, count: 2_000)
        func hostile(_ places: [Int]) -> [UInt8] {
            // The media begin behind the fragment, whose length does not depend on the places.
            func runs(_ begin: Int) -> [UInt8] { places.flatMap { Self.run(1, at: begin + $0) } }
            let begin = Self.segment(size: 1_000, runs: runs(0)).count
            return Self.segment(size: 1_000, runs: runs(begin), media: media)
        }
        #expect(try Self.units(of: hostile([0, 1_000])).map(\.bytes.count) == [1_000, 1_000])
        // The third run takes more than all bytes together.
        let error = MP4ReadError.invalidBox("trun", offset: 100, .moreSamplesThanMedia)
        #expect(throws: StreamFormatError.damaged(.segment(error))) {
            _ = try Self.units(of: hostile([0, 0, 0, 0, 0, 0]))
        }
    }

    // MARK: Parameter sets

    /// `avcC` with 16 sequence parameter sets of this length, and one picture parameter set.
    private static func configuration(setLength: Int) -> [UInt8] {
        let set = big(setLength, 2) + [0x67] + [UInt8](repeating: 1, count: setLength - 1)
        return [1, 0x42, 0, 30, 0xFF, 0xF0] + (0..<16).flatMap { _ in set } + [1, 0, 2, 0x68, 1]
    }

    /// The body of a tag with a key frame of one byte.
    private static let keyFrame: [UInt8] = [0x17, 1, 0, 0, 0, 0, 0, 0, 1, 0x65]

    private static func tag(_ type: UInt8, _ body: [UInt8]) -> [UInt8] {
        [type] + big(body.count, 3) + [0, 0, 0, 0, 0, 0, 0] + body + big(body.count + 11, 4)
    }

    @Test func `Parameter sets are a few kilobytes together, whatever a configuration has`() throws {
        // 24 arrays of one set each.
        var record = [UInt8](repeating: 0, count: 23)
        (record[0], record[21], record[22]) = (1, 3, 24)
        for _ in 0..<24 { record += [33, 0, 1] + Self.big(1_000, 2) + [UInt8](repeating: 0x42, count: 1_000) }
        let high = try #require(record.withUnsafeBytes { UnitConfiguration(hevc: $0) })
        let configuration = Self.configuration(setLength: 1_000)
        let low = try #require(configuration.withUnsafeBytes { UnitConfiguration(avc: $0) })
        for units in [high, low] {
            #expect((1...4096).contains(units.parameterSets.reduce(0) { $0 + $1.count }))
        }
    }

    @Test func `A picture that start codes would make too long is left out`() throws {
        // Each unit of one byte has a length of one byte, and gets a start code of four. Both bytes are 1 here.
        var record = Self.configuration(setLength: 4)
        record[4] = 0xFC
        let units = try #require(record.withUnsafeBytes { UnitConfiguration(avc: $0) })
        func picture(_ count: Int) -> [UInt8] { [UInt8](repeating: 1, count: 2 * count) }
        #expect(picture(1_000).withUnsafeBytes { units.annexB($0) }?.count == 5_000)
        let most = StreamUnit.maximumLength / 5
        #expect(picture(most + 1).withUnsafeBytes { units.annexB($0) } == nil)
    }

    // MARK: RTMP and FLV

    /// Key frames that become a little more than may be added to what comes in: each gets sets of 4,000 bytes.
    private static var manyKeyFrames: [UInt8] {
        let count = UnitAllowance.margin / 4_000
        return tag(9, [0x17, 0, 0, 0, 0] + configuration(setLength: 1_000))
            + (0..<count).flatMap { _ in tag(9, keyFrame) }
    }

    @Test func `An aggregate message of tiny key frames is refused before they fill the memory`() {
        let bytes = RTMPTests.agreement + RTMPTests.message(22, Self.manyKeyFrames)
        #expect(throws: StreamFormatError.tooLong(.messageContent)) {
            _ = try RTMPTests.play(bytes, pieces: bytes.count)
        }
    }

    @Test func `An FLV stream of tiny key frames is refused before they fill the memory`() {
        let bytes: [UInt8] = [0x46, 0x4C, 0x56, 1, 5, 0, 0, 0, 9, 0, 0, 0, 0] + Self.manyKeyFrames
        var demuxer = FLVDemuxer()
        var size = 0
        #expect(throws: StreamFormatError.tooLong(.tagContent)) {
            try bytes.withUnsafeBytes { bytes in try demuxer.append(bytes) { size += $0.footprint } }
        }
        #expect(size <= bytes.count + UnitAllowance.margin)
    }

    @Test func `Chunks of one byte are added to what waits, and do not copy it`() throws {
        var reader = RTMPChunkReader()
        var messages: [RTMPChunkReader.Message] = []
        func append(_ bytes: [UInt8]) throws {
            bytes.withUnsafeBytes { reader.append($0) }
            while let message = try reader.next() { messages.append(message) }
        }
        // Chunks have one byte from here on.
        try append([2, 0, 0, 0, 0, 0, 4, 1, 0, 0, 0, 0, 0, 0, 0, 1])
        messages = []
        let length = 4_096
        try append([5, 0, 0, 0] + Self.big(length, 3) + [9, 1, 0, 0, 0, 7])
        var (place, moves) = (reader.place(of: 5), 0)
        for index in 1..<length - 1 {
            try append([0xC5, UInt8(truncatingIfNeeded: index)])
            let next = reader.place(of: 5)
            if next != place { moves += 1 }
            place = next
        }
        // The buffer moves when it grows to twice its size.
        #expect(moves < 20)
        try append([0xC5, 9])
        #expect(messages.map(\.bytes.count) == [length] && messages.first?.bytes.last == 9)
    }

    // MARK: MPEG-TS

    @Test func `A packet of sound has a longest length, since each of its frames becomes a unit`() throws {
        let frame = TransportStreamBytes.adts([1])
        func units(_ count: Int) throws -> [StreamUnit] {
            var stream = TransportStreamBytes()
            stream.unit((0..<count).flatMap { _ in frame }, of: 257, presentation: 0)
            return try TransportStreamTests.read(stream.bytes, pieces: 64 * 1024).units
        }
        #expect(try units(1_000).count == 1_000)
        #expect(try units((1 << 17) / frame.count + 1).isEmpty)
    }
}
