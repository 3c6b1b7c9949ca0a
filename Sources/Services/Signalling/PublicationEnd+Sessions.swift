import Cameras
import MediaRelay
import PeerConnection

extension PublicationEnd {
    /// What the camera's state shows about the end of a publisher's session.
    init(_ end: PublisherEnd) {
        self =
            switch end {
            case .stopped: .stopped
            case .disconnected: .connectionClosed
            case .silent: .silent
            case .unusable: .unusable
            case .accessEnded: .accessEnded
            case .replaced: .replaced
            case .sourceStopped, .cameraGone: .cameraStopped
            case .revoked: .cameraOff
            case .relay(let end): PublicationEnd(end)
            case .shuttingDown: .shuttingDown
            }
    }

    private init(_ end: RelayEnd) {
        self =
            switch end {
            case .notConnected: .notConnected
            case .connectionFailed(let failure): PublicationEnd(failure)
            case .goodbye: .goodbye
            // The first is an end of viewers.
            case .viewer, .removed: .stopped
            case .shuttingDown: .shuttingDown
            }
    }

    private init(_ failure: PeerConnectionFailure) {
        self =
            switch failure {
            case .consentExpired: .consentExpired
            case .noPath: .noPath
            case .handshake, .unusableKeys: .handshakeFailed
            case .closedByPeer: .connectionClosed
            }
    }
}
