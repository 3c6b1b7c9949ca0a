/// What viewers' TCP connections may cost.
public struct TCPLimits: Sendable {
    /// The most connections.
    public var connections = 256
    /// The most connections of sessions from one host. All viewers behind one router share them.
    public var perHost = 64
    /// The most connections that no session has proved to be its own.
    public var strangers = 64
    /// The most of them from one host. When there is no room, the oldest one is closed for the new one.
    public var strangersPerHost = 16
    /// How long a connection may stay a stranger's.
    public var strangerPatience = Duration.seconds(5)
    /// How many packets a stranger may send: a viewer repeats its check a few times.
    public var strangerPackets = 32
    /// How long no session may send anything to a connection. A session sends a consent check every six seconds at most
    /// (RFC 7675, section 5.1).
    public var silence = Duration.seconds(45)
    /// How long sent bytes may stay unacknowledged, and how long a viewer may read nothing, before the kernel gives the
    /// connection up.
    public var patience = Duration.seconds(15)
    /// The most bytes that wait for one connection. Media waits in the camera's ring long before (``ConnectionBacklog``);
    /// other packets that find no room are lost, as on any network.
    public var queueBytes = 512 << 10

    /// The limits for ordinary use.
    public init() {}
}

/// What the listener for viewers' TCP connections has done.
public struct TCPCounters: Sendable, Equatable {
    /// The present connections.
    public var connections = 0
    /// Connections that were accepted.
    public var accepted: UInt64 = 0
    /// Connections that were refused or closed because there were too many.
    public var refused: UInt64 = 0
    /// Connections that were closed because they sent anything but connectivity checks at first, or no check of a session.
    public var strangersClosed: UInt64 = 0
    /// Packets to viewers that found no room, because the viewer did not read.
    public var packetsDropped: UInt64 = 0
    /// How often an address could not be listened at. It is tried again.
    public var listenFailures: UInt64 = 0

    /// All zero.
    public init() {}
}
