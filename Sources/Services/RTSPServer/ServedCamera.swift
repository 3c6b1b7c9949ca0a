import Cameras

/// A camera as the server sees it.
public struct ServedCamera: Sendable {
    /// The identifier, which is the path of its address.
    public var id: String
    /// The name that players show.
    public var name: String
    /// What it sends now, in the order of the relay's tracks; empty before it has told.
    public var tracks: @Sendable () -> [TrackDescription]
    /// Makes the camera deliver for as long as the result lives. Called on the server's thread: it must not wait.
    public var acquire: @Sendable () -> any CameraLease

    /// Describes a camera that always delivers, or one that does so while it is held.
    public init(
        id: String, name: String, tracks: @escaping @Sendable () -> [TrackDescription],
        acquire: @escaping @Sendable () -> any CameraLease = { AlwaysPulled() }
    ) {
        self.id = id
        self.name = name
        self.tracks = tracks
        self.acquire = acquire
    }
}

/// What keeps a camera delivering.
public protocol CameraLease: Sendable {
    /// Lets go; a second time it does nothing. Called on the server's thread: it must not wait.
    func release()
}

/// The lease of a camera that delivers anyway.
public struct AlwaysPulled: CameraLease {
    /// Holds nothing.
    public init() {}
    public func release() {}
}
