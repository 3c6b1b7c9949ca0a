import Automation
import AutomationGraph
import Foundation
import HomeTypes

/// What an automation of a structure can use: the commands, events and attributes of its devices and of the structure.
struct Candidates: Sendable {
    let home: AutomationHomes
    let structure: String
    let access: Access
    /// Whether the config has a receiver of notifications.
    var hasReceivers = false

    /// The reasons for which a candidate cannot be used now (Home APIs, `UnsupportedCandidateReason`).
    enum Reason: String, Sendable {
        case missingStructureAddressSetup, missingPresenceSensingSetup, featureNotAvailable
    }

    /// The traits of the Home APIs that need an assistant that listens and speaks. A gateway has none.
    static let unavailable: [any Trait.Type] = [
        Google.VoiceStarterTrait.self, Google.AssistantBroadcastTrait.self, Google.AssistantFulfillmentTrait.self,
    ]

    /// The candidates of the structure itself, each as JSON.
    func ofStructure() -> [String] {
        guard access.permits(.read, .structure(structure)), let place = home.structures[structure] else { return [] }
        let entity = CandidateFields.json(["structure": .text(structure)])
        let presence = place.traits[Google.AreaPresenceStateTrait.self]?.attributes.presenceState
        let isPresenceKnown = presence != nil && presence != .presenceStateUnspecified
        let isPlaceKnown = place.latitude != nil && place.longitude != nil
        var result: [String] = []
        for trait in [
            Google.TimeTrait.self as any Trait.Type, Google.AreaPresenceStateTrait.self,
            Google.AreaAttendanceStateTrait.self,
        ] {
            let isTime = trait.name == Google.TimeTrait.name
            let reasons: [Reason] = isTime || isPresenceKnown ? [] : [.missingPresenceSensingSetup]
            result += Self.attributes(of: trait, entity, roles: isTime ? ["stateReader"] : nil, reasons: reasons)
            for event in trait.supportedEventTypes {
                // A clock time needs only the time zone, which each structure has.
                let needsSun = event.name == Google.TimeTrait.RecurringSolarTimeScheduledEvent.name
                result.append(
                    Self.candidate(
                        event: event, of: trait, entity,
                        reasons: needsSun && !isPlaceKnown ? [.missingStructureAddressSetup] : reasons))
            }
        }
        for command in Google.NotificationTrait.supportedCommandTypes {
            result.append(
                Self.candidate(
                    command: command, of: Google.NotificationTrait.self, entity,
                    reasons: hasReceivers ? [] : [.featureNotAvailable]))
        }
        for trait in Self.unavailable {
            for event in trait.supportedEventTypes {
                result.append(Self.candidate(event: event, of: trait, entity, reasons: [.featureNotAvailable]))
            }
            for command in trait.supportedCommandTypes {
                result.append(Self.candidate(command: command, of: trait, entity, reasons: [.featureNotAvailable]))
            }
        }
        return result
    }

    /// The candidates of one device, each as JSON.
    func of(_ device: DeviceSnapshot) -> [String] {
        let object = Access.Object.device(device.id, structureID: structure)
        guard access.permits(.read, object) else { return [] }
        let entity = CandidateFields.json(["device": .text(device.id)])
        let controls = access.permits(.control, object)
        let unlocks = access.permits(.unlock, object)
        var result: [String] = []
        for endpoint in device.endpoints where !endpoint.isUtility {
            let types = endpoint.types.filter { Vocabulary.deviceType(named: $0)?.isUtilityType != true }
            for state in endpoint.traits.all {
                let trait = type(of: state)
                let reported = Self.reported(state)
                let isGuarded = BlockedActions.name(of: .update([:]), trait: trait.name, types: types) != nil
                let writes = controls && (!isGuarded || unlocks)
                result += Self.attributes(of: trait, entity, types, reported: reported, writes: writes)
                for event in trait.supportedEventTypes where SentEvents.includes(event.name, of: state) {
                    result.append(Self.candidate(event: event, of: trait, entity, types))
                }
                let accepted = Self.accepted(reported)
                for command in trait.supportedCommandTypes where accepted?.contains(command.id) ?? true {
                    let behaviour = GraphAction.Behaviour.command(command.name, parameters: [:])
                    let isBlocked = BlockedActions.name(of: behaviour, trait: trait.name, types: types) != nil
                    let scopes = Caller.Scope.needed(for: command.name, of: trait.name)
                    guard scopes.allSatisfy({ access.permits($0, object) }), !isBlocked || unlocks else {
                        continue
                    }
                    result.append(Self.candidate(command: command, of: trait, entity, types))
                }
            }
        }
        if device.activeDetections != nil, let types = device.primaryEndpoint?.types {
            for trait in Vocabulary.detectionTraits {
                for event in trait.supportedEventTypes {
                    result.append(Self.candidate(event: event, of: trait, entity, types))
                }
            }
        }
        return result
    }

