import Signalling
import StreamFormats

/// Why a connection to the RTMP server has ended.
public enum RTMPPublisherEnd: Equatable, Sendable {
    /// The client closed the connection.
    case closedByClient
    /// The connection was lost.
    case connectionLost
    /// The client's host, or the server, had too many connections.
    case gaveWay
    /// The client did not ask to publish in time.
    case tooLate
    /// The publisher has sent no picture and no sound for too long.
    case silent
    /// The client read nothing for a while.
    case stoppedReading
    /// The client sent what RTMP does not allow.
    case violation(RTMPServerError)
    /// Nothing of what the publisher sends can be used; says what it sends.
    case unusable([UnsupportedPart])
    /// The client may not publish.
    case refused(PublisherRefusal)
    /// The client wanted to play.
    case askedToPlay
    /// The camera could not be published to.
    case failed(SignallingError)
    /// Something else has ended the publisher.
    case ended(PublisherEnd)
    /// The gateway is shutting down.
    case shuttingDown

    /// Whether the client does something that this server does not do.
    var isMistake: Bool {
        switch self {
        case .violation, .askedToPlay: true
        default: false
        }
    }
}
