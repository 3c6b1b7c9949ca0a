import Signalling
import Stations
import Transport

extension ReaderEnd {
    /// Why the reader has gone, as the log says it.
    public var words: String {
        switch self {
        case .tornDown: "the client ended it"
        case .closedByClient: "the client closed the connection"
        case .connectionLost: "the connection was lost"
        case .finished: "the session has ended"
        case .gaveWay: "the connection was closed to make room for another one"
        case .tooSlow: "the reader is too slow"
        case .silent: "the client sent nothing for too long"
        case .stoppedReading: "the client stopped reading"
        case .trackGone: "the camera no longer sends this track"
        case .cameraRemoved: "the camera has been removed"
        case .revoked(let refusal): refusal.endReason
        case .accessEnded: "its token no longer permits watching the camera"
        case .publishingEnded(let end): end.words
        case .shuttingDown: "the gateway is shutting down"
        case .formatChanged(let at):
            "the camera changed its format at \(WallTime(millisecondsSince1970: at / 1_000).iso8601); play from there on"
        case .footageDeleted: "the recording was deleted while it was played"
        case .footageUnreadable: "a part of the recording cannot be read"
        }
    }
}
