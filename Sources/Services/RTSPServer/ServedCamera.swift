import Cameras
import Stations

/// A camera as the server sees it.
public struct ServedCamera: Sendable {
    /// The identifier, which is the path of its address.
    public var id: String
    /// The name that players show.
    public var name: String
    /// What it sends now, in the order of the relay's tracks; empty before that is known.
    public var tracks: @Sendable () -> [TrackDescription]
    /// Makes the camera send for as long as the result lasts. Called on the server's thread; must not wait.
    public var hold: @Sendable () -> CameraHold

    /// Describes a camera that always sends, or one that does so while it is held.
    public init(
        id: String, name: String, tracks: @escaping @Sendable () -> [TrackDescription],
        hold: @escaping @Sendable () -> CameraHold = { CameraHold(for: .reader) }
    ) {
        self.id = id
        self.name = name
        self.tracks = tracks
        self.hold = hold
    }
}

extension ServedCamera {
    /// A station's camera. What readers get is its main stream.
    public init(_ station: CameraStation, name: String) {
        self.init(
            id: station.id, name: name, tracks: { station.snapshot.tracks.filter { $0.stream == .main } },
            hold: { station.hold(for: .reader) })
    }
}
