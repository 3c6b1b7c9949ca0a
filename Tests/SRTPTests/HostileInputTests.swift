import Testing
import Transport

@testable import SRTP

@Suite struct HostileInputTests {
    @Test(arguments: SRTPProfile.allCases)
    func oneChangedBitAnywhereIsRefusedAndChangesNothing(profile: SRTPProfile) throws {
        var sender = try TestKeys.sender(profile)
        var receiver = try TestKeys.receiver(profile)
        let packet = sender.protect(header: rtpHeader(7, source: 5), payload: [UInt8](0..<40), index: 7)
        for bit in 0..<packet.count * 8 {
            var forged = packet
            forged[bit / 8] ^= 1 << UInt8(bit % 8)
            #expect(throws: SRTPError.self, "bit \(bit)") { try receiver.unprotect(forged) }
        }
        #expect(receiver.sourceCount == 0)
        #expect(try receiver.unprotect(packet).count == 52)
        #expect(receiver.sourceCount == 1)
    }

    @Test(arguments: SRTPProfile.allCases)
    func oneChangedBitInRTCPIsRefused(profile: SRTPProfile) throws {
        var sender = try TestKeys.sender(profile)
        var receiver = try TestKeys.receiver(profile)
        let packet = sender.protectRTCP(rtcpPacket(source: 5, count: 24))
        for bit in 0..<packet.count * 8 {
            var forged = packet
            forged[bit / 8] ^= 1 << UInt8(bit % 8)
            #expect(throws: SRTPError.self, "bit \(bit)") { try receiver.unprotectRTCP(forged) }
        }
        #expect(try receiver.unprotectRTCP(packet) == rtcpPacket(source: 5, count: 24))
    }

    @Test(arguments: SRTPProfile.allCases)
    func everyTruncationIsRefused(profile: SRTPProfile) throws {
        var sender = try TestKeys.sender(profile)
        var receiver = try TestKeys.receiver(profile)
        // With an extension and contributing sources, so that the header too can be cut.
        let header =
            rtpHeader(7, source: 5, first: 0x92) + [UInt8](repeating: 1, count: 8) + [0xBE, 0xDE, 0, 1, 0x10, 9, 0, 0]
        let packet = sender.protect(header: header, payload: [UInt8](0..<40), index: 7)
        let control = sender.protectRTCP(rtcpPacket(source: 5, count: 24))
        for count in 0..<packet.count {
            #expect(throws: SRTPError.self) { try receiver.unprotect(Array(packet.prefix(count))) }
        }
        for count in 0..<control.count {
            #expect(throws: SRTPError.self) { try receiver.unprotectRTCP(Array(control.prefix(count))) }
        }
        #expect(try receiver.unprotect(packet).count == header.count + 40)
    }

