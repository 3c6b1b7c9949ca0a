import Codecs
import Glibc
import Testing

/// Sound that takes the place of lost packets.
@Suite struct ConcealmentTests {
    /// A vowel: a pitch with harmonics that become weaker.
    private func vowel(_ count: Int, pitch: Double = 140, rate: Int) -> [Int16] {
        var tones = (1...8).map { ToneGenerator(frequency: pitch * Double($0), sampleRate: rate) }
        return (0..<count).map { _ in
            tones.indices.reduce(0) { $0 + tones[$1].next(amplitude: 5000 / Double($1 + 1)) }
        }
    }

    /// How much two pieces of sound are alike: 1 for the same, 0 for what has nothing in common.
    private func likeness(_ left: some Sequence<Int16>, _ right: some Sequence<Int16>) -> Double {
        var (product, energies) = (0.0, (1e-9, 1e-9))
        for (one, other) in zip(left, right) {
            product += Double(one) * Double(other)
            energies.0 += Double(one) * Double(one)
            energies.1 += Double(other) * Double(other)
        }
        return product / (energies.0 * energies.1).squareRoot()
    }

    private func conceal(_ count: Int, with concealment: inout WaveformConcealment) -> [Int16] {
        var samples = [Int16](repeating: 1, count: count)
        samples.withUnsafeMutableBufferPointer { concealment.conceal($0) }
        return samples
    }

    private func receive(_ samples: ArraySlice<Int16>, with concealment: inout WaveformConcealment) -> [Int16] {
        var samples = Array(samples)
        samples.withUnsafeMutableBufferPointer { concealment.receive($0) }
        return samples
    }

    @Test(arguments: [90, 140, 230, 380] as [Double])
    func aVoiceGoesOnThroughALostPacket(pitch: Double) {
        let sound = vowel(1600, pitch: pitch, rate: 8000)
        var concealment = WaveformConcealment(samplesPerSecond: 8000)
        for start in stride(from: 0, to: 800, by: 160) {
            #expect(receive(sound[start..<start + 160], with: &concealment) == Array(sound[start..<start + 160]))
        }
        let guess = conceal(160, with: &concealment)
        #expect(likeness(guess, sound[800..<960]) > 0.9)
        // The sound after the gap is blended with the guess at its beginning only.
        let after = receive(sound[960..<1120], with: &concealment)
        #expect(likeness(after[..<32], sound[960..<992]) > 0.9)
        #expect(Array(after[32...]) == Array(sound[992..<1120]))
    }

    @Test func aLongGapFadesToSilence() {
        let sound = vowel(800, rate: 8000)
        var concealment = WaveformConcealment(samplesPerSecond: 8000)
        _ = receive(sound[...], with: &concealment)
        let guess = conceal(800, with: &concealment)
        #expect(guess[..<80].contains { abs($0) > 4000 })
        #expect(guess[480...].allSatisfy { $0 == 0 })
        let loudness = stride(from: 80, to: 480, by: 80).map { start in
            guess[start..<start + 80].map { abs(Int($0)) }.max() ?? 0
        }
        #expect(loudness == loudness.sorted(by: >), "\(loudness)")
    }

    @Test func withoutSoundBeforeTheGapThereIsSilence() {
        var concealment = WaveformConcealment(samplesPerSecond: 8000)
        #expect(conceal(160, with: &concealment).allSatisfy { $0 == 0 })
        #expect(receive([], with: &concealment).isEmpty)
        _ = receive([100, -100], with: &concealment)
        #expect(conceal(160, with: &concealment).allSatisfy { $0 == 0 }, "too little to find a period in")
    }

    @Test func anyGapsAndLengthsAreSafe() {
        var random = SplitMix(state: 11)
        var concealment = WaveformConcealment(samplesPerSecond: 8000)
        for _ in 0..<2_000 {
            let count = Int(random.next() % 400)
            if random.next() % 3 == 0 {
                #expect(conceal(count, with: &concealment).count == count)
            } else {
                let noise = (0..<count).map { _ in Int16(truncatingIfNeeded: random.next()) }
                #expect(receive(noise[...], with: &concealment).count == count)
            }
        }
    }

    @Test func aLostOpusPacketIsRestoredFromTheNextOne() throws {
        var configuration = OpusEncoder.Configuration()
        configuration.carriesRedundancy = true
        var encoder = try OpusEncoder(configuration)
        try encoder.setExpectedLoss(percent: 20)
        // Redundancy is for what the encoder takes for speech: a voice that rises and falls.
        let sound = vowel(960 * 60, rate: 48_000).enumerated().map { index, sample in
            Int16(Double(sample) * abs(sin(Double(index) / 6_000)))
        }
        let packets = try stride(from: 0, to: sound.count, by: 960).map { start in
            try encoder.encode(Array(sound[start..<start + 960]))
        }
        #expect(packets.count { $0.withUnsafeBytes(OpusPacket.hasRedundancy) } > 40)
        #expect(packets.allSatisfy { $0.withUnsafeBytes(OpusPacket.sampleCount) == 960 })
        // A syllable begins in the lost packet, so the sound before it says nothing about it. The one after it has redundancy.
        let lost = try #require(
            packets.indices.dropFirst(20).dropLast().first { number in
                !packets[number].withUnsafeBytes(OpusPacket.hasRedundancy)
                    && packets[number + 1].withUnsafeBytes(OpusPacket.hasRedundancy)
            })
        var whole = try OpusDecoder()
        var restoring = try OpusDecoder()
        var concealing = try OpusDecoder()
        for packet in packets[..<lost] {
            _ = try (whole.decode(packet), restoring.decode(packet), concealing.decode(packet))
        }
        let expected = try whole.decode(packets[lost])
        var restored = [Int16](repeating: 0, count: 960)
        let count = try packets[lost + 1].withUnsafeBytes { next in
            try restored.withUnsafeMutableBufferPointer { try restoring.restore(before: next, into: $0) }
        }
        #expect(count == 960)
        var concealed = [Int16](repeating: 0, count: 960)
        _ = try concealed.withUnsafeMutableBufferPointer { try concealing.conceal(into: $0) }
        #expect(likeness(restored, expected) > 0.9)
        #expect(likeness(concealed, expected) < 0.5)
    }

    @Test func anEncoderWithoutLossSpendsNothingOnRedundancy() throws {
        for (carries, loss) in [(false, 20), (true, 0)] {
            var configuration = OpusEncoder.Configuration()
            configuration.carriesRedundancy = carries
            var encoder = try OpusEncoder(configuration)
            try encoder.setExpectedLoss(percent: loss)
            let sound = vowel(960 * 20, rate: 48_000)
            for start in stride(from: 0, to: sound.count, by: 960) {
                let packet = try encoder.encode(Array(sound[start..<start + 960]))
                #expect(!packet.withUnsafeBytes(OpusPacket.hasRedundancy))
            }
        }
    }

    @Test func anyBytesAreAskedSafely() {
        var random = SplitMix(state: 12)
        for _ in 0..<20_000 {
            let packet = (0..<(random.next() % 40)).map { _ in UInt8(truncatingIfNeeded: random.next()) }
            packet.withUnsafeBytes {
                _ = OpusPacket.hasRedundancy($0)
                #expect(OpusPacket.sampleCount($0).map { (1...5760).contains($0) } ?? true)
            }
        }
    }
}
