import Testing

@testable import RTP

@Suite struct MPEG4AudioTests {
    private func units(
        _ depacketizer: inout MPEG4GenericDepacketizer, _ payload: [UInt8]
    ) -> (units: [[UInt8]], isWhole: Bool) {
        var units: [[UInt8]] = []
        let isWhole = payload.withUnsafeBytes { depacketizer.depacketize($0) { units.append(Array($0)) } }
        return (units, isWhole)
    }

    /// The header section of RFC 3640, section 3.2.1, in high bit rate: 13 bits of size, 3 of index.
    private func headers(_ sizes: [Int]) -> [UInt8] {
        [UInt8(sizes.count * 16 >> 8), UInt8(sizes.count * 16 & 0xFF)]
            + sizes.flatMap { [UInt8($0 >> 5), UInt8(truncatingIfNeeded: $0 << 3)] }
    }

    @Test func severalUnitsComeOutOfOnePacket() {
        var depacketizer = MPEG4GenericDepacketizer(.aacHighBitRate)
        let (one, two) = (pattern(300), pattern(7, seed: 9))
        #expect(units(&depacketizer, headers([300, 7]) + one + two) == ([one, two], true))
        #expect(units(&depacketizer, headers([7]) + two) == ([two], true))
    }

    @Test func fragmentsAreJoinedAndALossForgetsThem() {
        var depacketizer = MPEG4GenericDepacketizer(.aacHighBitRate)
        let unit = pattern(1000)
        #expect(units(&depacketizer, headers([1000]) + unit[..<600]) == ([], true))
        #expect(units(&depacketizer, headers([1000]) + unit[600...]) == ([unit], true))
        #expect(units(&depacketizer, headers([1000]) + unit[..<600]) == ([], true))
        depacketizer.recordLoss()
        #expect(units(&depacketizer, headers([1000]) + unit[600...]) == ([], true))
        // A unit of another size shows that the end of the one before was lost.
        #expect(units(&depacketizer, headers([1200]) + pattern(500)) == ([], true))
        #expect(units(&depacketizer, headers([1200]) + pattern(700)) == ([pattern(500) + pattern(700)], true))
    }

    @Test func lowBitRateHasHeadersOfOneByte() {
        var depacketizer = MPEG4GenericDepacketizer(.aacLowBitRate)
        #expect(units(&depacketizer, [0, 16, 3 << 2, 2 << 2, 1, 2, 3, 4, 5]) == ([[1, 2, 3], [4, 5]], true))
    }

    @Test func furtherFieldsOfTheHeadersAreSkipped() {
        var depacketizer = MPEG4GenericDepacketizer(
            .init(
                sizeLength: 13, indexLength: 3, indexDeltaLength: 3, compositionDeltaLength: 8,
                decodingDeltaLength: 8, hasRandomAccessFlag: true, auxiliarySizeLength: 8))
        // Size 2, index 0; a composition difference of 0x55, no decoding difference, random access: 27 bits.
        let header: [UInt8] = [0, 27, 0, 2 << 3, 0x80 | 0x55 >> 1, 0x80 | 0x20]
        #expect(units(&depacketizer, header + [8, 0xEE, 1, 2]) == ([[1, 2]], true))
    }

    @Test func unitsOfOneSizeNeedNoHeaders() {
        var depacketizer = MPEG4GenericDepacketizer(
            .init(sizeLength: 0, indexLength: 0, indexDeltaLength: 0, constantSize: 2))
        #expect(units(&depacketizer, [1, 2, 3, 4]) == ([[1, 2], [3, 4]], true))
        #expect(units(&depacketizer, [1, 2, 3]) == ([[1, 2]], false))
    }

    @Test func headersThatDoNotFitAreRefused() {
        var depacketizer = MPEG4GenericDepacketizer(.aacHighBitRate)
        for payload in [[], [0], [0, 16], [0, 16, 0], [0xFF, 0xFF, 0, 8, 1], [0, 0, 1, 2]] as [[UInt8]] {
            #expect(units(&depacketizer, payload) == ([], false), "\(payload)")
        }
    }

    @Test func mutatedPayloadsOfAccessUnitsNeverTrap() {
        let corpus = [
            headers([300, 7]) + pattern(307), headers([1000]) + pattern(500), headers([3]) + [1, 2, 3],
            [0, 16, 12, 8, 1, 2, 3, 4, 5],
        ]
        for parameters in [MPEG4Generic.Parameters.aacHighBitRate, .aacLowBitRate] {
            var depacketizer = MPEG4GenericDepacketizer(parameters)
            for payload in Mutations(of: corpus, count: 3000, seed: 5) {
                let (units, _) = units(&depacketizer, payload)
                #expect(units.allSatisfy { $0.count <= MPEG4Generic.maximumUnitLength })
            }
        }
    }

    // MARK: Configurations

