import CSRTP
import SRTP
import Testing
import Transport

/// A session of libsrtp2 with the tests' keys, for one direction.
private final class Oracle {
    private let session: OpaquePointer

    init(_ profile: SRTPProfile, sends: Bool) throws {
        try #require(Self.isReady)
        var policy = srtp_policy_t()
        switch profile {
        case .aeadAES128GCM:
            srtp_crypto_policy_set_aes_gcm_128_16_auth(&policy.rtp)
            srtp_crypto_policy_set_aes_gcm_128_16_auth(&policy.rtcp)
        case .aes128CMHMACSHA1_80:
            srtp_crypto_policy_set_rtp_default(&policy.rtp)
            srtp_crypto_policy_set_rtcp_default(&policy.rtcp)
        }
        policy.ssrc.type = sends ? ssrc_any_outbound : ssrc_any_inbound
        policy.window_size = 128
        var key = TestKeys.masterKey + TestKeys.masterSalt(profile)
        var session: srtp_t?
        let status = key.withUnsafeMutableBufferPointer { key in
            policy.key = key.baseAddress
            return srtp_create(&session, &policy)
        }
        try #require(status == srtp_err_status_ok)
        self.session = try #require(session)
    }

    deinit {
        srtp_dealloc(session)
    }

    private static let isReady = srtp_init() == srtp_err_status_ok

    /// nil where libsrtp2 refuses.
    func call(
        _ function: (srtp_t?, UnsafeMutableRawPointer?, UnsafeMutablePointer<Int32>?) -> srtp_err_status_t,
        _ packet: [UInt8]
    ) -> [UInt8]? {
        var buffer = packet + [UInt8](repeating: 0, count: 200)
        var count = Int32(packet.count)
        let status = buffer.withUnsafeMutableBytes { function(session, $0.baseAddress, &count) }
        return status == srtp_err_status_ok ? Array(buffer.prefix(Int(count))) : nil
    }
}

/// Random packets of several sources whose sequence numbers run across the end twice, with losses.
private struct Traffic {
    var random: RandomSource
    var indices: [UInt32: UInt64] = [0x1111_1111: 0xFF00, 0x2222_2222: 0x7000, 0xFFFF_FFFF: 3]

    private static let pattern = (0..<1_200).map { UInt8(truncatingIfNeeded: $0 &* 7) }

    init(seed: UInt64) {
        random = .seeded(seed)
    }

    mutating func next() -> (header: [UInt8], payload: [UInt8], index: UInt64) {
        let source = indices.keys.sorted().randomElement(using: &random) ?? 0
        // Jumps far below half of the number space, as RFC 3711 asks for, that still get round it.
        let step: UInt64 = Int.random(in: 0..<4, using: &random) == 0 ? .random(in: 2...1_400, using: &random) : 1
        let index = (indices[source] ?? 0) + step
        indices[source] = index
        let extends = Bool.random(using: &random)
        let contributors = Int.random(in: 0...2, using: &random)
        var header = rtpHeader(
            UInt16(truncatingIfNeeded: index), source: source, first: 0x80 | (extends ? 0x10 : 0) | UInt8(contributors))
        header += [UInt8](repeating: 7, count: contributors * 4)
        if extends { header += [0xBE, 0xDE, 0, 2, 0x10, 0x31, 0x22, 1, 2, 3, 0, 0] }
        let payload = Array(Self.pattern.prefix(Int.random(in: 0...1_200, using: &random)))
        return (header, payload, index)
    }
}

/// libsrtp2 is what other products use: both directions have to agree with it to the byte.
@Suite struct OracleTests {
    @Test(arguments: SRTPProfile.allCases)
    func libsrtpMakesTheSameRTPPacketsAndReadsOurs(profile: SRTPProfile) throws {
        var sender = try TestKeys.sender(profile)
        let writer = try Oracle(profile, sends: true)
        let reader = try Oracle(profile, sends: false)
        var traffic = Traffic(seed: 1)
        for _ in 0..<1_500 {
            let (header, payload, index) = traffic.next()
            let ours = sender.protect(header: header, payload: payload, index: index)
            #expect(writer.call(srtp_protect, header + payload) == ours)
            #expect(reader.call(srtp_unprotect, ours) == header + payload)
        }
        // The test is about the rollover, so it must have happened, and more than once.
        #expect(traffic.indices.values.allSatisfy { $0 >> 16 >= 1 })
        #expect(traffic.indices.values.contains { $0 >> 16 >= 2 })
    }

