import Codecs
import Testing

@Suite struct WAVFileTests {
    private static func file(
        tag: UInt8, bits: UInt8, channels: UInt8 = 1, rate: UInt32 = 48_000, data: [UInt8], before: [UInt8] = []
    ) -> [UInt8] {
        func word(_ value: UInt32) -> [UInt8] { (0..<4).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) } }
        let frame = channels &* (bits / 8)
        var file = Array("RIFF".utf8) + word(UInt32(36 + data.count)) + Array("WAVE".utf8) + before
        file += Array("fmt ".utf8) + word(16) + [tag, 0, channels, 0] + word(rate) + word(rate &* UInt32(frame))
        file += [frame, 0, bits, 0] + Array("data".utf8) + word(UInt32(data.count)) + data
        return file
    }

    @Test func whatIsWrittenIsReadBack() throws {
        let samples: [Int16] = [0, 1, -1, .max, .min, 1234]
        let file = try WAVFile(parsing: WAVFile.encode(samples, sampleRate: 48_000))
        #expect(file.sampleRate == 48_000 && file.channels == 1 && file.sampleCount == 6)
        #expect(try file.monoSamples() == samples)
    }

    @Test(arguments: [
        (UInt8(1), UInt8(8), [UInt8(0xC0), 0x40]), (1, 16, [0x00, 0x40, 0x00, 0xC0]),
        (1, 24, [0x99, 0x00, 0x40, 0x99, 0x00, 0xC0]), (1, 32, [1, 2, 0x00, 0x40, 1, 2, 0x00, 0xC0]),
        (3, 32, [0, 0, 0, 0x3F, 0, 0, 0, 0xBF]),
        (3, 64, [0, 0, 0, 0, 0, 0, 0xE0, 0x3F, 0, 0, 0, 0, 0, 0, 0xE0, 0xBF]),
    ]) func everyEncodingOfHalfTheRangeReadsTheSame(tag: UInt8, bits: UInt8, data: [UInt8]) throws {
        let file = try WAVFile(parsing: Self.file(tag: tag, bits: bits, data: data))
        #expect(try file.monoSamples() == [0x4000, -0x4000])
    }

    @Test func g711IsRead() throws {
        let muLaw = try WAVFile(parsing: Self.file(tag: 7, bits: 8, data: [0xFF, 0x80]))
        #expect(try muLaw.monoSamples() == [0, 32124])
        let aLaw = try WAVFile(parsing: Self.file(tag: 6, bits: 8, data: [0xD5]))
        #expect(try aLaw.monoSamples() == [8])
    }

    @Test func channelsAreMixedAndOtherChunksSkipped() throws {
        let file = try WAVFile(
            parsing: Self.file(
                tag: 1, bits: 16, channels: 2, data: [0x00, 0x10, 0x00, 0x30],
                before: Array("LIST".utf8) + [3, 0, 0, 0, 1, 2, 3, 0]))
        #expect(try file.monoSamples() == [0x2000])
    }

    @Test func aFileAtAnotherRateComesOutAt48kHz() throws {
        var tone = ToneGenerator(frequency: 440, sampleRate: 22_050)
        let file = try WAVFile(parsing: WAVFile.encode(tone.samples(22_050, amplitude: 9000), sampleRate: 22_050))
        let samples = try file.monoSamples()
        #expect(abs(samples.count - 48_000) <= 2)
        #expect(ToneDetector.share(of: 440, in: Array(samples[2000..<46_000]), sampleRate: 48_000) > 0.99)
    }

    @Test func aFileThatCannotBeUsedSaysWhereAndWhy() {
        let whole = WAVFile.encode([1, 2, 3], sampleRate: 48_000)
        for (bytes, words) in [
            ([], "does not begin"), (Array("RIFFxxxxAVI ".utf8), "does not begin"), (Array(whole[..<30]), "shorter"),
            (Array(whole[..<36]), "without samples"), (Self.file(tag: 85, bits: 16, data: [0, 0]), "format 85"),
            (Self.file(tag: 1, bits: 12, data: [0, 0]), "12 bits"),
            (Self.file(tag: 1, bits: 16, channels: 0, data: [0, 0]), "0 channels"),
            (Self.file(tag: 1, bits: 16, rate: 0, data: [0, 0]), "0 samples a second"),
        ] as [([UInt8], String)] {
            let message = reason { _ = try WAVFile(parsing: bytes) }
            #expect(message.contains(words), "\(message)")
        }
    }

    @Test func damagedFilesNeverTrap() throws {
        var random = SplitMix(state: 1)
        let whole = Self.file(tag: 1, bits: 24, channels: 2, rate: 48_000, data: Array(repeating: 7, count: 600))
        var readable = 0
        for _ in 0..<3000 {
            var bytes = whole
            for _ in 0..<(1 + random.next() % 4) {
                bytes[Int(random.next() % 60)] = UInt8(truncatingIfNeeded: random.next())
            }
            bytes.removeLast(Int(random.next() % UInt64(bytes.count)))
            if let file = try? WAVFile(parsing: bytes) {
                readable += 1
                #expect(file.sampleCount <= 600)
                if file.sampleRate == 48_000 { _ = try file.monoSamples() }
            }
        }
        #expect(readable > 100)
    }
}
