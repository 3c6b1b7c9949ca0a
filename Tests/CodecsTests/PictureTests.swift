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

@Suite struct JPEGDecoderTests {
    @Test(arguments: [(64, 48), (33, 17), (2, 2)])
    func `a decoded file shows what was encoded`(width: Int, height: Int) throws {
        var frame = I420Frame(width: width, height: height)
        for index in frame.luma.indices { frame.luma[index] = UInt8(60 + index % width) }
        for index in frame.chromaBlue.indices { frame.chromaBlue[index] = 90 }
        for index in frame.chromaRed.indices { frame.chromaRed[index] = 170 }
        let decoded = try JPEGDecoder.decode(try JPEGEncoder.encode(frame, quality: 95))
        #expect(!decoded.isDamaged)
        #expect((decoded.frame.width, decoded.frame.height) == (width, height))
        #expect(try #require(decoded.frame.meanLumaDifference(to: frame)) < 3)
        #expect(decoded.frame.chromaBlue.allSatisfy { abs(Int($0) - 90) < 6 })
        #expect(decoded.frame.chromaRed.allSatisfy { abs(Int($0) - 170) < 6 })
    }

    @Test func `a file that is cut off is reported as damaged`() throws {
        var frame = I420Frame(width: 128, height: 128)
        for index in frame.luma.indices { frame.luma[index] = UInt8(16 + index * 37 % 200) }
        let file = try JPEGEncoder.encode(frame)
        #expect(try JPEGDecoder.decode(Array(file[..<(file.count / 2)]) + [0xFF, 0xD9]).isDamaged)
    }

    @Test func `a picture that is too large is refused before it is decoded`() throws {
        let file = try JPEGEncoder.encode(I420Frame(width: 200, height: 100))
        let text = reason { _ = try JPEGDecoder.decode(file, maximumPixels: 19_999) }
        #expect(text.contains("200 x 100"))
        #expect(throws: CodecError.self) { try JPEGDecoder.decode([UInt8]()) }
    }

    @Test func `damaged files are refused or give a picture of the right size`() throws {
        var frame = I420Frame(width: 48, height: 32)
        for index in frame.luma.indices { frame.luma[index] = UInt8(20 + index % 180) }
        let file = try JPEGEncoder.encode(frame)
        var random = SplitMix(state: 14)
        for _ in 0..<3000 {
            var damaged = file
            for _ in 0..<Int.random(in: 1...8, using: &random) {
                damaged[Int.random(in: 0..<damaged.count, using: &random)] = UInt8.random(in: 0...255, using: &random)
            }
            guard let picture = try? JPEGDecoder.decode(damaged, maximumPixels: 1 << 16) else { continue }
            #expect(picture.frame.luma.count == picture.frame.width * picture.frame.height)
        }
    }
}
