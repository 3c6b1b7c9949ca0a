import COpenSSL

/// The sending half of an SRTP session: protects the RTP and RTCP of all sources under one master key.
///
/// It keeps no state per source: the caller numbers the packets anyway and hands in each packet's 48-bit index (RFC
/// 3711, section 3.3.1). The same source and index must never be used for two different packets. A retransmission by
/// RTX is a new packet of another source (RFC 4588).
///
/// A packet costs no allocation, no lock and no copy. The payload is encrypted directly from the memory that all
/// viewers share into the buffer that is sent.
public struct SRTPSender: ~Copyable {
    /// What DTLS negotiated.
    public let profile: SRTPProfile
    private var rtp: SRTPCipher
    private var rtcp: SRTPCipher
    private var nextRTCPIndex: UInt32

    /// Derives the session keys from a master key and salt, of the profile's lengths.
    public init(profile: SRTPProfile, masterKey: [UInt8], masterSalt: [UInt8]) throws(SRTPError) {
        let derivation = try SRTPKeyDerivation(profile: profile, masterKey: masterKey, masterSalt: masterSalt)
        try self.init(profile: profile, rtpKeys: derivation.rtpKeys(), rtcpKeys: derivation.rtcpKeys())
    }

    /// Starts from session keys, for test vectors.
    init(
        profile: SRTPProfile, rtpKeys: SRTPSessionKeys, rtcpKeys: SRTPSessionKeys, firstRTCPIndex: UInt32 = 0
    ) throws(SRTPError) {
        let rtp = try SRTPCipher(profile: profile, keys: rtpKeys, direction: .encrypt)
        let rtcp = try SRTPCipher(profile: profile, keys: rtcpKeys, direction: .encrypt)
        self.profile = profile
        self.rtp = rtp
        self.rtcp = rtcp
        nextRTCPIndex = firstRTCPIndex
    }

    /// The number of bytes that an RTP packet grows by.
    public var overhead: Int { profile.tagLength }

    /// The number of bytes that an RTCP packet grows by.
    public var rtcpOverhead: Int { profile.rtcpOverhead }

    /// Writes a protected RTP packet. Its header is already at the start of `output`.
    ///
    /// - Parameters:
    ///   - headerLength: the length of the header with its contributing sources and extension, at least 12 bytes.
    ///   - payload: the plain payload; it may be the part of `output` after the header, but must not overlap it in any
    ///     other way.
    ///   - output: must have room for header, payload and ``overhead``.
    ///   - index: the rollover counter in bits 16 to 47 and the sequence number below, as in the header.
    /// - Returns: the length of the packet; 0 if `output` or the header is too short; then nothing may be sent.
    public mutating func protectRTP(
        headerLength: Int, payload: UnsafeRawBufferPointer, output: UnsafeMutableRawBufferPointer, index: UInt64
    ) -> Int {
        guard let base = output.baseAddress, headerLength >= 12, headerLength <= output.count,
            payload.count <= output.count &- headerLength &- profile.tagLength
        else { return 0 }
        let source = UInt32(bigEndian: base.loadUnaligned(fromByteOffset: 8, as: UInt32.self))
        guard rtp.start(source: source, index: index) else { return 0 }
        let length = headerLength &+ payload.count
        switch profile {
        case .aeadAES128GCM:
            guard
                rtp.process(
                    header: UnsafeRawBufferPointer(start: base, count: headerLength), from: payload.baseAddress,
                    to: base + headerLength, count: payload.count),
                rtp.readTag(into: base + length)
            else { return 0 }
        case .aes128CMHMACSHA1_80:
            if payload.count > 0 {
                guard rtp.crypt(from: payload.baseAddress, to: base + headerLength, count: payload.count) else {
                    return 0
                }
            }
            let code = rtp.authenticationCode(
                of: UnsafeRawBufferPointer(start: base, count: length),
                suffix: UInt32(truncatingIfNeeded: index >> 16))
            withUnsafeBytes(of: code) { bytes in
                (base + length).copyMemory(from: bytes.baseAddress.unsafelyUnwrapped, byteCount: profile.tagLength)
            }
        }
        return length &+ profile.tagLength
    }

