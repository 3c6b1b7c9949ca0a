import Foundation
import HomeTypes
import Stations

/// What a backend reports to the home. A report of what is already known changes nothing and is not passed on.
public enum DeviceUpdate: Sendable, Equatable {
    /// The device now consists of these endpoints; others are gone. What is reported here replaces what was known.
    case endpoints([EndpointDescription])
    /// Attributes of an endpoint. Attributes that are not in the report stay as they are.
    case report(endpoint: UInt16, TraitCollection)
    /// Whether an endpoint can be reached, and how; nil for all endpoints.
    case connectivity(endpoint: UInt16?, SourceConnectivity)
    /// Whether a single trait can be reached, and how; nil for the same as its endpoint.
    case traitConnectivity(endpoint: UInt16, trait: String, SourceConnectivity?)
    /// Several of these at once. Watchers get them as one change. Only states belong here, not events.
    case together([DeviceUpdate])
    /// A trait has sent an event.
    case event(TraitEvent)

    /// The source of a camera has changed its state or its tracks.
    case source(CameraSourceStatus)
    /// The button was pressed.
    case doorbellPressed(Google.DoorbellPressTrait.DoorbellPressedEvent)
    /// The camera has detected something.
    case detection(DetectionEvent)
    /// The state of the connection that delivers the camera's events has changed.
    case eventSource(EventSourceStatus)
    /// These traits of the camera now have exactly these attributes. Its other traits stay as they are.
    case attributes(TraitCollection)
    /// The settings that the camera itself keeps, as far as they are known; others do not exist.
    case settings(Google.CameraAvStreamManagementTrait.Attributes)
}

/// What the backend of a camera reports.
public typealias CameraUpdate = DeviceUpdate

/// The outcome of a command or a write.
public struct CommandOutcome: Sendable {
    /// The response as JSON.
    public var response: Data
    /// What the home learns immediately. When the device later confirms it, nothing changes.
    public var updates: [DeviceUpdate]

    /// Describes a command that was applied.
    public init(response: Data = Data("{}".utf8), updates: [DeviceUpdate] = []) {
        self.response = response
        self.updates = updates
    }
}

/// New values of attributes on their way to a device. They satisfy the vocabulary's constraints, and clients may write
/// them.
public struct AttributeWrite: Sendable {
    /// The device.
    public var deviceID: String
    /// The number of the endpoint.
    public var endpoint: UInt16
    /// The trait with the attributes to write, and no others.
    public var trait: any Trait
    /// The caller that writes.
    public var caller: Caller
}

/// The home's side of one device: it reports the device's state and accepts its commands.
public protocol DeviceBackend: Sendable {
    /// The device's identifier.
    var deviceID: String { get }

    /// The backend as the driver of a camera; nil for another device.
    var cameraDriver: (any CameraDriver)? { get }

    /// The current state first, then every change until the device is removed. The hub follows it once.
    func updates() -> AsyncStream<DeviceUpdate>

    /// Carries out a command for which the hub does not have a handler. The hub has checked that the device has the
    /// trait.
    /// - Parameters:
    ///   - call: the command, with the number of its endpoint.
    ///   - body: the parameters as JSON.
    func execute(_ call: CommandCall, body: Data) async throws(HomeError) -> CommandOutcome

    /// Writes attributes. The hub has checked that the device has the trait, and that clients may write the attributes.
    func write(_ write: AttributeWrite) async throws(HomeError) -> CommandOutcome

    /// Accepts what somebody measured on the device's behalf, including attributes that clients cannot write.
    /// - Throws: `unimplemented` for a device that measures for itself.
    func simulate(_ write: AttributeWrite) async throws(HomeError) -> CommandOutcome
}

extension DeviceBackend {
    public var cameraDriver: (any CameraDriver)? { nil }

    public func execute(_ call: CommandCall, body: Data) async throws(HomeError) -> CommandOutcome {
        throw HomeError.unimplemented("device \(call.deviceID) does not accept the command \(call.command)")
    }

    public func write(_ write: AttributeWrite) async throws(HomeError) -> CommandOutcome {
        throw HomeError.unimplemented("trait \(type(of: write.trait).name) has no attributes that can be written")
    }

    public func simulate(_ write: AttributeWrite) async throws(HomeError) -> CommandOutcome {
        throw HomeError.unimplemented("device \(write.deviceID) reports its own state; only virtual devices are set")
    }
}

/// The backend of one configured camera. Floor 4's camera station is adapted to it where the process is composed.
public protocol CameraDriver: DeviceBackend {
    /// Whether the camera has a speaker that talkback reaches.
    var hasSpeaker: Bool { get }

    /// The sounds that the gateway plays on the speaker, the usual one first.
    var sounds: [CameraSound] { get }

    /// Presses the button, as if a visitor had.
    /// - Throws: `HomeError.unimplemented` when this camera's button cannot be pressed from here.
    func press() async throws(HomeError)

    /// Accepts an event that somebody reports for the camera, as if it had come from the camera itself.
    /// - Returns: whether it was new, and not a repetition.
    /// - Throws: `HomeError.unimplemented` if this camera does not accept events.
    func report(_ event: ReportedEvent) async throws(HomeError) -> Bool

    /// Returns when the hub has applied what was reported before.
    func reportsApplied() async

    /// Whether the camera is pulled only while somebody needs it, and rests at other times.
    var isOnDemand: Bool { get }

    /// Changes which outputs of the camera are allowed. When it returns, refused outputs have stopped, and allowed ones
    /// may begin.
    func setOutputs(_ policy: OutputPolicy) async

    /// What the speaker received, for cameras that can measure it; nil for others.
    var speakerReading: SpeakerReading? { get }
}

extension CameraDriver {
    public var cameraDriver: (any CameraDriver)? { self }

    public var sounds: [CameraSound] { [.doorbell] }

    public var isOnDemand: Bool { false }

    public func report(_ event: ReportedEvent) async throws(HomeError) -> Bool {
        throw HomeError.unimplemented("device \(deviceID) does not accept reported events")
    }

    public func reportsApplied() async {}

    public func setOutputs(_ policy: OutputPolicy) async {}
}
