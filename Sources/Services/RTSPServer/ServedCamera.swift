import Cameras
import SDP
import Stations

/// A camera as the server sees it.
public struct ServedCamera: Sendable {
    /// The identifier, which is a path of its address.
    public var id: String
    /// What people call it, which is a path of its address too; nil for a camera that has only its identifier.
    public var key: String?
    /// The name that players show.
    public var name: String
    /// What it sends now, in the order of the relay's tracks; empty before that is known.
    public var tracks: @Sendable () -> [TrackDescription]
    /// Lets a reader have the camera: its permit, or nil for a camera that needs none. Called on the server's thread; must
    /// not wait.
    public var permit: Permit
    /// Makes the camera send for as long as the result lasts. Called on the server's thread; must not wait.
    public var hold: @Sendable () -> CameraHold

    /// Whether clients publish it. Called on the server's thread; must not wait.
    public var takesPublisher: @Sendable () -> Bool = { false }

    /// Asks for a permit, which ends the reader when it is revoked.
    public typealias Permit =
        @Sendable (_ owner: String, _ revoked: @escaping OutputPermits.Revoked) throws(StationError) -> OutputPermit?

    /// Describes a camera that always sends, or one that does so while it is held.
    public init(
        id: String, key: String? = nil, name: String, tracks: @escaping @Sendable () -> [TrackDescription],
        permit: @escaping Permit = { (_, _) throws(StationError) in nil },
        hold: @escaping @Sendable () -> CameraHold = { CameraHold(for: .reader) }
    ) {
        self.permit = permit
        self.id = id
        self.key = key
        self.name = name
        self.tracks = tracks
        self.hold = hold
    }
}

extension ServedCamera {
    /// A station's camera. What readers get is its main stream.
    public init(_ station: CameraStation, key: String? = nil, name: String) {
        self.init(
            id: station.id, key: key, name: name, tracks: { station.snapshot.tracks.filter { $0.stream == .main } },
            permit: { (owner, revoked) throws(StationError) in
                try station.permit(for: .liveView, owner: owner, revoked: revoked)
            },
            hold: { station.hold(for: .reader) })
        takesPublisher = { station.source.publishing != nil }
    }
}
