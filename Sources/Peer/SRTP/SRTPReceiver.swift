import COpenSSL

/// The receiving half of an SRTP session: checks and decrypts, in place, the RTP and RTCP of all sources under one
/// master key.
///
/// A packet that is not authentic, or that has come before, changes no state: neither a source's rollover counter nor
/// the list of sources.
public struct SRTPReceiver: ~Copyable {
    /// What DTLS negotiated.
    public let profile: SRTPProfile
    private var rtp: SRTPCipher
    private var rtcp: SRTPCipher
    private var rtpSources = SRTPSourceTable()
    private var rtcpSources = SRTPSourceTable()

    /// Derives the session keys from a master key and salt, of the profile's lengths.
    public init(profile: SRTPProfile, masterKey: [UInt8], masterSalt: [UInt8]) throws(SRTPError) {
        let derivation = try SRTPKeyDerivation(profile: profile, masterKey: masterKey, masterSalt: masterSalt)
        try self.init(profile: profile, rtpKeys: derivation.rtpKeys(), rtcpKeys: derivation.rtcpKeys())
    }

    /// Starts from session keys, for test vectors.
    init(profile: SRTPProfile, rtpKeys: SRTPSessionKeys, rtcpKeys: SRTPSessionKeys) throws(SRTPError) {
        let rtp = try SRTPCipher(profile: profile, keys: rtpKeys, direction: .decrypt)
        let rtcp = try SRTPCipher(profile: profile, keys: rtcpKeys, direction: .decrypt)
        self.init(profile: profile, rtp: rtp, rtcp: rtcp)
    }

    // What can fail comes before the fields have values: Swift 6.2 destroys them twice if an init fails after that.
    private init(profile: SRTPProfile, rtp: consuming SRTPCipher, rtcp: consuming SRTPCipher) {
        self.profile = profile
        self.rtp = rtp
        self.rtcp = rtcp
    }

    /// The number of known RTP sources, at most 32.
    public var sourceCount: Int { rtpSources.count }

    /// Checks an RTP packet and decrypts its payload in place.
    ///
    /// - Returns: the length of the header with its contributing sources and extension, and where the payload (with
    ///   the padding, if there is any) lies in `packet`.
    /// - Throws: ``SRTPError``; `packet` may be overwritten then, and must be dropped.
    public mutating func unprotectRTP(
        _ packet: UnsafeMutableRawBufferPointer
    ) throws(SRTPError) -> (headerLength: Int, payload: Range<Int>) {
        guard let base = packet.baseAddress, packet.count >= 12 &+ profile.tagLength else { throw .truncated }
        guard packet[0] >> 6 == 2 else { throw .wrongVersion }
        let end = packet.count &- profile.tagLength
        var headerLength = 12 &+ 4 &* Int(packet[0] & 0x0F)
        if packet[0] & 0x10 != 0 {
            guard headerLength &+ 4 <= end else { throw .truncated }
            headerLength &+= 4 &+ 4 &* Int(packet[headerLength &+ 2]) << 8 &+ 4 &* Int(packet[headerLength &+ 3])
        }
        guard headerLength <= end else { throw .truncated }

        let sequenceNumber = UInt16(bigEndian: base.loadUnaligned(fromByteOffset: 2, as: UInt16.self))
        let source = UInt32(bigEndian: base.loadUnaligned(fromByteOffset: 8, as: UInt32.self))
        var index = UInt64(sequenceNumber)
        if let known = rtpSources[source] {
            guard
                let estimate = SRTPSource.estimateIndex(
                    sequenceNumber: sequenceNumber, after: known.window.highest), known.window.accepts(estimate)
            else { throw .replayed }
            index = estimate
        }

        let length = end &- headerLength
        switch profile {
        case .aeadAES128GCM:
            guard rtp.start(source: source, index: index), rtp.expectTag(base + end) else {
                throw .cryptographicFailure("EVP_DecryptInit_ex")
            }
            guard
                rtp.process(
                    header: UnsafeRawBufferPointer(start: base, count: headerLength), from: base + headerLength,
                    to: base + headerLength, count: length)
            else { throw .authenticationFailed }
        case .aes128CMHMACSHA1_80:
            let code = rtp.authenticationCode(
                of: UnsafeRawBufferPointer(start: base, count: end), suffix: UInt32(truncatingIfNeeded: index >> 16))
            guard matches(code, at: base + end) else { throw .authenticationFailed }
            guard rtp.start(source: source, index: index),
                length == 0 || rtp.crypt(from: base + headerLength, to: base + headerLength, count: length)
            else { throw .cryptographicFailure("EVP_DecryptUpdate") }
        }
        rtpSources.record(index, of: source)
        return (headerLength, headerLength..<end)
    }