    // MARK: Parts of the JSON

    private static func attributes(
        of trait: any Trait.Type, _ entity: String, _ types: [String] = [], reported: [String: JSONObject.Value]? = nil,
        writes: Bool = false, roles: [String]? = nil, reasons: [Reason] = []
    ) -> [String] {
        let fields = CandidateFields.attributes(of: trait, reported: reported)
        guard fields != "[]" else { return [] }
        let roles = roles ?? ["starter", "stateReader"]
        return [
            candidate(
                "attributes", of: trait, entity, types,
                roles: writes && !trait.writableAttributes.isEmpty ? roles + ["action"] : roles, fields: fields,
                reasons: reasons)
        ]
    }

    private static func candidate(
        event: any Event.Type, of trait: any Trait.Type, _ entity: String, _ types: [String] = [],
        reasons: [Reason] = []
    ) -> String {
        candidate(
            "event", of: trait, entity, types, roles: ["starter"], member: ",\"event\":\"\(event.name)\"",
            fields: CandidateFields.fields(of: event), reasons: reasons)
    }

    private static func candidate(
        command: any Command.Type, of trait: any Trait.Type, _ entity: String, _ types: [String] = [],
        reasons: [Reason] = []
    ) -> String {
        candidate(
            "command", of: trait, entity, types, roles: ["action"], member: ",\"command\":\"\(command.name)\"",
            fields: CandidateFields.fields(of: command), reasons: reasons)
    }

    /// The names of the vocabulary need no escapes.
    private static func candidate(
        _ kind: String, of trait: any Trait.Type, _ entity: String, _ types: [String], roles: [String],
        member: String = "", fields: String, reasons: [Reason]
    ) -> String {
        func list(_ texts: [String]) -> String { "[" + texts.map { "\"\($0)\"" }.joined(separator: ",") + "]" }
        let reasons = "[" + reasons.map { "{\"type\":\"\($0.rawValue)\"}" }.joined(separator: ",") + "]"
        return "{\"kind\":\"\(kind)\",\"entity\":\(entity),\"roles\":\(list(roles)),\"deviceTypes\":\(list(types)),"
            + "\"trait\":\"\(trait.name)\"\(member),\"fields\":\(fields),\"unsupportedReasons\":\(reasons)}"
    }

    /// The attributes that a device has reported; nil if it has reported none.
    private static func reported(_ trait: any Trait) -> [String: JSONObject.Value]? {
        guard case .object(let members)? = try? JSONObject.Value(encoding: trait), !members.isEmpty else { return nil }
        return members
    }

    /// The numbers of the commands that a device accepts; nil if it does not list them.
    private static func accepted(_ reported: [String: JSONObject.Value]?) -> Set<UInt32>? {
        guard case .list(let numbers)? = reported?["acceptedCommandList"] else { return nil }
        return Set(numbers.compactMap { if case .integer(let number) = $0 { UInt32(exactly: number) } else { nil } })
    }
}
