/// A camera that runs: its station, and what belongs to it.
public struct RunningCamera: Sendable {
    /// What was wanted.
    public internal(set) var settings: CameraSettings
    /// Its station.
    public let station: CameraStation
    /// Where its media comes from.
    public let source: ReplaceableSource
    /// Its events besides those of its media's source.
    public internal(set) var events: CameraEvents
}

/// What happened to the cameras when others were wanted, by their identifiers.
public struct StationChanges: Sendable {
    /// New.
    public var added: [String] = []
    /// With changed settings.
    public var changed: [String] = []
    /// Gone.
    public var removed: [String] = []
    /// Those that have another station or other events now.
    public var begun: [RunningCamera] = []
    /// Those that could not be made, and why.
    public var failed: [(id: String, reason: String)] = []

    /// Nothing has changed.
    public init() {}
}

/// A service that uses the cameras' stations, and must know which there are.
public protocol StationUser: Sendable {
    /// A station is there. One with the same identifier is replaced.
    func add(_ station: CameraStation) async
    /// A station goes away.
    func remove(_ deviceID: String, because end: StationEnd) async
}