    /// As ``protectRTP(headerLength:payload:output:index:)``, for a payload that begins with `originalSequenceNumber`:
    /// a retransmission (RFC 4588, section 4) of a shared packet.
    public mutating func protectRTP(
        headerLength: Int, originalSequenceNumber: UInt16, payload: UnsafeRawBufferPointer,
        output: UnsafeMutableRawBufferPointer, index: UInt64
    ) -> Int {
        guard let base = output.baseAddress, headerLength >= 12, headerLength <= output.count,
            payload.count <= output.count &- headerLength &- 2 &- profile.tagLength
        else { return 0 }
        // The two bytes would shift the whole payload against the cipher's blocks. So these rare packets are assembled
        // first, and encrypted in place.
        let start = base + headerLength
        start.storeBytes(of: originalSequenceNumber.bigEndian, as: UInt16.self)
        if let from = payload.baseAddress { (start + 2).copyMemory(from: from, byteCount: payload.count) }
        return protectRTP(
            headerLength: headerLength, payload: UnsafeRawBufferPointer(start: start, count: payload.count &+ 2),
            output: output, index: index)
    }

    /// Protects the compound or reduced-size RTCP packet in the first `count` bytes of `packet`, in place.
    ///
    /// - Returns: the new length; 0 if `packet` has no room for ``rtcpOverhead`` more bytes, if it holds no RTCP
    ///   header, or once the key is used up after 2^31 packets (RFC 3711, section 9.2).
    public mutating func protectRTCP(packet: UnsafeMutableRawBufferPointer, count: Int) -> Int {
        guard let base = packet.baseAddress, count >= 8, count <= packet.count &- profile.rtcpOverhead,
            nextRTCPIndex <= 0x7FFF_FFFF
        else { return 0 }
        let source = UInt32(bigEndian: base.loadUnaligned(fromByteOffset: 4, as: UInt32.self))
        let indexWord = nextRTCPIndex | 0x8000_0000
        guard rtcp.start(source: source, index: UInt64(nextRTCPIndex)) else { return 0 }
        // The number is used up even if OpenSSL fails below: it must never be used twice.
        nextRTCPIndex &+= 1
        let body = base + 8
        switch profile {
        case .aeadAES128GCM:
            // RFC 7714, section 9.2: the index word is authenticated with the header, and follows the tag.
            let sealed = withUnsafeBytes(of: indexWord.bigEndian) { word in
                rtcp.process(
                    header: UnsafeRawBufferPointer(start: base, count: 8), trailer: word, from: body, to: body,
                    count: count &- 8)
            }
            guard sealed, rtcp.readTag(into: base + count) else { return 0 }
            (base + count + profile.tagLength).storeBytes(of: indexWord.bigEndian, as: UInt32.self)
        case .aes128CMHMACSHA1_80:
            if count > 8 {
                guard rtcp.crypt(from: body, to: body, count: count &- 8) else { return 0 }
            }
            (base + count).storeBytes(of: indexWord.bigEndian, as: UInt32.self)
            let code = rtcp.authenticationCode(
                of: UnsafeRawBufferPointer(start: base, count: count &+ 4), suffix: nil)
            withUnsafeBytes(of: code) { bytes in
                (base + count + 4).copyMemory(from: bytes.baseAddress.unsafelyUnwrapped, byteCount: profile.tagLength)
            }
        }
        return count &+ profile.rtcpOverhead
    }
}

// Proof for @unchecked: the OpenSSL contexts belong to this one value, which cannot be copied. Only mutating methods use
// them, and these need exclusive access. So the value may move between threads.
extension SRTPSender: @unchecked Sendable {}
