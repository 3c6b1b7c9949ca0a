/// A camera's button that can be pressed from here, as if a visitor had.
public protocol CameraButton: Sendable {
    /// Whether the camera has a button.
    var hasButton: Bool { get }
    /// Presses it.
    /// - Returns: whether the camera has a button and runs.
    func press() -> Bool
}
