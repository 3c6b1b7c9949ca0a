import Codecs
import Testing

@Suite struct AudioCodecTests {
    @Test func aToneSurvivesOpus() throws {
        var encoder = try OpusEncoder()
        var decoder = try OpusDecoder()
        var tone = ToneGenerator(frequency: 440)
        var heard: [Int16] = []
        for _ in 0..<25 {
            let packet = try encoder.encode(tone.samples(960, amplitude: 8000))
            #expect(packet.count < 400)
            let samples = try decoder.decode(packet)
            #expect(samples.count == 960)
            heard += samples
        }
        #expect(ToneDetector.share(of: 440, in: Array(heard[4800...]), sampleRate: 48_000) > 0.9)
        #expect(ToneDetector.share(of: 660, in: Array(heard[4800...]), sampleRate: 48_000) < 0.01)
        // Sound is made up for a lost packet, and it still is the tone.
        let concealed = try decoder.conceal(samples: 960)
        #expect(concealed.count == 960)
        #expect(ToneDetector.share(of: 440, in: concealed, sampleRate: 48_000) > 0.5)
    }

    @Test func opusRefusesWhatItCannotUse() throws {
        #expect(throws: CodecError.self) { _ = try OpusEncoder(.init(channels: 3)) }
        #expect(throws: CodecError.self) { _ = try OpusEncoder(.init(complexity: 11)) }
        #expect(throws: CodecError.self) { _ = try OpusDecoder(channels: 0) }
        var encoder = try OpusEncoder()
        #expect(reason { _ = try encoder.encode(Array(repeating: 0, count: 961)) }.contains("961 samples"))
        var decoder = try OpusDecoder()
        for packet in [[], [0x03, 0xFF, 0x01]] as [[UInt8]] {
            #expect(!reason { _ = try decoder.decode(packet) }.isEmpty)
        }
    }

    @Test func randomOpusPacketsNeverTrap() throws {
        var random = SplitMix(state: 3)
        var decoder = try OpusDecoder()
        for _ in 0..<2000 {
            let packet = (0..<(random.next() % 60)).map { _ in UInt8(truncatingIfNeeded: random.next()) }
            let count = (try? decoder.decode(packet))?.count ?? 0
            #expect(count <= OpusDecoder.maximumSamplesPerPacket)
        }
    }

    /// Decoder output values of ITU-T G.711, tables 1a to 2b, scaled from 13 and 14 bits to 16.
    @Test(arguments: [
        (G711.aLaw, UInt8(0xD5), Int16(8)), (.aLaw, 0x55, -8), (.aLaw, 0xD4, 24), (.aLaw, 0xAA, 32256),
        (.aLaw, 0x2A, -32256), (.aLaw, 0xC5, 264), (.muLaw, 0xFF, 0), (.muLaw, 0x7F, 0), (.muLaw, 0xFE, 8),
        (.muLaw, 0x80, 32124), (.muLaw, 0x00, -32124), (.muLaw, 0xEF, 132), (.muLaw, 0x8F, 16764),
    ]) func g711DecodesAsTheTablesSay(law: G711, byte: UInt8, sample: Int16) {
        #expect(law.decode(byte) == sample)
    }

    @Test(arguments: [G711.muLaw, .aLaw]) func everyG711ByteSurvivesDecodingAndEncoding(law: G711) {
        for byte in UInt8.min...UInt8.max where !(law == .muLaw && byte == 0x7F) {
            // µ-law has two zeros, of which encoding gives the positive one.
            #expect(law.encode(law.decode(byte)) == byte)
        }
    }

    @Test(arguments: [G711.muLaw, .aLaw]) func g711IsAsPreciseAsItsSegmentsAllow(law: G711) {
        for sample in stride(from: Int16.min, through: .max - 7, by: 7) {
            let difference = abs(Int(law.decode(law.encode(sample))) - Int(sample))
            // Half a step: a thirtieth of the magnitude at the most, 16 near zero, and clipping at the end.
            #expect(difference <= max(16, abs(Int(sample)) / 28), "\(sample)")
        }
    }

    @Test(arguments: [
        (8000, 48_000), (16_000, 48_000), (44_100, 48_000), (48_000, 8000), (48_000, 44_100), (11_025, 48_000),
        (47_999, 48_000),
    ]) func aToneKeepsItsPitchAndLengthThroughARateChange(input: Int, output: Int) throws {
        var converter = try #require(SampleRateConverter(from: input, to: output))
        var tone = ToneGenerator(frequency: 1000, sampleRate: input)
        let sound = tone.samples(input, amplitude: 10_000)
        var converted: [Int16] = []
        // In uneven pieces, as packets bring it.
        var start = 0
        for length in [1, 7, 160, 441, 3] + Array(repeating: 500, count: input / 500) where start < sound.count {
            let end = min(start + length, sound.count)
            sound[start..<end].withUnsafeBufferPointer { converter.convert($0, appendingTo: &converted) }
            start = end
        }
        converter.finish(appendingTo: &converted)
        #expect(abs(converted.count - output) <= 2)
        let middle = Array(converted[(output / 10)..<(output * 9 / 10)])
        #expect(ToneDetector.share(of: 1000, in: middle, sampleRate: output) > 0.998)
        let peak = middle.map { abs(Int($0)) }.max() ?? 0
        #expect((9800...10_200).contains(peak))
    }

    @Test func aToneThatTheLowerRateCannotCarryIsRemoved() throws {
        var converter = try #require(SampleRateConverter(from: 48_000, to: 8000))
        var tone = ToneGenerator(frequency: 5000)
        var converted: [Int16] = []
        tone.samples(48_000, amplitude: 10_000).withUnsafeBufferPointer {
            converter.convert($0, appendingTo: &converted)
        }
        #expect((converted[200...].map { abs(Int($0)) }.max() ?? 0) < 60)
    }

    @Test(arguments: [150.0, 400, 440, 523.25, 659.25, 1000, 2750])
    func theDominantToneIsFound(frequency: Double) {
        var tone = ToneGenerator(frequency: frequency, sampleRate: 8000)
        let found = dominantTone(tone.samples(400, amplitude: 3000))
        #expect(abs((found?.frequency ?? 0) - frequency) < 5)
        #expect((found?.share ?? 0) > 0.8)
    }

    @Test func silenceAndNoiseContainNoTone() {
        #expect(dominantTone(Array(repeating: 0, count: 400)) == nil)
        var random = SplitMix(state: 5)
        let noise = dominantTone((0..<400).map { _ in Int16(truncatingIfNeeded: random.next()) / 8 })
        #expect((noise?.share ?? 1) < 0.2)
    }

    private func dominantTone(_ samples: [Int16]) -> (frequency: Double, share: Double)? {
        samples.withUnsafeBufferPointer { ToneDetector.dominantTone(in: $0, sampleRate: 8000) }
    }
}
