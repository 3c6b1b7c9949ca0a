import RTP
import Testing
import Transport

@Suite struct VP8Tests {
    @Test(arguments: [
        // Only a descriptor, extended with short and long picture identifiers, layers, and all together.
        ("10 00", 1, true), ("90 80 11 00", 3, true), ("90 80 91 22 00", 4, true), ("90 e0 91 22 33 c0 00", 6, true),
        ("90 10 05 00", 3, true), ("90 00 00", 2, true), ("00 00", 1, false), ("11 00", 1, false),
    ])
    func readsDescriptors(text: String, length: Int, startsFrame: Bool) throws {
        try hex(text).withUnsafeBytes {
            let descriptor = try #require(VP8PayloadDescriptor(parsing: $0))
            #expect(descriptor.length == length)
            #expect(descriptor.startsFrame == startsFrame)
        }
    }

    @Test func readsEveryField() throws {
        try hex("b0 f0 91 22 33 85 00").withUnsafeBytes {
            let descriptor = try #require(VP8PayloadDescriptor(parsing: $0))
            #expect(descriptor.isNonReference)
            #expect(descriptor.pictureID == 0x1122)
            #expect(descriptor.hasLongPictureID)
            #expect(descriptor.temporalLevelZeroIndex == 0x33)
            #expect(descriptor.temporalLayer == 2)
        }
    }

