import RTP
import Testing
import Transport

@Suite struct RTPPacketTests {
    /// Two contributing sources, a one-byte extension with three elements and padding between, five bytes of payload
    /// and three of padding.
    static let full = hex(
        """
        b2 e0 ff fe 12 34 56 78 ca fe ba be  00 00 00 01 00 00 00 02
        be de 00 03  10 aa 00 22 01 02 03 31 04 05 00 00
        68 65 6c 6c 6f 00 00 03
        """)

    @Test func readsEveryFieldOfAPacketWithAllParts() throws {
        try Self.full.withUnsafeBytes { bytes in
            let packet = try RTPPacketView(parsing: bytes)
            #expect(packet.marker)
            #expect(packet.payloadType == 96)
            #expect(packet.sequenceNumber == 0xFFFE)
            #expect(packet.timestamp == 0x1234_5678)
            #expect(packet.ssrc == 0xCAFE_BABE)
            #expect(packet.contributingSourceCount == 2)
            #expect(packet.contributingSource(1) == 2)
            #expect(packet.contributingSource(2) == nil)
            #expect(packet.headerLength == 36)
            #expect(packet.paddingLength == 3)
            #expect(Array(packet.payload) == Array("hello".utf8))
            #expect(packet.headerExtensions.map(\.identifier) == [1, 2, 3])
            #expect(packet.headerExtension(1).map(Array.init) == [0xAA])
            #expect(packet.headerExtension(2).map(Array.init) == [1, 2, 3])
            #expect(packet.headerExtension(3).map(Array.init) == [4, 5])
            #expect(packet.headerExtension(4) == nil)
        }
    }

    @Test func readsTheTwoByteForm() throws {
        let bytes = hex("90 00 00 01 00 00 00 00 00 00 00 01 10 00 00 02 ff 03 01 02 03 00 07 00 aa")
        try bytes.withUnsafeBytes {
            let packet = try RTPPacketView(parsing: $0)
            #expect(packet.headerExtensions.map(\.identifier) == [255, 7])
            #expect(packet.headerExtension(255).map(Array.init) == [1, 2, 3])
            #expect(packet.headerExtension(7)?.count == 0)
            #expect(Array(packet.payload) == [0xAA])
        }
    }

    @Test(arguments: [
        // Identifier 15, identifier 0 with a length, an element past the end, a form that RFC 8285 does not know.
        "be de 00 01 10 01 f0 02", "be de 00 01 10 01 02 02", "be de 00 01 10 01 2f 02",
    ])
    func stopsReadingExtensionsWhereRFC8285SaysSo(extension text: String) throws {
        let bytes = hex("90 00 00 01 00 00 00 00 00 00 00 01" + text)
        try bytes.withUnsafeBytes {
            let packet = try RTPPacketView(parsing: $0)
            #expect(packet.headerExtensions.map(\.identifier) == [1])
        }
    }

    @Test func passesOverAnExtensionOfAnotherFormat() throws {
        let bytes = hex("90 00 00 01 00 00 00 00 00 00 00 01 ab ac 00 01 10 01 20 02 77")
        try bytes.withUnsafeBytes {
            let packet = try RTPPacketView(parsing: $0)
            #expect(packet.headerExtensions.map(\.identifier) == [])
            #expect(Array(packet.payload) == [0x77])
        }
    }

    @Test func aPacketOfPaddingAloneHasAnEmptyPayload() throws {
        // What browsers send on SSRC 0 to probe for bandwidth before any media.
        let bytes = hex("a0 61 00 01 00 00 00 00 00 00 00 00") + [UInt8](repeating: 0, count: 254) + [255]
        try bytes.withUnsafeBytes {
            let packet = try RTPPacketView(parsing: $0)
            #expect(packet.ssrc == 0)
            #expect(packet.payload.isEmpty)
            #expect(packet.paddingLength == 255)
        }
    }

