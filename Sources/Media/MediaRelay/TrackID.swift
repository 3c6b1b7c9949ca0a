import SDP

/// Names a track of the relay.
///
/// The name stays the same when the camera restarts, and a change of one of its streams does not move the tracks of the
/// other one.
public struct TrackID: Hashable, Sendable {
    /// The camera's identifier.
    public var camera: String
    /// The stream of the camera that the track belongs to, or that the track that it is made from belongs to.
    public var stream: CameraStream
    /// Whether it is sound or video.
    public var kind: MediaKind
    /// The number of the track in the description of its stream, from 0.
    public var index: Int
    /// Whether the gateway makes the track from the camera's track with the same stream and number.
    public var isDerived: Bool

    /// Names track `index` of a stream of `camera`.
    public init(
        camera: String, stream: CameraStream = .main, kind: MediaKind = .video, index: Int, isDerived: Bool = false
    ) {
        self.camera = camera
        self.stream = stream
        self.kind = kind
        self.index = index
        self.isDerived = isDerived
    }

    /// The camera's track that this one is made from; nil for the camera's own.
    public var derivedFrom: TrackID? {
        isDerived ? TrackID(camera: camera, stream: stream, kind: kind, index: index) : nil
    }

    /// The track that the gateway makes from this one.
    public var derived: TrackID {
        TrackID(camera: camera, stream: stream, kind: kind, index: index, isDerived: true)
    }
}

extension TrackID: CustomStringConvertible {
    /// Camera, stream and number, as in `door-sub-0`, then `-derived` if the gateway makes the track. It can be part of
    /// an `a=msid` line (RFC 8830, section 2) wherever the camera's identifier can.
    public var description: String {
        "\(camera)-\(stream.rawValue)-\(index)\(isDerived ? "-derived" : "")"
    }
}

extension TrackID: Comparable {
    /// A camera's main stream comes before the smaller one, and its own tracks come before derived ones.
    public static func < (left: TrackID, right: TrackID) -> Bool {
        if left.camera != right.camera { return left.camera < right.camera }
        if left.isDerived != right.isDerived { return right.isDerived }
        return (left.stream, left.index) < (right.stream, right.index)
    }
}
