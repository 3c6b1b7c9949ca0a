import HomeTypes

/// What a camera reports to the home.
public enum CameraUpdate: Sendable, Equatable {
    /// The source's state has changed, or it delivers other tracks.
    case source(CameraSourceStatus)
    /// The button was pressed.
    case doorbellPressed(Google.DoorbellPressTrait.DoorbellPressedEvent)
    /// The camera has detected something.
    case detection(DetectionEvent)
    /// The state of the connection that delivers the camera's events has changed.
    case eventSource(EventSourceStatus)
}

/// The home's side of one configured camera. Floor 4's camera station is adapted to it where the process is composed.
public protocol CameraDriver: Sendable {
    /// The device's identifier in the config.
    var deviceID: String { get }

    /// Whether the camera has a speaker that talkback reaches.
    var hasSpeaker: Bool { get }

    /// The present state of the source first, then every change until the camera is removed. The hub follows it once.
    func updates() -> AsyncStream<CameraUpdate>

    /// Presses the button, as if a visitor had.
    /// - Throws: `HomeError.unimplemented` when this camera's button cannot be pressed from here.
    func press() async throws(HomeError)

    /// Accepts an event that somebody reports for the camera, as if it had come from the camera itself.
    /// - Returns: whether it was new, and not a repetition.
    /// - Throws: `HomeError.unimplemented` when this camera accepts none.
    func report(_ event: ReportedEvent) async throws(HomeError) -> Bool

    /// What the speaker received, for cameras that can measure it; nil for others.
    var speakerReading: SpeakerReading? { get }
}

extension CameraDriver {
    public func report(_ event: ReportedEvent) async throws(HomeError) -> Bool {
        throw HomeError.unimplemented("device \(deviceID) takes no reported events")
    }
}