    @Test(arguments: SRTPProfile.allCases)
    func whatLibsrtpProtectsIsReadWithLossAndReordering(profile: SRTPProfile) throws {
        var receiver = try TestKeys.receiver(profile)
        let writer = try Oracle(profile, sends: true)
        let reader = try Oracle(profile, sends: false)
        var traffic = Traffic(seed: 2)
        var random = RandomSource.seeded(3)
        var late: [[UInt8]] = []
        var accepted = 0
        for _ in 0..<2_000 {
            let (header, payload, _) = traffic.next()
            let packet = try #require(writer.call(srtp_protect, header + payload))
            switch Int.random(in: 0..<10, using: &random) {
            case 0: continue
            case 1...3:
                late.append(packet)
                continue
            default: break
            }
            for arrival in [packet] + (late.count > 5 ? late.shuffled(using: &random) : []) {
                // Both accept or both refuse, and with the same result.
                let expected = reader.call(srtp_unprotect, arrival)
                let plain = try? receiver.unprotect(arrival)
                #expect(plain == expected)
                if plain != nil { accepted += 1 }
            }
            if late.count > 5 { late = [] }
        }
        #expect(accepted > 1_000)
    }

    @Test(arguments: SRTPProfile.allCases)
    func rtcpIsReadBothWays(profile: SRTPProfile) throws {
        var sender = try TestKeys.sender(profile)
        var receiver = try TestKeys.receiver(profile)
        let writer = try Oracle(profile, sends: true)
        let reader = try Oracle(profile, sends: false)
        for number in 0..<200 {
            let packet = rtcpPacket(source: UInt32(number % 3 + 1), count: number * 4)
            let ours = sender.protectRTCP(packet)
            #expect(ours.count == packet.count + profile.rtcpOverhead)
            #expect(reader.call(srtp_unprotect_rtcp, ours) == packet)
            let theirs = try #require(writer.call(srtp_protect_rtcp, packet))
            #expect(try receiver.unprotectRTCP(theirs) == packet)
            #expect(throws: SRTPError.replayed) { try receiver.unprotectRTCP(theirs) }
        }
    }

    /// A retransmission begins with the original sequence number and is a packet of a source of its own, so its old
    /// content is not a replay.
    @Test(arguments: SRTPProfile.allCases)
    func aRetransmissionIsReadAsAPacketOfItsOwnSource(profile: SRTPProfile) throws {
        var sender = try TestKeys.sender(profile)
        var receiver = try TestKeys.receiver(profile)
        let reader = try Oracle(profile, sends: false)
        let payload = [UInt8](1...200)
        let first = sender.protect(header: rtpHeader(500, source: 1), payload: payload, index: 500)
        #expect(try receiver.unprotect(first).dropFirst(12) == payload[...])
        #expect(reader.call(srtp_unprotect, first) != nil)
        for number in UInt16(0)..<300 {
            let header = rtpHeader(number, source: 2)
            var output = header + [UInt8](repeating: 0, count: 2 + payload.count + sender.overhead)
            let count = output.withUnsafeMutableBytes { output in
                payload.withUnsafeBytes { payload in
                    sender.protectRTP(
                        headerLength: 12, originalSequenceNumber: 500, payload: payload, output: output,
                        index: UInt64(number))
                }
            }
            #expect(count == output.count)
            #expect(reader.call(srtp_unprotect, output) == header + [1, 244] + payload)
            #expect(try receiver.unprotect(output) == header + [1, 244] + payload)
        }
    }
}
