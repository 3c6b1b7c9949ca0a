import Testing

@testable import SRTP

/// The test vectors of RFC 3711, appendix B, and RFC 7714, sections 16 and 17.
@Suite struct VectorTests {
    @Test func theKeyStreamOfCounterModeIsThatOfRFC3711AppendixB2() throws {
        let keys = SRTPSessionKeys(
            encryption: [UInt8](hex: "2B7E151628AED2A6ABF7158809CF4F3C"), authentication: [],
            salt: [UInt8](hex: "F0F1F2F3F4F5F6F7F8F9FAFBFCFD"))
        var cipher = try SRTPCipher(profile: .aes128CMHMACSHA1_80, keys: keys, direction: .encrypt)
        var stream = [UInt8](repeating: 0, count: 0xFF02 * 16)
        let done = stream.withUnsafeMutableBytes { bytes in
            cipher.start(source: 0, index: 0)
                && cipher.crypt(from: bytes.baseAddress, to: bytes.baseAddress, count: bytes.count)
        }
        #expect(done)
        for (block, text) in [
            0x0000: "E03EAD0935C95E80E166B16DD92B4EB4", 0x0001: "D23513162B02D0F72A43A2FE4A5F97AB",
            0x0002: "41E95B3BB0A2E8DD477901E4FCA894C0", 0xFEFF: "EC8CDF7398607CB0F2D21675EA9EA1E4",
            0xFF00: "362B7C3C6773516318A077D7FC5073AE", 0xFF01: "6A2CC3787889374FBEB4C81B17BA6C44",
        ] {
            #expect(Array(stream[block * 16..<block * 16 + 16]) == [UInt8](hex: text), "block \(block)")
        }
    }

