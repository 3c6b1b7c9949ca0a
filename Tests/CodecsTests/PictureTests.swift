import Codecs
import Testing

@Suite struct PictureTests {
    @Test func coloursSurviveTheConversionToYUVAndBack() throws {
        var random = SplitMix(state: 2)
        for _ in 0..<200 {
            let colour = (0..<3).map { _ in UInt8(truncatingIfNeeded: random.next()) }
            let image = try #require(RGBImage(width: 3, height: 3, pixels: (0..<9).flatMap { _ in colour }))
            for (before, after) in zip(image.pixels, RGBImage(I420Frame(image)).pixels) {
                #expect(abs(Int(before) - Int(after)) <= 3)
            }
        }
    }

    @Test func aPictureOfOddSizeHasAChromaSampleForItsLastRowAndColumn() {
        let frame = I420Frame(width: 5, height: 3)
        #expect(frame.chromaWidth == 3 && frame.chromaHeight == 2 && frame.chromaBlue.count == 6)
        #expect(RGBImage(frame).pixels == Array(repeating: 0, count: 45))
    }

    @Test func pngIsReadBackAsItWasWritten() throws {
        var random = SplitMix(state: 4)
        let pixels = (0..<(37 * 23 * 3)).map { _ in UInt8(truncatingIfNeeded: random.next()) }
        let image = try #require(RGBImage(width: 37, height: 23, pixels: pixels))
        let file = try PNG.encode(image)
        #expect(file.starts(with: [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]))
        #expect(try PNG.decode(file) == image)
    }

    @Test func aDamagedPNGIsRefusedWithAReason() throws {
        let image = try #require(RGBImage(width: 2, height: 2, pixels: Array(repeating: 9, count: 12)))
        let file = try PNG.encode(image)
        for bytes in [[], [1, 2, 3], Array(file[..<20]), Array(file[..<(file.count - 20)])] as [[UInt8]] {
            #expect(!reason { _ = try PNG.decode(bytes) }.isEmpty)
        }
    }

    @Test func anImageWithTheWrongNumberOfBytesIsRefused() {
        #expect(RGBImage(width: 2, height: 2, pixels: [0]) == nil)
        #expect(RGBImage(width: 0, height: 2, pixels: []) == nil)
    }
}
