extension PublicationEnd {
    /// Why the publisher has gone, as part of a sentence about the camera.
    public var words: String {
        switch self {
        case .stopped: "the publisher has stopped"
        case .goodbye: "the publisher has said goodbye"
        case .replaced: "another publisher has taken over the camera"
        case .notConnected: "the publisher's connection could not be prepared"
        case .noPath: "no path to the publisher was found"
        case .handshakeFailed: "the publisher's DTLS handshake failed"
        case .consentExpired: "the publisher has stopped answering connectivity checks"
        case .connectionClosed: "the publisher closed the connection"
        case .silent: "the publisher has sent nothing for too long"
        case .unusable: "the publisher sent what cannot be used"
        case .accessEnded: "the publisher's token no longer permits publishing"
        case .cameraOff: "the camera was switched off"
        case .cameraStopped: "the camera has been stopped or changed"
        case .shuttingDown: "the gateway is shutting down"
        }
    }
}