    @Test func theSessionKeysAreThoseOfRFC3711AppendixB3() throws {
        let derivation = try SRTPKeyDerivation(
            profile: .aes128CMHMACSHA1_80, masterKey: [UInt8](hex: "E1F97A0D3E018BE0D64FA32C06DE4139"),
            masterSalt: [UInt8](hex: "0EC675AD498AFEEBB6960B3AABE6"))
        let keys = try derivation.rtpKeys()
        #expect(keys.encryption == [UInt8](hex: "C61E7A93744F39EE10734AFE3FF7A087"))
        #expect(keys.salt == [UInt8](hex: "30CBBC08863D8C85D49DB34A9AE1"))
        #expect(keys.authentication == [UInt8](hex: "CEBE321F6FF7716B6FD4AB49AF256A156D38BAA4"))
        #expect(
            try derivation.derive(.rtpAuthentication, count: 94)
                == [UInt8](
                    hex: """
                        CEBE321F6FF7716B 6FD4AB49AF256A15 6D38BAA48F0A0ACF 3C34E2359E6CDBCE E049646C43D9327A
                        D175578EF7227098 6371C10C9A369AC2 F94A8C5FBCDDDC25 6D6E919A48B610EF 17C2041E47403576
                        6B68642C59BBFC2F 34DB60DBDFB2
                        """))
    }

    private static let gcmKeys = SRTPSessionKeys(
        encryption: [UInt8](hex: "000102030405060708090a0b0c0d0e0f"), authentication: [],
        salt: [UInt8](hex: "517569642070726f2071756f"))

    private static let plainRTP = [UInt8](
        hex: """
            8040f17b 8041f8d3 5501a0b2 47616c6c 69612065 7374206f 6d6e6973 20646976 69736120 696e2070 61727465
            73207472 6573
            """)

    private static let protectedRTP = [UInt8](
        hex: """
            8040f17b 8041f8d3 5501a0b2 f24de3a3 fb34de6c acba861c 9d7e4bca be633bd5 0d294e6f 42a5f47a 51c7d19b
            36de3adf 8833899d 7f27beb1 6a9152cf 765ee439 0cce
            """)

    private static let plainRTCP = [UInt8](
        hex: """
            81c8000d 4d617273 4e545031 4e545032 52545020 0000042a 0000e930 4c756e61 deadbeef deadbeef deadbeef
            deadbeef deadbeef
            """)

    private static let protectedRTCP = [UInt8](
        hex: """
            81c8000d 4d617273 63e94885 dcdab67c a727d766 2f6b7e99 7ff5c0f7 6c06f32d c676a5f1 730d6fda 4ce09b46
            86303ded 0bb9275b c84aa458 96cf4d2f c5abf872 45d9eade 800005d4
            """)

    private static let authenticatedRTCP = [UInt8](
        hex: """
            81c8000d 4d617273 4e545031 4e545032 52545020 0000042a 0000e930 4c756e61 deadbeef deadbeef deadbeef
            deadbeef deadbeef 841dd968 3dd78ec9 2ae58790 125f62b3 000005d4
            """)

    @Test func anRTPPacketIsProtectedAsInRFC7714Section16() throws {
        var sender = try SRTPSender(profile: .aeadAES128GCM, rtpKeys: Self.gcmKeys, rtcpKeys: Self.gcmKeys)
        let packet = sender.protect(
            header: Array(Self.plainRTP.prefix(12)), payload: Array(Self.plainRTP.dropFirst(12)), index: 0xF17B)
        #expect(packet == Self.protectedRTP)
        var receiver = try SRTPReceiver(profile: .aeadAES128GCM, rtpKeys: Self.gcmKeys, rtcpKeys: Self.gcmKeys)
        #expect(try receiver.unprotect(packet) == Self.plainRTP)
    }

    @Test func anRTCPPacketIsProtectedAsInRFC7714Section17() throws {
        var sender = try SRTPSender(
            profile: .aeadAES128GCM, rtpKeys: Self.gcmKeys, rtcpKeys: Self.gcmKeys, firstRTCPIndex: 0x5D4)
        #expect(sender.protectRTCP(Self.plainRTCP) == Self.protectedRTCP)
        var receiver = try SRTPReceiver(profile: .aeadAES128GCM, rtpKeys: Self.gcmKeys, rtcpKeys: Self.gcmKeys)
        #expect(try receiver.unprotectRTCP(Self.protectedRTCP) == Self.plainRTCP)
    }

    @Test func anRTCPPacketThatIsOnlyAuthenticatedIsReadAsInRFC7714Section17() throws {
        var receiver = try SRTPReceiver(profile: .aeadAES128GCM, rtpKeys: Self.gcmKeys, rtcpKeys: Self.gcmKeys)
        #expect(try receiver.unprotectRTCP(Self.authenticatedRTCP) == Self.plainRTCP)
    }

    /// RFC 2202, section 3.
    @Test(arguments: [
        (
            [UInt8](repeating: 0x0B, count: 20), [UInt8]("Hi There".utf8),
            "b617318655057264e28bc0b6fb378c8ef146be00"
        ),
        (
            [UInt8]("Jefe".utf8), [UInt8]("what do ya want for nothing?".utf8),
            "effcdf6ae5eb2fa2d27416d5f184df9c259a7c79"
        ),
        (
            [UInt8](repeating: 0xAA, count: 20), [UInt8](repeating: 0xDD, count: 50),
            "125d7342b9ac11cd91a39af48aa17b4f63f175d3"
        ),
    ])
    func theAuthenticationCodeIsThatOfRFC2202(key: [UInt8], message: [UInt8], text: String) {
        let code = HMACSHA1(key: key)
        let whole = message.withUnsafeBytes { code.code(of: $0, suffix: nil) }
        #expect(withUnsafeBytes(of: whole) { Array($0) } == [UInt8](hex: text))
        // The same in two parts.
        let suffix = message.suffix(4).reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
        let parts = message.dropLast(4).withUnsafeBytes { code.code(of: $0, suffix: suffix) }
        #expect(withUnsafeBytes(of: parts) { Array($0) } == [UInt8](hex: text))
    }

    @Test func aKeyOfTheWrongLengthIsRefused() {
        #expect(throws: SRTPError.wrongKeyLength(profile: .aeadAES128GCM, key: 16, salt: 14)) {
            _ = try SRTPSender(
                profile: .aeadAES128GCM, masterKey: TestKeys.masterKey,
                masterSalt: TestKeys.masterSalt(.aes128CMHMACSHA1_80))
        }
        #expect(throws: SRTPError.self) {
            _ = try SRTPReceiver(profile: .aeadAES128GCM, masterKey: [], masterSalt: [])
        }
    }
}
