/// An SRTP protection profile: the cipher, the authentication and the sizes that DTLS negotiated (RFC 5764, section
/// 4.1.2; RFC 7714, section 14.2). The raw value is the profile's number in the IANA registry.
public enum SRTPProfile: UInt16, Sendable, BitwiseCopyable, CaseIterable {
    /// AES-128 in counter mode with HMAC-SHA1 cut to 80 bits, which every WebRTC peer supports.
    case aes128CMHMACSHA1_80 = 0x0001
    /// AES-128 in Galois counter mode: half the cost of the other profile, for 6 more bytes per packet.
    case aeadAES128GCM = 0x0007

    /// The length of a master key, and of a session key, in bytes.
    public var masterKeyLength: Int { 16 }

    /// The length of a master salt, and of a session salt, in bytes.
    public var masterSaltLength: Int {
        switch self {
        case .aes128CMHMACSHA1_80: 14
        case .aeadAES128GCM: 12
        }
    }

    /// How many bytes authentication adds to a packet.
    public var tagLength: Int {
        switch self {
        case .aes128CMHMACSHA1_80: 10
        case .aeadAES128GCM: 16
        }
    }

    /// How many bytes SRTCP adds: the tag and the word that holds the index (RFC 3711, section 3.4).
    public var rtcpOverhead: Int { tagLength + 4 }
}
