import PeerConnection

/// Why a session of the relay has ended: a viewer's or a publisher's.
public enum RelayEnd: Hashable, Sendable {
    /// The connection could not be prepared.
    case notConnected(PeerConnectionError)
    /// The connection could not be established, or was lost.
    case connectionFailed(PeerConnectionFailure)
    /// The camera cannot be sent to the viewer any longer.
    case viewer(ViewerEnd)
    /// The publisher has said goodbye to all of its tracks (RFC 3550, section 6.6).
    case goodbye
    /// Its service has ended the session, and knows why.
    case removed
    /// The relay stops.
    case shuttingDown
}

/// Why a camera cannot be sent to a viewer any longer.
public enum ViewerEnd: Hashable, Sendable {
    /// The camera no longer sends a track that the viewer needs.
    case trackGone
    /// The camera's video turned out to have B-frames, which the viewer cannot play.
    case bFrames
    /// There is no room for the transcoder that makes one of the viewer's tracks.
    case transcodingRefused(TranscodingRefusal)
    /// The camera was switched off, or a privacy mode was switched on. The session's permit says which.
    case revoked
}

/// Why a camera's pictures cannot be transcoded: the processor time that transcoding may use is taken.
public struct TranscodingRefusal: Hashable, Sendable {
    /// The camera.
    public var camera: String
    /// How many transcoders are running.
    public var running: Int
    /// How many processor cores all transcoders together may use.
    public var cores: Double

    /// Describes a refusal.
    public init(camera: String, running: Int, cores: Double) {
        self.camera = camera
        self.running = running
        self.cores = cores
    }
}
