import HomeTypes

/// Something that an automation can use in this home (Home APIs, `NodeCandidate`).
public protocol NodeCandidate: Sendable, Hashable {
    /// The device or structure.
    var homeObject: any HomeObject { get }
    /// The types of which the device has the trait.
    var deviceTypes: [any DeviceType.Type] { get }
    /// The trait.
    var trait: any Trait.Type { get }
    /// The fields of the command, event or trait, and what they accept.
    var fieldDetails: [AnyField: FieldDetails] { get }
    /// Why it cannot be used now; empty if it can.
    var unsupportedReasons: [UnsupportedCandidateReason] { get }
}

/// A candidate for an action.
public protocol ActionCandidate: NodeCandidate {}

/// A candidate for a starter.
public protocol StarterCandidate: NodeCandidate {}

/// A candidate for a state reader.
public protocol StateReaderCandidate: NodeCandidate {}

/// What all candidates have.
struct CandidateContent: Sendable, Hashable {
    let homeObject: any HomeObject
    let deviceTypes: [any DeviceType.Type]
    let trait: any Trait.Type
    let fieldDetails: [AnyField: FieldDetails]
    let unsupportedReasons: [UnsupportedCandidateReason]

    static func == (first: CandidateContent, second: CandidateContent) -> Bool {
        AnyHashable(first.homeObject) == AnyHashable(second.homeObject)
            && first.deviceTypes.map { $0.identifier } == second.deviceTypes.map { $0.identifier }
            && first.trait.identifier == second.trait.identifier && first.fieldDetails == second.fieldDetails
            && first.unsupportedReasons == second.unsupportedReasons
    }

    func hash(into hasher: inout Hasher) {
        hasher.combine(homeObject.id)
        hasher.combine(trait.identifier)
    }
}

/// A candidate that has all of it.
protocol ContentCandidate: NodeCandidate {
    var content: CandidateContent { get }
}

extension ContentCandidate {
    public var homeObject: any HomeObject { content.homeObject }
    public var deviceTypes: [any DeviceType.Type] { content.deviceTypes }
    public var trait: any Trait.Type { content.trait }
    public var fieldDetails: [AnyField: FieldDetails] { content.fieldDetails }
    public var unsupportedReasons: [UnsupportedCandidateReason] { content.unsupportedReasons }
}

/// A command that an action can send (Home APIs, `CommandCandidate`).
public struct CommandCandidate: ActionCandidate, ContentCandidate {
    let content: CandidateContent
    /// The command.
    public let command: any Command.Type

    public static func == (first: CommandCandidate, second: CommandCandidate) -> Bool {
        first.content == second.content && first.command.identifier == second.command.identifier
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(content)
        hasher.combine(command.identifier)
    }
}

/// An event that a starter can wait for (Home APIs, `EventCandidate`).
public struct EventCandidate: StarterCandidate, ContentCandidate {
    let content: CandidateContent
    /// The event.
    public let event: any Event.Type

    public static func == (first: EventCandidate, second: EventCandidate) -> Bool {
        first.content == second.content && first.event.identifier == second.event.identifier
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(content)
        hasher.combine(event.identifier)
    }
}

/// A trait whose attributes can start an automation, be read and be written (Home APIs, `TraitAttributesCandidate`).
public struct TraitAttributesCandidate: StarterCandidate, StateReaderCandidate, ActionCandidate, ContentCandidate {
    let content: CandidateContent
    /// Whether a change of the attributes can start an automation.
    public let canStart: Bool
    /// Whether a state reader can read them.
    public let canBeRead: Bool
    /// Whether an action can write some of them.
    public let canBeWritten: Bool
}

/// Why a candidate cannot be used now (Home APIs, `UnsupportedCandidateReason`).
public struct UnsupportedCandidateReason: Sendable, Hashable {
    /// The reasons.
    public enum ReasonType: String, Sendable, Hashable {
        /// The structure has no address.
        case missingStructureAddressSetup
        /// Nothing reports who is at home.
        case missingPresenceSensingSetup
        /// It needs a subscription that the home does not have. This gateway does not need one.
        case missingSubscription
        /// The gateway does not have the feature.
        case featureNotAvailable
        case unknown
    }

    /// The reason.
    public let reasonType: ReasonType

    /// Names a reason.
    public init(reasonType: ReasonType) { self.reasonType = reasonType }
}

/// A candidate of a structure or a device.
public struct Candidate: Sendable, Hashable {
    /// What it is: ``CommandCandidate``, ``EventCandidate`` or ``TraitAttributesCandidate``.
    public let node: any NodeCandidate

    public static func == (first: Candidate, second: Candidate) -> Bool {
        AnyHashable(first.node) == AnyHashable(second.node)
    }

    public func hash(into hasher: inout Hasher) { hasher.combine(AnyHashable(node)) }
}
