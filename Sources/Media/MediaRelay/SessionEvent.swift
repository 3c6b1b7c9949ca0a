/// What the relay reports about a session.
public enum SessionEvent: Sendable, Equatable {
    /// The transport is up: media flows.
    case connected
    /// The session is over: consent was lost (RFC 7675), for example, or the connection could not be established.
    case ended(RelayEnd)
    /// The path of a viewer is too slow for its stream of the camera, or it carries a larger one.
    case streamWanted(StreamWish)
}

/// Which other stream of the camera would be better for a viewer's path.
public enum StreamWish: Sendable, Equatable {
    /// A smaller one than now.
    case smaller
    /// The one that the viewer had before it got a smaller one because of its path.
    case larger
}