    @Test(arguments: [
        ("80 60 00 01 00 00 00 00 00 00 00", RTPError.truncatedHeader(length: 11)),
        ("81 60 00 01 00 00 00 00 00 00 00 01 00", .truncatedHeader(length: 13)),
        ("40 60 00 01 00 00 00 00 00 00 00 01", .unsupportedVersion(1)),
        ("90 60 00 01 00 00 00 00 00 00 00 01 be de 00", .truncatedExtension(length: 15)),
        ("90 60 00 01 00 00 00 00 00 00 00 01 be de ff ff 00", .truncatedExtension(length: 17)),
        ("a0 60 00 01 00 00 00 00 00 00 00 01", .invalidPadding(count: 0, available: 0)),
        ("a0 60 00 01 00 00 00 00 00 00 00 01 00", .invalidPadding(count: 0, available: 1)),
        ("a0 60 00 01 00 00 00 00 00 00 00 01 01 03", .invalidPadding(count: 3, available: 2)),
        ("", .truncatedHeader(length: 0)),
    ])
    func refusesWhatIsNotAPacket(text: String, expected: RTPError) {
        hex(text).withUnsafeBytes { bytes in
            _ = #expect(throws: expected) { try RTPPacketView(parsing: bytes) }
        }
    }

    @Test func noMutationTraps() {
        let corpus = [
            Self.full,
            hex("90 00 00 01 00 00 00 00 00 00 00 01 10 00 00 02 ff 03 01 02 03 00 07 00 aa"),
            hex("80 60 00 01 00 00 00 00 00 00 00 01 90 80 81 02 00 9d 01 2a"),
        ]
        var parsed = 0
        for bytes in Mutations(of: corpus, count: 5_000, seed: 1) {
            bytes.withUnsafeBytes {
                guard let packet = try? RTPPacketView(parsing: $0) else { return }
                parsed += 1
                var sum = packet.payload.count + packet.headerLength + packet.paddingLength
                #expect(sum == bytes.count)
                for element in packet.headerExtensions { sum += element.value.reduce(0) { $0 + Int($1) } }
                _ = packet.contributingSource(packet.contributingSourceCount - 1)
            }
        }
        #expect(parsed > 500)
    }
}

@Suite struct RTPHeaderTemplateTests {
    @Test func writesWhatTheParserReads() throws {
        let template = RTPHeaderTemplate(
            payloadType: 102, ssrc: 0xDEAD_BEEF,
            extensions: .init(mid: (4, "video0"), absoluteSendTime: 2, transportSequenceNumber: 3))
        #expect(template.length == 12 + 4 + 16)
        let output = UnsafeMutableRawBufferPointer.allocate(byteCount: 64, alignment: 1)
        defer { output.deallocate() }
        let length = template.write(
            marker: true, sequenceNumber: 0xFFFF, timestamp: 0x8000_0001, absoluteSendTime: 0xABCDEF,
            transportSequenceNumber: 0x8001, into: output)
        #expect(length == template.length)
        let packet = try RTPPacketView(parsing: UnsafeRawBufferPointer(rebasing: output[..<length]))
        #expect(packet.marker)
        #expect(packet.payloadType == 102)
        #expect(packet.sequenceNumber == 0xFFFF)
        #expect(packet.timestamp == 0x8000_0001)
        #expect(packet.ssrc == 0xDEAD_BEEF)
        #expect(packet.headerExtension(4).map { String(decoding: $0, as: UTF8.self) } == "video0")
        #expect(packet.headerExtension(2).flatMap(HeaderExtensionValue.absoluteSendTime) == 0xABCDEF)
        #expect(packet.headerExtension(3).flatMap(HeaderExtensionValue.transportSequenceNumber) == 0x8001)
        #expect(packet.payload.isEmpty)
    }

    @Test func withoutExtensionsTheHeaderIsTwelveBytes() throws {
        let template = RTPHeaderTemplate(payloadType: 0, ssrc: 1)
        let output = UnsafeMutableRawBufferPointer.allocate(byteCount: 12, alignment: 1)
        defer { output.deallocate() }
        #expect(template.write(marker: false, sequenceNumber: 1, timestamp: 2, into: output) == 12)
        #expect(Array(output) == hex("80 00 00 01 00 00 00 02 00 00 00 01"))
    }

