import RTP
import Testing
import Transport

@Suite struct H264ParameterTests {
    @Test func readsWhatAnEncoderWrites() throws {
        for (text, id, width, height, reordered) in Self.sets {
            let set = try #require(hex(text).withUnsafeBytes(H264.SequenceParameterSet.init(parsing:)))
            #expect(set.profileLevelID == id)
            #expect(set.width == width)
            #expect(set.height == height)
            #expect(set.framesPerSecond == 15)
            #expect(set.reorderedFrames == reordered)
            #expect(set.mayHoldBFrames == (reordered > 0))
        }
    }

    @Test func noMutationTraps() {
        var readable = 0
        for bytes in Mutations(of: Self.sets.map { hex($0.0) }, count: 4_000, seed: 29) {
            bytes.withUnsafeBytes {
                if let set = H264.SequenceParameterSet(parsing: $0) {
                    readable += 1
                    #expect(set.width > 0 && set.width <= 1_024 * 16)
                }
                _ = H264.sliceType(ofUnit: $0)
                _ = H264.startsBidirectionalSlice(payload: $0)
            }
        }
        #expect(readable > 200)
        #expect(hex("67").withUnsafeBytes(H264.SequenceParameterSet.init(parsing:)) == nil)
        #expect(hex("68 42 c0 1f d9 00").withUnsafeBytes(H264.SequenceParameterSet.init(parsing:)) == nil)
    }

    @Test func distinguishesSlices() {
        func type(_ text: String) -> H264.SliceType? { hex(text).withUnsafeBytes(H264.sliceType) }
        // first_mb_in_slice 0 (1), then slice_type 7 (0001000), 5 (00110), 6 (00111), 0 (1), 1 (010), 2 (011).
        #expect(type("65 88 80") == .intra)
        #expect(type("41 9a 00") == .predicted)
        #expect(type("01 9e 00") == .bidirectional)
        #expect(type("41 e0 00") == .predicted)
        #expect(type("01 a0 00") == .bidirectional)
        #expect(type("41 b0 00") == .intra)
        #expect(type("67 88 80") == nil)
        #expect(type("41") == nil)
        #expect(hex("01 9e 00").withUnsafeBytes(H264.startsBidirectionalSlice))
        #expect(hex("1c 81 9e 00").withUnsafeBytes(H264.startsBidirectionalSlice))
        #expect(!hex("1c 01 9e 00").withUnsafeBytes(H264.startsBidirectionalSlice))
        #expect(!hex("1c 81 9a 00").withUnsafeBytes(H264.startsBidirectionalSlice))
    }

    static let sets: [(String, String, Int, Int, Int)] = [
        // x264: Baseline without B-frames, Main with them and cropped, High with them, High interlaced.
        ("6742c016da0280bfe5c044000003000400000300783c58ba80", "42c016", 640, 360, 0),
        ("6742c01fda014016ec0440000003004000000783c60ca8", "42c01f", 1_280, 720, 0),
        ("674d4028eca03c0113f2e0220000030002000003003c1e30632c", "4d4028", 1_920, 1_080, 2),
        ("67640028acd940780227e5c044000003000400000300783c60c658", "640028", 1_920, 1_080, 2),
        ("6764001eace402d09360220000030002000003003c3e285490", "64001e", 720, 576, 0),
    ]
}
