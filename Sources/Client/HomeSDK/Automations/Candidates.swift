import HomeTypes

/// Something that an automation can use in this home (Home APIs, `NodeCandidate`).
public protocol NodeCandidate: Sendable {
    /// The device or structure.
    var homeObject: any HomeObject { get }
    /// The types of which the device has the trait.
    var deviceTypes: [any DeviceType.Type] { get }
    /// The trait.
    var trait: any Trait.Type { get }
    /// Why it cannot be used now; empty if it can.
    var unsupportedReasons: [UnsupportedCandidateReason] { get }
}

/// A candidate for an action.
public protocol ActionCandidate: NodeCandidate {}

/// A candidate for a starter.
public protocol StarterCandidate: NodeCandidate {}

/// A candidate for a state reader.
public protocol StateReaderCandidate: NodeCandidate {}

/// A command that an action can send (Home APIs, `CommandCandidate`).
public struct CommandCandidate: ActionCandidate {
    public let homeObject: any HomeObject
    public let deviceTypes: [any DeviceType.Type]
    public let trait: any Trait.Type
    public let unsupportedReasons: [UnsupportedCandidateReason]
    /// The command.
    public let command: any Command.Type
}

/// An event that a starter can wait for (Home APIs, `EventCandidate`).
public struct EventCandidate: StarterCandidate {
    public let homeObject: any HomeObject
    public let deviceTypes: [any DeviceType.Type]
    public let trait: any Trait.Type
    public let unsupportedReasons: [UnsupportedCandidateReason]
    /// The event.
    public let event: any Event.Type
}

/// A trait whose attributes can start an automation, be read and be written (Home APIs, `TraitAttributesCandidate`).
public struct TraitAttributesCandidate: StarterCandidate, StateReaderCandidate, ActionCandidate {
    public let homeObject: any HomeObject
    public let deviceTypes: [any DeviceType.Type]
    public let trait: any Trait.Type
    public let unsupportedReasons: [UnsupportedCandidateReason]
}

/// Why a candidate cannot be used now (Home APIs, `UnsupportedCandidateReason`).
public enum UnsupportedCandidateReason: Sendable, Hashable {
    /// The structure has no address.
    case missingStructureAddressSetup
    /// Nobody reports who is at home.
    case missingPresenceSensingSetup
    /// The gateway does not have the feature.
    case featureNotAvailable
    case unknown
}

/// A candidate of a structure.
public struct Candidate: Sendable {
    /// What it is.
    public let node: any NodeCandidate
}

/// The candidates of a structure or a device.
public struct CandidateQuery: Sendable {}
