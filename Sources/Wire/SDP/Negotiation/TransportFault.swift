/// What a description lacks for ICE (RFC 8839) and DTLS (RFC 8122).
public enum TransportFault: Error, Hashable, Sendable {
    /// `a=ice-ufrag` or `a=ice-pwd` is missing.
    case noCredentials
    /// `a=ice-ufrag` or `a=ice-pwd` has a length that RFC 8839 does not allow, or holds anything but printable ASCII.
    case unusableCredentials(ICECredentialFault)
    /// `a=fingerprint` is missing.
    case noFingerprint
    /// No `a=fingerprint` line has the right form.
    case unreadableFingerprint
    /// All fingerprints use hash functions that are too weak to authenticate a peer.
    case weakFingerprint([String])
}

extension TransportFault: CustomStringConvertible {
    public var description: String {
        switch self {
        case .noCredentials:
            "no ICE credentials: a=ice-ufrag and a=ice-pwd must be here or at the session level"
        case .unusableCredentials(let fault): fault.description
        case .noFingerprint:
            "no a=fingerprint: media is only sent over DTLS-SRTP, which needs the fingerprint of the certificate"
        case .unreadableFingerprint:
            "no readable a=fingerprint: the form is a=fingerprint:sha-256 AA:BB:… with as many bytes as the hash gives"
        case .weakFingerprint(let algorithms):
            "no a=fingerprint by SHA-256, SHA-384 or SHA-512, only \(algorithms.joined(separator: ", ")), which is too weak"
        }
    }
}