    @Test(arguments: ["", "10", "90", "90 80", "90 80 91", "90 80 11", "90 f0 91 22", "90 f0 91 22 33", "90 20 00"])
    func refusesWhatIsCutShort(text: String) {
        hex(text).withUnsafeBytes { #expect(VP8PayloadDescriptor(parsing: $0) == nil) }
    }

    @Test func findsKeyFrameStarts() {
        #expect(hex("10 50 00 00 9d 01 2a").withUnsafeBytes(VP8.isKeyFrameStart))
        #expect(hex("90 80 91 22 50").withUnsafeBytes(VP8.isKeyFrameStart))
        // An inter frame, a continuation of a key frame, another partition, nothing.
        #expect(!hex("10 51 00 00").withUnsafeBytes(VP8.isKeyFrameStart))
        #expect(!hex("00 50 00 00").withUnsafeBytes(VP8.isKeyFrameStart))
        #expect(!hex("11 50 00 00").withUnsafeBytes(VP8.isKeyFrameStart))
        #expect(!hex("").withUnsafeBytes(VP8.isKeyFrameStart))
    }

    @Test func readsTheSizeOfAKeyFrame() {
        let header = hex("50 42 00 9d 01 2a 80 02 68 41").withUnsafeBytes(VP8.FrameHeader.init(parsing:))
        #expect(header?.isKeyFrame == true)
        #expect(header?.isShown == true)
        #expect(header?.width == 640)
        #expect(header?.height == 360)
        #expect(hex("50 42 00 9d 01 2b 80 02 68 01").withUnsafeBytes(VP8.FrameHeader.init(parsing:)) == nil)
        #expect(hex("51 42 00").withUnsafeBytes(VP8.FrameHeader.init(parsing:))?.isKeyFrame == false)
    }

    @Test(arguments: [1, 100, 1_156, 1_157, 2_312, 2_313, 30_000])
    func fragmentsAreEqualAndTheLastNoLonger(length: Int) {
        var packetizer = VP8Packetizer(firstPictureID: 0x7FFF)
        let frame = [0x50] + pattern(length - 1)
        var payloads: [[UInt8]] = []
        frame.withUnsafeBytes {
            packetizer.packetize($0) { payload in
                #expect(payload.isFirst == payloads.isEmpty)
                #expect(payload.isKeyFrame)
                #expect(payload.flags.contains(.startsFrame) == payloads.isEmpty)
                payloads.append(Array(payload.bytes))
                #expect(payload.isLast == (payloads.map { $0.count - 4 }.reduce(0, +) == length))
            }
        }
        #expect(payloads.allSatisfy { $0.count <= PayloadLimit.standard })
        #expect(Set(payloads.dropLast().map(\.count)).count <= 1)
        #expect((payloads.last?.count ?? 0) <= payloads[0].count)
        #expect(payloads.flatMap { $0.dropFirst(4) } == frame)
        #expect(payloads.filter { $0.withUnsafeBytes(VP8.isKeyFrameStart) }.count == 1)
        #expect(packetizer.nextPictureID == 0)
        #expect(payloads.count == (length + 1_155) / 1_156)
    }

    @Test func noMutationTraps() {
        var seen = 0
        for bytes in Mutations(of: [hex("b0 f0 91 22 33 85 50 9d 01 2a 10"), hex("10 50")], count: 3_000, seed: 4) {
            bytes.withUnsafeBytes {
                if VP8.isKeyFrameStart(payload: $0) { seen += 1 }
                if let descriptor = VP8PayloadDescriptor(parsing: $0) { #expect(descriptor.length < $0.count) }
                _ = VP8.FrameHeader(parsing: $0)
            }
        }
        #expect(seen > 100)
    }
}

@Suite struct H264PacketTests {
    static let parameters: [UInt8] = hex("67 42 c0 1f d9 00 a0 47 fe 88")
    static let picture: [UInt8] = hex("68 ce 38 80")

    /// An access unit with start codes of three and four bytes.
    static func accessUnit(_ units: [[UInt8]]) -> [UInt8] {
        units.enumerated().flatMap { [UInt8](repeating: 0, count: $0.offset == 0 ? 3 : 2) + [1] + $0.element }
    }

    static func payloads(_ accessUnit: [UInt8], maximum: Int = PayloadLimit.standard) -> [[UInt8]] {
        var result: [[UInt8]] = []
        accessUnit.withUnsafeBytes {
            H264Packetizer(maximumPayloadLength: maximum).packetize(annexB: $0) { result.append(Array($0.bytes)) }
        }
        return result
    }

    @Test func walksStartCodesOfBothLengths() {
        let bytes = hex("00 00 00 01 67 42 00 00 01 68 ce 00 00 00 00 01 65 88 00 00 03 01 00")
        let units = bytes.withUnsafeBytes { AnnexBUnits($0).map(Array.init) }
        #expect(units == [hex("67 42"), hex("68 ce"), hex("65 88 00 00 03 01")])
        #expect(hex("67 42 00 00").withUnsafeBytes { AnnexBUnits($0).map(Array.init) } == [])
        #expect(hex("00 00 01 00 00 01").withUnsafeBytes { AnnexBUnits($0).map(Array.init) } == [])
    }

    @Test func parameterSetsAreAggregatedAndLongUnitsFragmented() {
        let slice = [0x65] + pattern(2_999)
        let payloads = Self.payloads(Self.accessUnit([[0x09, 0xF0], Self.parameters, Self.picture, slice]))
        #expect(payloads.count == 4)
        let aggregated: [UInt8] = [0x78, 0, 10] + Self.parameters + [0, 4] + Self.picture
        #expect(payloads[0] == aggregated)
        #expect(payloads[1].count == payloads[2].count)
        #expect(payloads[3].count <= payloads[2].count)
        #expect(payloads[1][0] == 0x7C)
        #expect(payloads[1][1] == 0x85)
        #expect(payloads[2][1] == 0x05)
        #expect(payloads[3][1] == 0x45)
        let joined: [UInt8] = payloads[1...].flatMap { $0.dropFirst(2) }
        #expect(joined == Array(slice.dropFirst()))
    }

    @Test func aLoneUnitIsSentAsItIs() {
        let slice = [0x41, 0x9A] + pattern(500)
        #expect(Self.payloads(Self.accessUnit([slice])) == [slice])
        #expect(Self.payloads(Self.accessUnit([Self.parameters])) == [Self.parameters])
        #expect(Self.payloads([]) == [])
    }

    @Test func onlyTheLastPayloadEndsTheFrame() {
        for units in [
            [Self.parameters], [Self.parameters, [0x65] + pattern(3_000)], [[0x41] + pattern(9), Self.picture],
        ] {
            var flags: [Bool] = []
            Self.accessUnit(units).withUnsafeBytes {
                H264Packetizer().packetize(annexB: $0) { flags.append($0.isLast) }
            }
            #expect(flags.last == true)
            #expect(flags.dropLast().allSatisfy { !$0 })
        }
    }

    @Test func keyFrameInfoSeesThroughEveryPacking() {
        func info(_ payload: [UInt8]) -> H264.KeyFrameInfo { payload.withUnsafeBytes(H264.keyFrameInfo) }
        #expect(info(Self.parameters) == .sequenceParameterSet)
        #expect(info(Self.picture) == .pictureParameterSet)
        #expect(info(hex("65 88 80")) == [.instantaneousDecoderRefresh, .startsPicture])
        #expect(info(hex("65 48 80")) == .instantaneousDecoderRefresh)
        #expect(info(hex("41 9a 00")) == [.otherSlice, .startsPicture])
        #expect(info(hex("09 f0")) == .accessUnitDelimiter)
        #expect(info(hex("7c 85 88")) == [.instantaneousDecoderRefresh, .startsPicture])
        #expect(info(hex("7c 05 88")) == .instantaneousDecoderRefresh)
        #expect(info(hex("7c 41 88")) == .otherSlice)
        #expect(
            info([0x78, 0, 10] + Self.parameters + [0, 4] + Self.picture + [0, 2, 0x65, 0x88])
                == [.sequenceParameterSet, .pictureParameterSet, .instantaneousDecoderRefresh, .startsPicture])
        #expect(info(hex("7c")) == [])
        #expect(info(hex("78 00 ff 67")) == .sequenceParameterSet)
        #expect(info(hex("78 00")) == [])
        #expect(info([]) == [])
        #expect(info(Self.parameters).belongsToKeyFrame)
        #expect(!info(Self.picture).belongsToKeyFrame)
        #expect(!info(hex("41 9a")).belongsToKeyFrame)
    }

    @Test func noMutationTraps() {
        let corpus = Self.payloads(
            Self.accessUnit([Self.parameters, Self.picture, [0x65] + pattern(200)]), maximum: 100)
        for bytes in Mutations(of: corpus, count: 3_000, seed: 5) {
            bytes.withUnsafeBytes {
                _ = H264.keyFrameInfo(payload: $0)
                #expect(AnnexBUnits($0).allSatisfy { !$0.isEmpty })
            }
            let length = Self.payloads(bytes).reduce(0) { $0 + $1.count }
            #expect(length <= bytes.count * 2)
        }
    }
}

@Suite struct OpusTests {
    @Test(arguments: [
        // Configuration, samples of the packet: 20 ms SILK, 60 ms SILK, 20 ms hybrid, 2.5 and 20 ms CELT.
        ("08", 960), ("18", 2_880), ("78", 960), ("e0", 120), ("fc", 960), ("fd 00", 1_920), ("fb 03 00", 2_880),
    ])
    func computesHowFarTheTimestampMoves(text: String, samples: Int) {
        #expect(hex(text).withUnsafeBytes(Opus.TableOfContents.init(parsing:))?.sampleCount == samples)
    }