    @Test(
        arguments: [
            ("1408", 2, 16_000, 1, 1024), ("1190", 2, 48_000, 2, 1024), ("1588", 2, 8000, 1, 1024),
            ("1210", 2, 44_100, 2, 1024), ("2B8A0800", 5, 22_050, 1, 1024),
            ("F8E82000", 39, 44_100, 1, 512),
        ] as [(String, Int, Int, Int, Int)])
    func configurationsAreRead(text: String, type: Int, rate: Int, channels: Int, length: Int) throws {
        let config = try #require(AudioSpecificConfig(parsing: hex(text)))
        #expect(config.objectType == type && config.sampleRate == rate)
        #expect(config.channels == channels && config.frameLength == length)
    }

    @Test func aRateWithoutAnIndexIsWrittenIntoTheConfiguration() {
        #expect(
            AudioSpecificConfig(parsing: AudioSpecificConfig(sampleRate: 16_001, channels: 1).bytes)?.sampleRate
                == 16_001)
    }

    @Test func configurationsAreWritten() {
        #expect(AudioSpecificConfig(sampleRate: 16_000, channels: 1).bytes == hex("1408"))
        #expect(AudioSpecificConfig(sampleRate: 48_000, channels: 2).bytes == hex("1190"))
        #expect(AudioSpecificConfig(parsing: [0x14]) == nil)
        // Index 13 is reserved.
        #expect(AudioSpecificConfig(parsing: hex("1688")) == nil)
    }

    // MARK: LATM

    private func frames(
        _ depacketizer: inout MPEG4LATMDepacketizer, _ payload: [UInt8]
    ) -> (frames: [[UInt8]], isWhole: Bool) {
        var frames: [[UInt8]] = []
        let isWhole = payload.withUnsafeBytes {
            depacketizer.depacketize($0) { frame, _ in frames.append(Array(frame)) }
        }
        return (frames, isWhole)
    }

    /// The configuration of RFC 6416, section 7.4.1: AAC-LC at 24 kHz in stereo, out of band.
    @Test func latmWithItsConfigurationInTheDescription() throws {
        var depacketizer = MPEG4LATMDepacketizer(
            streamMuxConfig: hex("400026203fc0"), isConfigurationInBand: false)
        let config = try #require(depacketizer.configuration)
        #expect(config.objectType == 2 && config.sampleRate == 24_000 && config.channels == 2)
        let (short, long) = (pattern(20), pattern(600))
        #expect(frames(&depacketizer, [20] + short) == ([short], true))
        #expect(frames(&depacketizer, [255, 255, 90] + long) == ([long], true))
        // Two elements in one packet, and one in two packets.
        #expect(frames(&depacketizer, [20] + short + [3, 1, 2, 3]) == ([short, [1, 2, 3]], true))
        #expect(frames(&depacketizer, [255, 255, 90] + long[..<400]) == ([], true))
        #expect(frames(&depacketizer, Array(long[400...])) == ([long], true))
        #expect(frames(&depacketizer, [255, 255, 90] + long[..<400]) == ([], true))
        depacketizer.recordLoss()
        #expect(frames(&depacketizer, [20] + short) == ([short], true))
    }

    @Test func latmWithItsConfigurationInTheStream() {
        // useSameStreamMux 0, the configuration from above, then a frame of two bytes, none of it at a byte's start.
        var writer = PlainBitWriter()
        writer.write(0, bits: 1)
        for (index, byte) in hex("400026203fc0").enumerated() {
            // The configuration has 44 bits; the last four only fill it up.
            writer.write(UInt32(index == 5 ? byte >> 4 : byte), bits: index == 5 ? 4 : 8)
        }
        for byte in [2, 0xAB, 0xCD] as [UInt32] { writer.write(byte, bits: 8) }
        var depacketizer = MPEG4LATMDepacketizer(streamMuxConfig: [], isConfigurationInBand: true)
        // Before the configuration nothing can be read: the first bit says that the one before holds.
        #expect(frames(&depacketizer, [0x81, 0, 0]) == ([], false))
        #expect(frames(&depacketizer, writer.bytes) == ([[0xAB, 0xCD]], true))
        #expect(depacketizer.configuration?.sampleRate == 24_000)
        // The same configuration, one byte, 0x2A.
        #expect(frames(&depacketizer, [0x80, 0x95, 0x00]) == ([[0x2A]], true))
    }

    @Test func mutatedElementsNeverTrapAndNothingGrows() {
        let corpus = [
            hex("400026203fc0"), [20] + pattern(20), [255, 255, 90] + pattern(600), [0x80, 0x81] + pattern(40),
        ]
        for isInBand in [false, true] {
            var depacketizer = MPEG4LATMDepacketizer(
                streamMuxConfig: hex("400026203fc0"), isConfigurationInBand: isInBand)
            for payload in Mutations(of: corpus, count: 3000, seed: 6) {
                let (frames, _) = frames(&depacketizer, payload)
                #expect(frames.allSatisfy { $0.count <= MPEG4LATMDepacketizer.maximumElementLength })
            }
            for config in Mutations(of: [hex("400026203fc0"), hex("8000a00")], count: 1000, seed: 7) {
                _ = MPEG4LATMDepacketizer(streamMuxConfig: config, isConfigurationInBand: isInBand)
            }
        }
    }
}