    @Test func dropsWhatTheOneByteFormCannotHold() {
        let tooLong = RTPHeaderTemplate(
            payloadType: 0, ssrc: 1, extensions: .init(mid: (1, String(repeating: "m", count: 17))))
        #expect(tooLong.length == 12)
        let badIdentifiers = RTPHeaderTemplate(
            payloadType: 0, ssrc: 1, extensions: .init(absoluteSendTime: 15, transportSequenceNumber: 0))
        #expect(badIdentifiers.length == 12)
        let longest = RTPHeaderTemplate(
            payloadType: 0, ssrc: 1,
            extensions: .init(
                mid: (1, String(repeating: "m", count: 16)), absoluteSendTime: 2, transportSequenceNumber: 3))
        #expect(longest.length <= RTPHeaderTemplate.maximumLength)
    }

    @Test func writesNothingIntoTooShortABuffer() {
        let template = RTPHeaderTemplate(payloadType: 0, ssrc: 1)
        let output = UnsafeMutableRawBufferPointer.allocate(byteCount: 11, alignment: 1)
        defer { output.deallocate() }
        #expect(template.write(marker: false, sequenceNumber: 1, timestamp: 2, into: output) == 0)
    }

    @Test func absoluteSendTimeIsSixPointEighteenBits() {
        #expect(HeaderExtensionValue.absoluteSendTime(nanoseconds: 0) == 0)
        #expect(HeaderExtensionValue.absoluteSendTime(nanoseconds: 1_000_000_000) == 1 << 18)
        #expect(HeaderExtensionValue.absoluteSendTime(nanoseconds: 64_500_000_000) == 1 << 17)
        #expect(HeaderExtensionValue.absoluteSendTime(nanoseconds: 63_999_999_999) == 0xFF_FFFF)
    }

    @Test func aPlayoutDelayIsTwoTimesOfTwelveBits() {
        func bits(_ minimum: Int, _ maximum: Int) -> UInt32 {
            HeaderExtensionValue.playoutDelay(minimumMilliseconds: minimum, maximumMilliseconds: maximum)
        }
        #expect(bits(0, 400) == 40)
        #expect(bits(1_230, 99_999) == 0x07_BFFF)
        #expect(bits(-50, 19) == 1)
        let value: [UInt8] = [0x07, 0xBF, 0xFE]
        let read = value.withUnsafeBytes { HeaderExtensionValue.playoutDelay($0) }
        #expect(read?.minimumMilliseconds == 1_230)
        #expect(read?.maximumMilliseconds == 40_940)
        let short = value.dropLast().withUnsafeBytes { HeaderExtensionValue.playoutDelay($0) }
        #expect(short?.minimumMilliseconds == nil)
    }
}

@Suite struct SequenceTests {
    @Test func unwrapsForwardsBackwardsAndOverTheWrap() {
        var unwrapper = SequenceUnwrapper()
        #expect(unwrapper.newest == nil)
        #expect(unwrapper.unwrap(65_534) == 0x1_FFFE)
        #expect(unwrapper.unwrap(1) == 0x2_0001)
        #expect(unwrapper.unwrap(65_535) == 0x1_FFFF)
        #expect(unwrapper.newest == 0x2_0001)
        #expect(unwrapper.peek(2) == 0x2_0002)
        #expect(unwrapper.newest == 0x2_0001)
    }

    @Test func aStartAboveTheMiddleIsNotASpecialCase() {
        // A transport-wide sequence number may start anywhere.
        var unwrapper = SequenceUnwrapper()
        #expect(unwrapper.unwrap(40_000) == 0x1_0000 + 40_000)
        #expect(unwrapper.unwrap(39_999) == 0x1_0000 + 39_999)
        #expect(unwrapper.unwrap(40_001) == 0x1_0000 + 40_001)
    }

