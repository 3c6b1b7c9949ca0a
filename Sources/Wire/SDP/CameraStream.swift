/// A camera encodes its picture once or twice, so it has one stream or two.
public enum CameraStream: String, Sendable, Hashable, Comparable {
    /// The full-size stream.
    case main
    /// The smaller one.
    case sub

    /// The main stream comes first.
    public static func < (left: CameraStream, right: CameraStream) -> Bool { left == .main && right == .sub }
}
