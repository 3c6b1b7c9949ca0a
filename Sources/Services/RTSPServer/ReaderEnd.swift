import Signalling
import Stations

/// Why a reader of a camera has gone.
public enum ReaderEnd: Hashable, Sendable {
    /// The client ended the session (`TEARDOWN`).
    case tornDown
    /// The client closed the connection.
    case closedByClient
    /// The connection was lost.
    case connectionLost
    /// The last response has been sent, and no request can follow it.
    case finished
    /// The client's host, or the server, had too many connections.
    case gaveWay
    /// The client accepts less than the camera sends.
    case tooSlow
    /// The client sent nothing for longer than the session's timeout (RFC 7826, section 18.49).
    case silent
    /// The client read nothing for a while.
    case stoppedReading
    /// The camera no longer sends the track that is read.
    case trackGone
    /// The camera was removed.
    case cameraRemoved
    /// The camera was switched off, or a privacy mode was switched on.
    case revoked(OutputRefusal)
    /// The reader's token has ended, or no longer permits to watch the camera.
    case accessEnded
    /// Something other than the client has ended what it published.
    case publishingEnded(PublisherEnd)
    /// The gateway is shutting down.
    case shuttingDown
    /// The camera changed its format while it recorded what is played: at this time, in microseconds since 1970, UTC.
    case formatChanged(at: Int64)
    /// The recording was deleted while it was played.
    case footageDeleted
    /// A part of the recording cannot be read.
    case footageUnreadable
}
