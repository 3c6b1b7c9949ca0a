import Signalling
import StreamFormats

extension RTMPPublisherEnd {
    /// Why the connection has ended, as the log says it and the client reads it.
    public var words: String {
        switch self {
        case .closedByClient: "the publisher closed the connection"
        case .connectionLost: "the connection was lost"
        case .gaveWay: "the connection was closed to make room for another one"
        case .tooLate: "it did not ask to publish in time"
        case .silent: "no picture and no sound came for too long"
        case .stoppedReading: "it stopped reading"
        case .violation(let error): error.description
        case .unusable(let parts):
            "the stream has no track that can be used"
                + (parts.isEmpty ? "" : ": it has \(parts.map(\.description).joined(separator: ", "))")
                + ". Set the encoder to H.264 or H.265, and AAC"
        case .refused(let refusal): refusal.words
        case .askedToPlay: "it asked to play a stream, but this server only accepts publishers"
        case .failed(let error): error.words
        case .ended(let end): end.words
        case .shuttingDown: "the gateway is shutting down"
        }
    }

    /// What the end of the connection means for the publisher.
    var publisherEnd: PublisherEnd {
        switch self {
        case .closedByClient, .connectionLost, .gaveWay, .stoppedReading: .disconnected
        case .tooLate, .silent: .silent
        case .violation, .unusable: .unusable
        case .refused, .askedToPlay, .failed: .stopped
        case .ended(let end): end
        case .shuttingDown: .shuttingDown
        }
    }
}
