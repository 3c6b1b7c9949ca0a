import Codecs
import Testing

@Suite struct TestPictureTests {
    private static func noise(_ random: inout SplitMix, width: Int, height: Int) -> I420Frame {
        var frame = I420Frame(width: width, height: height)
        for index in frame.luma.indices {
            frame.luma[index] = UInt8(16 + random.next() % 220)
        }
        return frame
    }

    @Test(arguments: [(640, 360), (1280, 720), (320, 180), (854, 480), (160, 90), (641, 359)])
    func theStampIsReadFromAPictureOfAnySize(width: Int, height: Int) {
        var random = SplitMix(state: 9)
        var frame = Self.noise(&random, width: width, height: height)
        for _ in 0..<20 {
            let stamp = TestPictureStamp(
                frameNumber: UInt32(truncatingIfNeeded: random.next()), captureTime: random.next())
            TestPictureWriter.draw(stamp, in: &frame)
            #expect(TestPictureReader.read(frame) == stamp)
        }
    }

    @Test(arguments: [500_000, 150_000]) func theStampSurvivesCompression(bitsPerSecond: Int) throws {
        var random = SplitMix(state: 10)
        var encoder = try VP8Encoder(
            .init(width: 640, height: 360, framesPerSecond: 15, bitsPerSecond: bitsPerSecond))
        var decoder = try VP8Decoder()
        for number in 0..<20 {
            var frame = VideoCodecTests.picture(number, width: 640, height: 360)
            let stamp = TestPictureStamp(
                frameNumber: UInt32(number), captureTime: 1_790_000_000_000_000 + random.next() % 1_000_000_000)
            TestPictureWriter.draw(stamp, in: &frame)
            let coded = try encoder.encode(frame) { bytes, _ in Array(bytes) }
            #expect(TestPictureReader.read(try #require(try decoder.decode(coded))) == stamp)
        }
    }

    @Test func aPictureWithoutAStampOrWithADamagedOneGivesNone() {
        var random = SplitMix(state: 12)
        #expect(TestPictureReader.read(I420Frame(width: 640, height: 360)) == nil)
        #expect(TestPictureReader.read(I420Frame(width: 8, height: 8)) == nil)
        for _ in 0..<20 {
            #expect(TestPictureReader.read(Self.noise(&random, width: 320, height: 180)) == nil)
        }
        var frame = I420Frame(width: 640, height: 360)
        TestPictureWriter.draw(TestPictureStamp(frameNumber: 1, captureTime: 2), in: &frame)
        // One square of the time turned light.
        for row in 344..<352 {
            for column in 80..<88 {
                frame.luma[row * 640 + column] = 208
            }
        }
        #expect(TestPictureReader.read(frame) == nil)
    }
}
