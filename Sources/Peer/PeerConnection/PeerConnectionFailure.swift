import DTLS
import ICE
import SRTP

/// Why a connection ended without a call of ``PeerConnection/close()``.
public enum PeerConnectionFailure: Error, Hashable, Sendable {
    /// The peer has not consented to receive for 30 seconds (RFC 7675).
    case consentExpired
    /// No pair of candidates worked (RFC 8445).
    case noPath(ICEFailure)
    /// The peer does not speak DTLS as expected, or is not the one that its session description names (RFC 5763).
    case handshake(DTLSError)
    /// The agreed keys were refused.
    case unusableKeys(SRTPError)
    /// The peer sent `close_notify`.
    case closedByPeer
}

extension PeerConnectionFailure: CustomStringConvertible {
    public var description: String {
        switch self {
        case .consentExpired: "the peer has stopped answering connectivity checks"
        case .noPath(let reason): "no path to the peer: \(reason)"
        case .handshake(.handshakeFailed(let reason)): "the DTLS handshake failed: \(reason)"
        case .handshake(let error): "the DTLS handshake failed: \(error)"
        case .unusableKeys(let error): "the agreed SRTP keys cannot be used: \(error)"
        case .closedByPeer: "the peer closed the connection"
        }
    }
}