    @Test(arguments: SRTPProfile.allCases)
    func anExtensionLongerThanThePacketIsRefused(profile: SRTPProfile) throws {
        var receiver = try TestKeys.receiver(profile)
        let packet = rtpHeader(1, source: 1, first: 0x90) + [0xBE, 0xDE, 0xFF, 0xFF] + [UInt8](repeating: 0, count: 60)
        #expect(throws: SRTPError.truncated) { try receiver.unprotect(packet) }
        let contributors = rtpHeader(1, source: 1, first: 0x8F) + [UInt8](repeating: 0, count: 40)
        #expect(throws: SRTPError.truncated) { try receiver.unprotect(contributors) }
        #expect(throws: SRTPError.wrongVersion) {
            try receiver.unprotect(rtpHeader(1, source: 1, first: 0x40) + [UInt8](repeating: 0, count: 40))
        }
    }

    @Test(arguments: SRTPProfile.allCases)
    func randomBytesAreRefused(profile: SRTPProfile) throws {
        var receiver = try TestKeys.receiver(profile)
        var random = RandomSource.seeded(9)
        for _ in 0..<5_000 {
            let count = Int.random(in: 0...100, using: &random)
            var bytes = (0..<count).map { _ in UInt8.random(in: 0...255, using: &random) }
            if Bool.random(using: &random), !bytes.isEmpty { bytes[0] = 0x80 | bytes[0] & 0x3F }
            #expect(throws: SRTPError.self) { try receiver.unprotect(bytes) }
            #expect(throws: SRTPError.self) { try receiver.unprotectRTCP(bytes) }
        }
        #expect(receiver.sourceCount == 0)
    }

    @Test(arguments: SRTPProfile.allCases)
    func aReplayIsRefusedEvenAcrossTheRollover(profile: SRTPProfile) throws {
        var sender = try TestKeys.sender(profile)
        var receiver = try TestKeys.receiver(profile)
        let packets = (UInt64(0xFFC0)..<0x1_0040).map { index in
            sender.protect(header: rtpHeader(UInt16(index & 0xFFFF), source: 5), payload: [1, 2, 3], index: index)
        }
        for packet in packets { _ = try receiver.unprotect(packet) }
        for packet in packets {
            #expect(throws: SRTPError.replayed) { try receiver.unprotect(packet) }
        }
    }

    @Test(arguments: SRTPProfile.allCases)
    func aForgedSequenceNumberDoesNotMoveTheRolloverCounter(profile: SRTPProfile) throws {
        var sender = try TestKeys.sender(profile)
        var receiver = try TestKeys.receiver(profile)
        _ = try receiver.unprotect(sender.protect(header: rtpHeader(40_000, source: 5), payload: [1], index: 40_000))
        for forged in stride(from: 0, to: 60_000, by: 1_000) {
            let packet = rtpHeader(UInt16(forged), source: 5) + [UInt8](repeating: 0, count: 30)
            #expect(throws: SRTPError.self) { try receiver.unprotect(packet) }
        }
        let next = sender.protect(header: rtpHeader(40_001, source: 5), payload: [2], index: 40_001)
        #expect(try receiver.unprotect(next).last == 2)
    }

    @Test func thousandsOfSourcesAreForgottenAgain() throws {
        var sender = try TestKeys.sender(.aeadAES128GCM)
        var receiver = try TestKeys.receiver(.aeadAES128GCM)
        for source in UInt32(1)...2_000 {
            let packet = sender.protect(header: rtpHeader(1, source: source), payload: [1], index: 1)
            _ = try receiver.unprotect(packet)
            // One that is heard all the time is never the one to go.
            let index = UInt64(source)
            let steady = sender.protect(
                header: rtpHeader(UInt16(index & 0xFFFF), source: 0xFFFF), payload: [2], index: index)
            _ = try receiver.unprotect(steady)
            #expect(throws: SRTPError.replayed) { try receiver.unprotect(steady) }
        }
        #expect(receiver.sourceCount == 32)
    }

    @Test(arguments: SRTPProfile.allCases)
    func theRTCPKeyIsUsedUpAfterTheLastIndex(profile: SRTPProfile) throws {
        let derivation = try SRTPKeyDerivation(
            profile: profile, masterKey: TestKeys.masterKey, masterSalt: TestKeys.masterSalt(profile))
        var sender = try SRTPSender(
            profile: profile, rtpKeys: derivation.rtpKeys(), rtcpKeys: derivation.rtcpKeys(),
            firstRTCPIndex: 0x7FFF_FFFE)
        var receiver = try TestKeys.receiver(profile)
        let packet = rtcpPacket(source: 5, count: 8)
        #expect(try receiver.unprotectRTCP(sender.protectRTCP(packet)) == packet)
        #expect(try receiver.unprotectRTCP(sender.protectRTCP(packet)) == packet)
        #expect(sender.protectRTCP(packet).isEmpty)
        #expect(sender.protectRTCP(packet).isEmpty)
    }

    @Test(arguments: SRTPProfile.allCases)
    func aBufferThatIsTooShortIsNotWrittenTo(profile: SRTPProfile) throws {
        var sender = try TestKeys.sender(profile)
        let payload = [UInt8](repeating: 1, count: 50)
        for room in 0..<(12 + 50 + sender.overhead) {
            var output = [UInt8](repeating: 0xEE, count: room)
            let untouched = output
            let count = output.withUnsafeMutableBytes { output in
                payload.withUnsafeBytes { payload in
                    sender.protectRTP(headerLength: 12, payload: payload, output: output, index: 1)
                }
            }
            #expect(count == 0 && output == untouched)
        }
        for room in 0..<(20 + sender.rtcpOverhead) {
            var output = [UInt8](repeating: 0xEE, count: room)
            let count = output.withUnsafeMutableBytes { sender.protectRTCP(packet: $0, count: 20) }
            #expect(count == 0)
        }
        var output = [UInt8](repeating: 0, count: 200)
        for header in [-1, 0, 11, 201, Int.max] {
            let count = output.withUnsafeMutableBytes { output in
                payload.withUnsafeBytes { payload in
                    sender.protectRTP(headerLength: header, payload: payload, output: output, index: 1)
                }
            }
            #expect(count == 0)
        }
    }

    @Test(arguments: SRTPProfile.allCases)
    func anEmptyPayloadGoesBothWays(profile: SRTPProfile) throws {
        var sender = try TestKeys.sender(profile)
        var receiver = try TestKeys.receiver(profile)
        let packet = sender.protect(header: rtpHeader(1, source: 0), payload: [], index: 1)
        #expect(packet.count == 12 + profile.tagLength)
        #expect(try receiver.unprotect(packet) == rtpHeader(1, source: 0))
        let control = sender.protectRTCP(rtcpPacket(source: 1))
        #expect(try receiver.unprotectRTCP(control) == rtcpPacket(source: 1))
    }
}
