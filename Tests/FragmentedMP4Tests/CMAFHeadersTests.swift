import FragmentedMP4
import Testing

/// Tracks that are written alone and read as one file.
@Suite struct CMAFHeadersTests {
    private static let picture = MP4Track(codec: .vp8(width: 320, height: 240), timescale: 90_000)
    private static let sound = MP4Track(codec: .opus(channels: 2, preSkip: 0), timescale: 48_000)

    private static func writer(_ track: MP4Track, _ identifier: UInt32) throws -> CMAFTrackWriter {
        try CMAFTrackWriter(
            track: track, parameters: .live(segmentDuration: .milliseconds(500), chunkDuration: .milliseconds(1)),
            start: 0, identifier: identifier)
    }

    private static func read(_ bytes: [UInt8]) throws -> MP4Header {
        try bytes.withUnsafeBytes { try MP4Header(parsing: $0) }
    }

    @Test func `one header describes all tracks`() throws {
        let writers = [try Self.writer(Self.picture, 1), try Self.writer(Self.sound, 2)]
        let joined = try Self.read(try CMAFHeaders.joined(writers.map(\.header)))
        #expect(joined.tracks.map(\.identifier) == [1, 2])
        #expect(joined.tracks.map(\.format) == ["vp08", "Opus"])
        for (track, writer) in zip(joined.tracks, writers) {
            let alone = try #require(try Self.read(writer.header).tracks.first)
            #expect(track == alone)
        }
    }

    @Test func `each picture is a chunk of its own, with the identifier of its track`() throws {
        var writer = try Self.writer(Self.picture, 2)
        var chunks: [CMAFChunk] = []
        for number in 0..<6 {
            try writer.append(
                MP4Sample(data: [UInt8(number)], decodeTime: Int64(number) * 3_000, isKeyFrame: number == 0)
            ) { if case .chunk(let chunk) = $0 { chunks.append(chunk) } }
        }
        #expect(chunks.map(\.decodeTime) == [0, 3_000, 6_000, 9_000, 12_000])
        for chunk in chunks {
            // tfhd: its length, type, version and flags, then the identifier.
            let type = Array("tfhd".utf8)
            let place = try #require((0..<chunk.bytes.count - 4).first { Array(chunk.bytes[$0..<$0 + 4]) == type })
            #expect(chunk.bytes[place + 8..<place + 12] == [0, 0, 0, 2])
        }
    }

    @Test func `what is not a header is refused`() {
        for bytes: [UInt8] in [[0, 0, 0, 8], Array("moov".utf8)] {
            #expect(throws: MP4ReadError.cutOff(offset: 0)) { try CMAFHeaders.joined([bytes]) }
        }
        for bytes: [UInt8] in [[], [UInt8](repeating: 0, count: 64)] {
            #expect(throws: MP4ReadError.missingBox("moov")) { try CMAFHeaders.joined([bytes]) }
        }
    }
}
