/// Why a camera's publisher has gone. What was wrong with its connection is in the log.
public enum PublicationEnd: Hashable, Sendable {
    /// The publisher stopped.
    case stopped
    /// The publisher has said goodbye to all of its tracks (RFC 3550, section 6.6).
    case goodbye
    /// Another publisher has taken over the camera.
    case replaced
    /// The publisher's connection could not be prepared.
    case notConnected
    /// No path to the publisher was found (RFC 8445).
    case noPath
    /// The publisher's DTLS handshake failed.
    case handshakeFailed
    /// The publisher has not consented to receive for 30 seconds (RFC 7675).
    case consentExpired
    /// The publisher closed the connection, or it was lost.
    case connectionClosed
    /// The publisher has sent nothing for too long.
    case silent
    /// The publisher sent what cannot be used.
    case unusable
    /// The publisher's token no longer permits publishing.
    case accessEnded
    /// The camera was switched off, or a privacy mode was switched on.
    case cameraOff
    /// The camera was stopped, changed or removed.
    case cameraStopped
    /// The gateway is shutting down.
    case shuttingDown
}
