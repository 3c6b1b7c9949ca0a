/// Why an identity could not be made, or why a handshake ended.
public enum DTLSError: Error, Hashable, Sendable {
    /// OpenSSL refused; the text names the call and OpenSSL's own reason.
    case cryptographicFailure(String)
    /// A certificate or key in PEM form cannot be read, or the two do not belong together.
    case invalidIdentity(String)
    /// The peer's session description has no fingerprint with a hash function that is still trusted.
    case noUsableFingerprint
    /// The peer's certificate is not the one that its session description names (RFC 8122, section 5).
    case fingerprintMismatch
    /// The two sides have no SRTP protection profile in common, or the peer offered none (RFC 5764).
    case noCommonSRTPProfile
    /// The handshake failed; the text is OpenSSL's reason.
    case handshakeFailed(String)
    /// The peer did not answer the last flight, however often it was repeated.
    case timedOut(retransmissions: Int)
}

extension DTLSError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .cryptographicFailure(let reason): "OpenSSL failed: \(reason)"
        case .invalidIdentity(let reason): "the certificate and key cannot be used: \(reason)"
        case .noUsableFingerprint: "the peer's description has no fingerprint by SHA-256, SHA-384 or SHA-512"
        case .fingerprintMismatch: "the peer's certificate does not have the fingerprint of its description"
        case .noCommonSRTPProfile: "no SRTP protection profile is common to both sides"
        case .handshakeFailed(let reason): "the DTLS handshake failed: \(reason)"
        case .timedOut(let retransmissions): "the peer did not answer after \(retransmissions) retransmissions"
        }
    }
}
