import FragmentedMP4
import RTP
import Testing

/// The names of codecs in manifests (RFC 6381), which players compare with what they can decode.
@Suite struct CodecNameTests {
    /// A sequence parameter set of x265: Main profile, Main tier, level 2.1, progressive pictures in frames.
    private static let mainProfile: [UInt8] = [
        0x42, 0x01, 0x01, 0x01, 0x60, 0x00, 0x00, 0x03, 0x00, 0x90, 0x00, 0x00, 0x03, 0x00, 0x00, 0x03, 0x00, 0x3F,
        0xA0, 0x05, 0x02, 0x01, 0x71, 0xF2, 0xE5, 0xBA, 0x4A, 0x4C, 0x2F, 0x01, 0x68, 0x08, 0x00, 0x00, 0x03, 0x00,
        0x08, 0x00, 0x00, 0x03, 0x00, 0x78, 0x40,
    ]

    private static func h265Name(_ set: [UInt8]) -> String {
        MP4Track(
            codec: .h265(
                width: 640, height: 360, videoParameterSets: [[0x40, 1]], sequenceParameterSets: [set],
                pictureParameterSets: [[0x44, 1]]),
            timescale: 90_000
        ).codecName
    }

    @Test func `H265 is named by its profile, compatibility, tier, level and constraints`() {
        #expect(Self.h265Name(Self.mainProfile) == "hvc1.1.6.L63.90")
        var high = Self.mainProfile
        // The High tier of Main 10, compatible with itself, and only frames.
        high[3] = 0x22
        high[4] = 0x20
        high[9] = 0xB0
        #expect(Self.h265Name(high) == "hvc1.2.4.H63.B0")
    }

    @Test func `VP9 is named by its profile, the level that its size needs, and its bit depth`() throws {
        // The key frames begin with their profile, the sync code, colours, and width and height less one.
        let vectors: [(keyFrame: [UInt8], name: String)] = [
            ([0x82, 0x49, 0x83, 0x42, 0x20, 0x13, 0xF0, 0x0B, 0x30], "vp09.00.11.08"),
            ([0x82, 0x49, 0x83, 0x42, 0x20, 0x77, 0xF0, 0x43, 0x70], "vp09.00.40.08"),
            ([0x92, 0x49, 0x83, 0x42, 0x10, 0x09, 0xF8, 0x05, 0x98], "vp09.02.11.10"),
        ]
        for vector in vectors {
            let parsed = vector.keyFrame.withUnsafeBytes { VP9.FrameHeader(parsing: $0) }
            let header = try #require(parsed)
            #expect(MP4Track(codec: .vp9(header), timescale: 90_000).codecName == vector.name)
        }
    }

    @Test func `AV1 is named by its profile, level, tier and bit depth`() throws {
        let vectors: [(sequenceHeader: [UInt8], name: String)] = [
            ([0x00, 0x00, 0x00, 0x02, 0xAF, 0xFF, 0x9B, 0x5F, 0x30, 0x08], "av01.0.00M.08"),
            ([0x00, 0x00, 0x00, 0x2A, 0xAF, 0xFF, 0x9B, 0x5F, 0x30, 0x08], "av01.0.05M.08"),
            // From level 4.0 on, a bit for the tier follows.
            ([0x00, 0x00, 0x00, 0x6D, 0x57, 0xFF, 0xCD, 0xAF, 0x98, 0x04, 0x00], "av01.0.13H.08"),
        ]
        for vector in vectors {
            let parsed = vector.sequenceHeader.withUnsafeBytes { AV1.SequenceHeader(parsing: $0) }
            let header = try #require(parsed)
            let track = MP4Track(codec: .av1(header, unit: vector.sequenceHeader), timescale: 90_000)
            #expect(track.codecName == vector.name)
        }
    }
}
