import DTLS

/// Why a connection could not be prepared.
public enum PeerConnectionError: Error, Hashable, Sendable {
    /// The DTLS endpoint could not be made.
    case handshake(DTLSError)
}
