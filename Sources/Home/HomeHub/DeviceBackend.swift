import Foundation
import HomeTypes
import Stations

/// What a backend reports to the home.
public enum CameraUpdate: Sendable, Equatable {
    /// The source's state has changed, or it delivers other tracks.
    case source(CameraSourceStatus)
    /// The button was pressed.
    case doorbellPressed(Google.DoorbellPressTrait.DoorbellPressedEvent)
    /// The camera has detected something.
    case detection(DetectionEvent)
    /// The state of the connection that delivers the camera's events has changed.
    case eventSource(EventSourceStatus)
    /// The attributes of these traits are now these. The device's other traits keep theirs.
    case attributes(TraitCollection)
}

/// The home's side of one device: it reports the device's state and accepts its commands. Cameras are backends now;
/// devices of other kinds follow.
public protocol DeviceBackend: Sendable {
    /// The device's identifier in the config.
    var deviceID: String { get }

    /// The present state first, then every change until the device is removed. The hub follows it once.
    func updates() -> AsyncStream<CameraUpdate>

    /// Takes a command that the hub has no handler for. The hub has checked that the device has the trait.
    /// - Parameters:
    ///   - body: the parameters as JSON.
    /// - Returns: the result as JSON.
    func execute(_ call: CommandCall, body: Data) async throws(HomeError) -> Data
}

extension DeviceBackend {
    public func execute(_ call: CommandCall, body: Data) async throws(HomeError) -> Data {
        throw HomeError.unimplemented("device \(call.deviceID) does not accept the command \(call.command)")
    }
}

/// The backend of one configured camera. Floor 4's camera station is adapted to it where the process is composed.
public protocol CameraDriver: DeviceBackend {
    /// Whether the camera has a speaker that talkback reaches.
    var hasSpeaker: Bool { get }

    /// Presses the button, as if a visitor had.
    /// - Throws: `HomeError.unimplemented` when this camera's button cannot be pressed from here.
    func press() async throws(HomeError)

    /// Accepts an event that somebody reports for the camera, as if it had come from the camera itself.
    /// - Returns: whether it was new, and not a repetition.
    /// - Throws: `HomeError.unimplemented` when this camera accepts none.
    func report(_ event: ReportedEvent) async throws(HomeError) -> Bool

    /// Changes which outputs of the camera are allowed. It returns when nothing that is refused leaves, and what is
    /// allowed may begin.
    func setOutputs(_ policy: OutputPolicy) async

    /// What the speaker received, for cameras that can measure it; nil for others.
    var speakerReading: SpeakerReading? { get }
}

extension CameraDriver {
    public func report(_ event: ReportedEvent) async throws(HomeError) -> Bool {
        throw HomeError.unimplemented("device \(deviceID) does not accept reported events")
    }

    public func setOutputs(_ policy: OutputPolicy) async {}
}
