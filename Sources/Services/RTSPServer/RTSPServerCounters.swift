import Cameras

/// What the server has done since it started.
public struct RTSPServerCounters: Sendable, Equatable {
    /// Current connections.
    public var connections = 0
    /// Readers that are playing, by the path of their camera.
    public var readers: [String: Int] = [:]
    /// Publishers, by the path of their camera.
    public var publishers: [String: Int] = [:]
    /// Readers that are playing recorded footage.
    public var playbacks = 0
    /// Connections that were accepted.
    public var connectionsAccepted: UInt64 = 0
    /// Connections that were closed because there were too many: at once, or to make room for newer ones.
    public var connectionsRefused: UInt64 = 0
    /// Readers that began to play.
    public var readersStarted: UInt64 = 0
    /// Publishers that began to send.
    public var publishersStarted: UInt64 = 0
    /// RTP packets of publishers.
    public var packetsReceived: UInt64 = 0
    /// Their bytes with RTP headers.
    public var bytesReceived: UInt64 = 0
    /// Wrong passwords.
    public var refusedCredentials: UInt64 = 0
    /// RTP packets that were sent.
    public var packetsSent: UInt64 = 0
    /// Their bytes with RTP headers.
    public var bytesSent: UInt64 = 0
    /// Frames that were skipped for readers that were too slow.
    public var framesDropped: UInt64 = 0
    /// Datagrams that could not be sent.
    public var datagramsRefused: UInt64 = 0
    /// RTP packets that the server's thread did not read from the relay in time.
    public var inboxPacketsDropped: UInt64 = 0
    /// The bytes of their payloads.
    public var inboxBytesDropped: UInt64 = 0

    /// All counters are zero.
    public init() {}
}

/// What the server reports about its readers and publishers.
public enum RTSPServerNews: Sendable, Equatable {
    /// A reader began to play a camera.
    case started(camera: String, host: String, userAgent: String, overUDP: Bool)
    /// A reader has gone.
    case ended(camera: String, host: String, end: ReaderEnd, packets: UInt64, framesDropped: UInt64)
    /// A client publishes a camera. `leftOut` says what of its session description is not used, and why.
    case publishing(camera: String, host: String, userAgent: String, overUDP: Bool, leftOut: [CameraNote])
    /// A client whose token or password is right may not publish; says why, and how often since that was last reported:
    /// at most once per minute for each camera, host and reason.
    case refusedPublisher(camera: String, host: String, refusal: RTSPPublisherRefusal, count: UInt64)
    /// A wrong password came from a host.
    case refused(host: String)
    /// A host had too many connections: one was refused, or closed to make room for a newer one. Reported at most once
    /// per minute, with how many were refused so far.
    case refusedConnection(host: String, total: UInt64)
}
