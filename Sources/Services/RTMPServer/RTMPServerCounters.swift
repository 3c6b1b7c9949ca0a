import StreamFormats

/// What the server has done since it started.
public struct RTMPServerCounters: Sendable, Equatable {
    /// Current connections.
    public var connections = 0
    /// Connections over which somebody publishes, or has begun to.
    public var publishers = 0
    /// Connections that were accepted.
    public var connectionsAccepted: UInt64 = 0
    /// Connections that were closed because there were too many: at once, or to make room for newer ones.
    public var connectionsRefused: UInt64 = 0
    /// Publishers that became a camera.
    public var publishersStarted: UInt64 = 0
    /// Wrong tokens.
    public var refusedCredentials: UInt64 = 0
    /// Bytes that were received.
    public var bytesReceived: UInt64 = 0
    /// Pictures and frames of sound that were received.
    public var unitsReceived: UInt64 = 0

    /// All counters are zero.
    public init() {}
}

/// What the server reports about its clients.
public enum RTMPServerNews: Sendable, Equatable {
    /// A wrong token came from a host.
    case refused(host: String)
    /// A host had too many connections: one was refused, or closed to make room for a newer one. Reported at most once
    /// per minute, with how many were refused so far.
    case refusedConnection(host: String, total: UInt64)
    /// A client that asked to publish has gone, or was refused. `device` is nil for one that was not admitted. `camera` and
    /// `program` are empty for one that did not get so far, because it does not speak RTMP or wanted to play.
    ///
    /// An end is reported at most once per minute for each camera, host and reason; `count` says how often it has come since it
    /// was last reported.
    case ended(
        camera: String, device: String?, host: String, program: String, end: RTMPPublisherEnd, count: UInt64)
    /// A part of what a publisher sends is left out. Reported at most once per minute for each device, host and list of parts.
    case leftOut(device: String, parts: [UnsupportedPart])
}
