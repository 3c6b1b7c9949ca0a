import Signalling
import Stations

extension PublisherEnd {
    /// What the end of a publisher's connection means to its camera.
    init(_ end: ReaderEnd) {
        self =
            switch end {
            case .tornDown: .stopped
            case .silent: .silent
            case .accessEnded: .accessEnded
            case .cameraRemoved: .cameraGone(.removed)
            case .publishingEnded(let end): end
            case .shuttingDown: .shuttingDown
            case .revoked(let refusal): .revoked(refusal)
            // The last ones are ends of readers.
            case .closedByClient, .connectionLost, .finished, .gaveWay, .stoppedReading, .tooSlow, .trackGone,
                .formatChanged, .footageDeleted, .footageUnreadable:
                .disconnected
            }
    }
}
