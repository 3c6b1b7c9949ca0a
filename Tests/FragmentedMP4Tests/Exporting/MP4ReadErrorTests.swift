import FragmentedMP4
import Testing

/// What the readers say about boxes that they cannot use.
@Suite struct MP4ReadErrorTests {
    private static func big(_ value: UInt64, _ count: Int = 4) -> [UInt8] {
        (0..<count).map { UInt8(truncatingIfNeeded: value >> UInt64(8 * (count - 1 - $0))) }
    }

    private static func box(_ type: String, _ parts: [UInt8]...) -> [UInt8] {
        let content: [UInt8] = Array(parts.joined())
        return big(UInt64(content.count + 8)) + Array(type.utf8) + content
    }

    /// A `trak` of sound. Its sample entries have no fields.
    private static func track(number: UInt64 = 1, timescale: UInt64 = 48_000, entries: Int = 1) -> [UInt8] {
        let zeros = [UInt8](repeating: 0, count: 8)
        let list: [UInt8] = Array(repeatElement(box("Opus"), count: entries).joined())
        // A track without an entry still announces one.
        let descriptions = box("stsd", big(0), big(UInt64(max(entries, 1))), list)
        let media = box(
            "mdia", box("mdhd", big(0), zeros, big(timescale)), box("hdlr", big(0), big(0), Array("soun".utf8)),
            box("minf", box("stbl", descriptions)))
        return box("trak", box("tkhd", big(0), zeros, big(number)), media)
    }

    private static func refuses(
        header bytes: [UInt8], _ error: MP4ReadError, sourceLocation: SourceLocation = #_sourceLocation
    ) {
        #expect(throws: error, sourceLocation: sourceLocation) { try MP4Header(bytes) }
    }

