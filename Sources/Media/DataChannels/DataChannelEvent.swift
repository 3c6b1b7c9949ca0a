/// What a session's data channels report.
public enum DataChannelEvent: Sendable, Equatable {
    /// The peer has opened a channel. Its number is that of its stream.
    case opened(channel: UInt16, label: String)
    /// A text has come. Call ``DataChannelLine/recordHandled()`` when it has been handled.
    case text(channel: UInt16, String)
    /// Bytes have come that are not a text. Call ``DataChannelLine/recordHandled()`` when they have been handled.
    case binary(channel: UInt16, byteCount: Int)
    /// The peer has closed a channel.
    case closed(channel: UInt16)
    /// All channels are gone.
    case ended
}

/// What bounds the data channels of a session, besides the limits of its SCTP association.
public struct DataChannelLimits: Sendable {
    /// How many bytes of one session may wait for the host's thread.
    public var waitingBytes = 64 * 1024
    /// How many bytes of all sessions may wait for it.
    public var totalWaitingBytes = 4 * 1024 * 1024
    /// How many messages of a session may wait to be handled. A peer that sends more loses its channels.
    public var waitingMessages = 32

    /// The defaults.
    public init() {}
}

/// What the host has done.
public struct DataChannelCounters: Sendable, Equatable {
    /// Sessions with an association now.
    public var associations = 0
    /// Associations that the gateway has ended, because the peer kept no limit.
    public var aborted: UInt64 = 0
    /// Packets that found no room in the queue of the host's thread. SCTP sends them again.
    public var droppedPackets: UInt64 = 0
    /// Packets for another port, or from one that was not agreed on.
    public var strayPackets: UInt64 = 0

    /// No counts yet.
    public init() {}
}
