import Stations

extension ReaderEnd {
    /// Why the reader has gone, as the log says it.
    public var words: String {
        switch self {
        case .tornDown: "the client ended it"
        case .closedByClient: "the client closed the connection"
        case .connectionLost: "the connection was lost"
        case .finished: "the conversation is over"
        case .gaveWay: "it gave way to another connection"
        case .tooSlow: "the reader is too slow"
        case .silent: "the client sent nothing for too long"
        case .stoppedReading: "the client stopped reading"
        case .trackGone: "the camera no longer sends this track"
        case .cameraRemoved: "the camera has been removed"
        case .revoked(let refusal): refusal.endReason
        case .shuttingDown: "the gateway is shutting down"
        }
    }
}