    private static func refuses(
        chunk bytes: [UInt8], _ error: MP4ReadError, sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        let reader = MP4ChunkReader(header: try MP4Header(box("moov", track())))
        #expect(throws: error, sourceLocation: sourceLocation) {
            try bytes.withUnsafeBytes { try reader.read($0, at: 0, fileLength: Int64(bytes.count)) }
        }
    }

    @Test func `a header that cannot be used says which box is wrong, and where`() {
        Self.refuses(header: [], .missingBox("moov"))
        Self.refuses(header: [0, 0, 0, 9], .cutOff(offset: 0))
        Self.refuses(header: Self.box("moov"), .missingBox("trak"))
        Self.refuses(header: Self.box("moov", [0, 0, 0]), .cutOff(offset: 8))
        Self.refuses(
            header: Self.box("moov", Self.big(99), Array("trak".utf8)),
            .invalidBox("trak", offset: 8, .doesNotFit))
        Self.refuses(header: Self.box("moov", Self.track(number: 0)), .invalidBox("tkhd", offset: 16, .noTrackNumber))
        Self.refuses(header: Self.box("moov", Self.track(timescale: 0)), .invalidBox("mdhd", offset: 48, .noTimescale))
        Self.refuses(header: Self.box("moov", Self.track(entries: 2)), .unsupported(.severalDescriptions))
        Self.refuses(header: Self.box("moov", Self.track(entries: 0)), .missingSampleEntry)
        let second = Int64(8 + Self.track().count)
        Self.refuses(
            header: Self.box("moov", Self.track(), Self.track()),
            .invalidBox("trak", offset: second, .repeatedTrackNumber))
        let defaults = Self.box("mvex", Self.box("trex", Self.big(0)))
        Self.refuses(
            header: Self.box("moov", Self.track(), defaults),
            .invalidBox("trex", offset: second + 8, .tooShort))
        let many: [UInt8] = Array((1...17).map { Self.track(number: UInt64($0)) }.joined())
        Self.refuses(header: Self.box("moov", many), .tooLarge(.tracks, limit: 16))
        Self.refuses(header: [UInt8](repeating: 0, count: 1 << 20 + 1), .tooLarge(.header, limit: 1 << 20))
    }

    @Test func `a chunk that cannot be used says which box is wrong, and where`() throws {
        let header = Self.box("tfhd", Self.big(0), Self.big(1))
        let time = Self.box("tfdt", Self.big(0), Self.big(0))
        let media = Self.box("mdat", [1, 2, 3, 4])
        func fragment(_ boxes: [UInt8]...) -> [UInt8] { Self.box("moof", Self.box("traf", Array(boxes.joined()))) }

        try Self.refuses(chunk: Self.big(4) + Array("mdat".utf8), .invalidBox("mdat", offset: 0, .impossibleLength))
        try Self.refuses(chunk: Self.box("moof") + media, .missingBox("traf"))
        try Self.refuses(chunk: fragment(header) + media, .missingBox("tfdt"))
        try Self.refuses(
            chunk: fragment(Self.box("tfhd", Self.big(0))) + media,
            .invalidBox("tfhd", offset: 16, .tooShort))
        try Self.refuses(
            chunk: fragment(Self.box("tfhd", Self.big(0), Self.big(2))) + media,
            .invalidBox("tfhd", offset: 16, .unknownTrack(2)))
        try Self.refuses(
            chunk: fragment(Self.box("tfhd", Self.big(1), Self.big(1), Self.big(1 << 60, 8)), time) + media,
            .invalidBox("tfhd", offset: 16, .offsetOutOfRange))
        try Self.refuses(
            chunk: fragment(Self.box("tfhd", Self.big(2), Self.big(1), Self.big(2)), time) + media,
            .unsupported(.secondDescription))
        try Self.refuses(
            chunk: Self.box("moof", Self.box("traf", header, time), Self.box("traf", header, time)) + media,
            .unsupported(.severalTracksInFragment))
        try Self.refuses(
            chunk: fragment(header, Self.box("tfdt", Self.big(0))) + media,
            .invalidBox("tfdt", offset: 32, .noTime))

        let whole = fragment(header, time)
        try Self.refuses(chunk: whole + whole + media, .invalidBox("moof", offset: Int64(whole.count), .noMedia))
        try Self.refuses(
            chunk: fragment(header, time, Self.box("trun", Self.big(0x200), Self.big(2), Self.big(4))) + media,
            .invalidBox("trun", offset: 48, .fewerSamples))
        // Without an offset the samples begin with the fragment, before the media.
        try Self.refuses(
            chunk: fragment(header, time, Self.box("trun", Self.big(0), Self.big(1))) + media,
            .invalidBox("trun", offset: 48, .samplesOutsideMedia))
        try Self.refuses(
            chunk: fragment(header, time, Self.box("trun", Self.big(0), Self.big(1 << 17 + 1))) + media,
            .tooLarge(.samplesOfChunk, limit: 1 << 17))
        try Self.refuses(
            chunk: Self.box("prft", Self.big(0), Self.big(1), Self.big(0, 8)) + whole + media,
            .invalidBox("prft", offset: 0, .noMediaTime))
    }

    private static let words: [(error: MP4ReadError, words: String)] = [
        (.invalidBox("tfhd", offset: 16, .tooShort), "the box tfhd at byte 16 is too short"),
        (
            .invalidBox("tfhd", offset: 16, .unknownTrack(2)),
            "the box tfhd at byte 16 names track 2, which the header does not have"
        ),
        (.cutOff(offset: 8), "the box at byte 8 is cut off"),
        (.missingBox("moov"), "the box moov is missing"),
        (.missingSampleEntry, "the description of a track's samples is missing"),
        (.tooLarge(.tracks, limit: 16), "the header has more than 16 tracks"),
        (.tooLarge(.headerOfChunk, limit: 4), "the header of a chunk has more than 4 bytes"),
        (.unsupported(.placesInFile), "a fragment that names places in a file is not supported"),
    ]

    @Test(arguments: words)
    func `an error reads as a sentence`(error: MP4ReadError, words: String) {
        #expect(error.description == words)
    }
}