    @Test func whatCameBeforeTheFirstStaysPositive() {
        var unwrapper = SequenceUnwrapper()
        #expect(unwrapper.unwrap(2) == 0x1_0002)
        #expect(unwrapper.unwrap(65_535) == 0xFFFF)
    }

    @Test func unwrapsManyTurnsWithLossAndReordering() {
        var unwrapper = SequenceUnwrapper()
        var random = RandomSource.seeded(7)
        var expected: Int64 = 0x1_0000 + 60_000
        _ = unwrapper.unwrap(60_000)
        for _ in 0..<20_000 {
            expected += Int64.random(in: 1...200, using: &random)
            #expect(unwrapper.unwrap(UInt16(truncatingIfNeeded: expected)) == expected)
            let older = expected - Int64.random(in: 1...5_000, using: &random)
            #expect(unwrapper.unwrap(UInt16(truncatingIfNeeded: older)) == older)
        }
    }

    @Test func timestampsUnwrapOverTheirWrap() {
        var unwrapper = TimestampUnwrapper()
        #expect(unwrapper.unwrap(0xFFFF_FF00) == 0xFFFF_FF00)
        #expect(unwrapper.unwrap(0x100) == 0x1_0000_0100)
        #expect(unwrapper.unwrap(0xFFFF_FFFF) == 0xFFFF_FFFF)
        #expect(unwrapper.newest == 0x1_0000_0100)
    }

    @Test func comparisonsGoTheShorterWay() {
        #expect(UInt16(2).isNewerSequence(than: 65_535))
        #expect(!UInt16(65_535).isNewerSequence(than: 2))
        #expect(!UInt16(5).isNewerSequence(than: 5))
        #expect(UInt16(2).sequenceDistance(from: 65_535) == 3)
        #expect(UInt32(1).isNewerTimestamp(than: .max))
    }
}

@Suite struct NTPTimestampTests {
    @Test func convertsTheUnixEpochAndBack() {
        #expect(NTPTimestamp(unixNanoseconds: 0).rawValue == UInt64(2_208_988_800) << 32)
        #expect(NTPTimestamp(unixNanoseconds: 500_000_000).rawValue == UInt64(2_208_988_800) << 32 | 0x8000_0000)
        for nanoseconds: Int64 in [0, 1, 999_999_999, 1_767_225_600_123_456_789, -1, 4_000_000_000_000_000_001] {
            #expect(NTPTimestamp(unixNanoseconds: nanoseconds).unixNanoseconds == nanoseconds)
        }
    }

    @Test func measuresAndAdds() {
        let start = NTPTimestamp(unixNanoseconds: 1_767_225_600_900_000_000)
        let later = start.advanced(by: .milliseconds(1_250))
        #expect(abs(later.since(start).inMilliseconds - 1_250) < 0.001)
        #expect(abs(start.since(later).inMilliseconds + 1_250) < 0.001)
        #expect(abs(start.advanced(by: .milliseconds(-1_250)).since(start).inMilliseconds + 1_250) < 0.001)
    }

    @Test func computesTheRoundTripTimeOfRFC3550() {
        // The example of RFC 3550, section 6.4.1, figure 2.
        let now = NTPTimestamp(rawValue: 0xB44D_B710_8000_0000)
        let sent = UInt32(0xB705_2000)
        let trip = CompactTime.roundTripTime(now: now, lastSenderReport: sent, delaySinceLastSenderReport: 0x0005_4000)
        #expect(trip == .milliseconds(6_125))
        #expect(CompactTime.roundTripTime(now: now, lastSenderReport: 0, delaySinceLastSenderReport: 0) == nil)
        #expect(
            CompactTime.roundTripTime(now: now, lastSenderReport: now.middle, delaySinceLastSenderReport: 1) == nil)
        #expect(CompactTime.units(.milliseconds(1_500)) == 0x1_8000)
        #expect(CompactTime.units(.seconds(-1)) == 0)
        #expect(CompactTime.units(.seconds(100_000)) == .max)
        #expect(CompactTime.duration(0x1_8000) == .milliseconds(1_500))
    }
}