    /// Checks an RTCP packet and decrypts it in place.
    ///
    /// - Returns: the length of the plain packet at the start of `packet`.
    /// - Throws: ``SRTPError``; `packet` may be overwritten then, and must be dropped.
    public mutating func unprotectRTCP(_ packet: UnsafeMutableRawBufferPointer) throws(SRTPError) -> Int {
        let end = packet.count &- profile.rtcpOverhead
        guard let base = packet.baseAddress, end >= 8 else { throw .truncated }
        guard packet[0] >> 6 == 2 else { throw .wrongVersion }
        let source = UInt32(bigEndian: base.loadUnaligned(fromByteOffset: 4, as: UInt32.self))
        // The index word is before the tag of HMAC-SHA1 (RFC 3711, figure 2) and after that of GCM (RFC 7714, figure
        // 3).
        let wordOffset = profile == .aeadAES128GCM ? end &+ profile.tagLength : end
        let word = UInt32(bigEndian: base.loadUnaligned(fromByteOffset: wordOffset, as: UInt32.self))
        let isEncrypted = word & 0x8000_0000 != 0
        let index = UInt64(word & 0x7FFF_FFFF)
        if let known = rtcpSources[source], !known.window.accepts(index) { throw .replayed }

        let body = base + 8
        switch profile {
        case .aeadAES128GCM:
            guard rtcp.start(source: source, index: index), rtcp.expectTag(base + end) else {
                throw .cryptographicFailure("EVP_DecryptInit_ex")
            }
            // RFC 7714, section 9.3: a packet that is not encrypted is authenticated as a whole.
            let header = UnsafeRawBufferPointer(start: base, count: isEncrypted ? 8 : end)
            let trailer = UnsafeRawBufferPointer(start: base + wordOffset, count: 4)
            guard
                rtcp.process(
                    header: header, trailer: trailer, from: body, to: body, count: isEncrypted ? end &- 8 : 0)
            else { throw .authenticationFailed }
        case .aes128CMHMACSHA1_80:
            let code = rtcp.authenticationCode(of: UnsafeRawBufferPointer(start: base, count: end &+ 4), suffix: nil)
            guard matches(code, at: base + end + 4) else { throw .authenticationFailed }
            if isEncrypted {
                guard rtcp.start(source: source, index: index),
                    end == 8 || rtcp.crypt(from: body, to: body, count: end &- 8)
                else { throw .cryptographicFailure("EVP_DecryptUpdate") }
            }
        }
        rtcpSources.record(index, of: source)
        return end
    }

    /// Compares in constant time, wherever the two differ.
    private func matches(_ code: SHA1Digest, at tag: UnsafeMutableRawPointer) -> Bool {
        withUnsafeBytes(of: code) { CRYPTO_memcmp($0.baseAddress, tag, profile.tagLength) == 0 }
    }
}

// Proof for @unchecked: the OpenSSL contexts belong to this one value, which cannot be copied. Only mutating methods use
// them, and these need exclusive access. So the value may move between threads.
extension SRTPReceiver: @unchecked Sendable {}

/// What a receiver records about one source: its current number, and which packets have already come.
struct SRTPSource: BitwiseCopyable {
    let synchronizationSource: UInt32
    var window = ReplayWindow()
    /// When the source last sent, counted in authenticated packets.
    var lastHeard: UInt64 = 0

    /// The 48-bit index that a packet with `sequenceNumber` most likely has, given the greatest one so far (RFC 3711,
    /// section 3.3.1 and appendix A); nil for a packet that would come before the first.
    static func estimateIndex(sequenceNumber: UInt16, after highest: UInt64) -> UInt64? {
        let rollover = highest >> 16
        let last = UInt16(truncatingIfNeeded: highest)
        let guess: UInt64
        if last < 0x8000 {
            if sequenceNumber > last, sequenceNumber &- last > 0x8000 {
                guard rollover > 0 else { return nil }
                guess = rollover &- 1
            } else {
                guess = rollover
            }
        } else {
            guess = last &- 0x8000 > sequenceNumber ? rollover &+ 1 : rollover
        }
        return (guess & 0xFFFF_FFFF) << 16 | UInt64(sequenceNumber)
    }
}

/// The sources of a session, usually a few. When a peer invents more, the receiver drops the one that has been silent
/// longest, so memory and the search stay bounded.
struct SRTPSourceTable {
    private var sources: [SRTPSource] = []
    private var accepted: UInt64 = 0

    /// The most sources. A live view has at most four: sound and picture, each with its retransmissions.
    static let limit = 32

    var count: Int { sources.count }

    subscript(_ synchronizationSource: UInt32) -> SRTPSource? {
        for source in sources where source.synchronizationSource == synchronizationSource { return source }
        return nil
    }

    /// Records an authenticated packet.
    mutating func record(_ index: UInt64, of synchronizationSource: UInt32) {
        accepted &+= 1
        for position in sources.indices where sources[position].synchronizationSource == synchronizationSource {
            sources[position].window.record(index)
            sources[position].lastHeard = accepted
            return
        }
        var source = SRTPSource(synchronizationSource: synchronizationSource)
        source.window.record(index)
        source.lastHeard = accepted
        if sources.count < Self.limit {
            sources.append(source)
        } else if let oldest = sources.indices.min(by: { sources[$0].lastHeard < sources[$1].lastHeard }) {
            sources[oldest] = source
        }
    }
}

/// Which of the last 128 packets have already come (RFC 3711, section 3.3.2).
struct ReplayWindow: BitwiseCopyable {
    /// The greatest accepted index; meaningless until a packet was accepted.
    private(set) var highest: UInt64 = 0
    private var isEmpty = true
    // Bit n represents the index `highest - n`.
    private var recent: UInt64 = 0
    private var older: UInt64 = 0

    /// How many indices back a late packet is still accepted.
    static let size: UInt64 = 128

    /// Whether `index` is new and not too old.
    func accepts(_ index: UInt64) -> Bool {
        if isEmpty || index > highest { return true }
        let age = highest &- index
        if age < 64 { return recent >> age & 1 == 0 }
        if age < Self.size { return older >> (age &- 64) & 1 == 0 }
        return false
    }

    /// Records that `index`, which the window accepts, was authenticated.
    mutating func record(_ index: UInt64) {
        if isEmpty {
            isEmpty = false
            highest = index
            recent = 1
            return
        }
        if index > highest {
            let step = index &- highest
            // Swift's smart shift returns 0 for a shift by 64 or more.
            older = older << step | (step < 64 ? recent >> (64 &- step) : recent << (step &- 64))
            recent = recent << step | 1
            highest = index
            return
        }
        let age = highest &- index
        if age < 64 {
            recent |= 1 << age
        } else if age < Self.size {
            older |= 1 << (age &- 64)
        }
    }
}
