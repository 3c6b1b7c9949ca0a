import SRTP

extension SRTPProfile {
    /// OpenSSL's name for the profile.
    var openSSLName: String {
        switch self {
        case .aes128CMHMACSHA1_80: "SRTP_AES128_CM_SHA1_80"
        case .aeadAES128GCM: "SRTP_AEAD_AES_128_GCM"
        }
    }
}

/// What a handshake provides for SRTP: the profile and the master keys of both directions (RFC 5764, section 4.2).
public struct SRTPKeyingMaterial: Hashable, Sendable {
    /// The profile that both sides agreed on.
    public var profile: SRTPProfile
    /// The key for the packets that this side sends.
    public var localMasterKey: [UInt8]
    /// The salt for the packets that this side sends.
    public var localMasterSalt: [UInt8]
    /// The key for the packets that the peer sends.
    public var remoteMasterKey: [UInt8]
    /// The salt for the packets that the peer sends.
    public var remoteMasterSalt: [UInt8]

    /// Cuts the exported bytes: the client's key, the server's, the client's salt, the server's.
    init?(profile: SRTPProfile, exported: [UInt8], isClient: Bool) {
        let key = profile.masterKeyLength
        let salt = profile.masterSaltLength
        guard exported.count == Self.exportedLength(of: profile) else { return nil }
        let clientKey = Array(exported[0..<key])
        let serverKey = Array(exported[key..<2 * key])
        let clientSalt = Array(exported[2 * key..<2 * key + salt])
        let serverSalt = Array(exported[(2 * key + salt)...])
        self.profile = profile
        self.localMasterKey = isClient ? clientKey : serverKey
        self.localMasterSalt = isClient ? clientSalt : serverSalt
        self.remoteMasterKey = isClient ? serverKey : clientKey
        self.remoteMasterSalt = isClient ? serverSalt : clientSalt
    }

    static func exportedLength(of profile: SRTPProfile) -> Int {
        2 * (profile.masterKeyLength + profile.masterSaltLength)
    }
}