    @Test(arguments: ["", "fb", "fb 00", "1b 03"])
    func refusesImpossiblePackets(text: String) {
        #expect(hex(text).withUnsafeBytes(Opus.TableOfContents.init(parsing:)) == nil)
    }

    @Test func readsModeAndChannels() {
        let stereo = hex("fc").withUnsafeBytes(Opus.TableOfContents.init(parsing:))
        #expect(stereo?.isStereo == true)
        #expect(stereo?.mode == .celt)
        #expect(hex("08").withUnsafeBytes(Opus.TableOfContents.init(parsing:))?.mode == .silk)
        #expect(hex("78").withUnsafeBytes(Opus.TableOfContents.init(parsing:))?.mode == .hybrid)
    }
}

@Suite struct RetransmissionTests {
    @Test func removesTheOriginalSequenceNumber() {
        hex("12 34 aa bb").withUnsafeBytes {
            let parts = Retransmission.parse(payload: $0)
            #expect(parts?.originalSequenceNumber == 0x1234)
            #expect(parts.map { Array($0.payload) } == [0xAA, 0xBB])
        }
        hex("12 34").withUnsafeBytes { #expect(Retransmission.parse(payload: $0)?.payload.isEmpty == true) }
        hex("12").withUnsafeBytes { #expect(Retransmission.parse(payload: $0) == nil) }
    }
}
