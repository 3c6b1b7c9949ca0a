import AutomationGraph
import Foundation
import HomeTypes

extension GraphValidator {
    mutating func validateAction(_ action: GraphAction, _ path: String) {
        if let deferral = action.deferral, !(Duration.seconds(1)...Duration.seconds(86_400)).contains(deferral) {
            report(path, .delayDurationOutOfRange(deferral))
        }
        guard let found = find(action.target, path) else { return }
        let entity = action.target.entity.id
        validateConsequences(action, found.trait, path)
        if let name = BlockedActions.name(of: action.behaviour, trait: found.trait.name, types: found.types),
            !home.permitsBlockedActions, !home.unlockableDevices.contains(entity)
        {
            report(path, .blockedAction(id: name))
        }
        switch action.behaviour {
        case .command(let name, let parameters):
            guard let command = Vocabulary.command(named: name, of: found.trait) else {
                return report(path, .invalidCommand(id: name, trait: found.trait.name))
            }
            if let accepted = found.state?.acceptedCommands, !accepted.contains(command.id) {
                report(
                    path,
                    .unsupportedEntityCommand(
                        id: command.name, entityID: entity, entityType: action.target.deviceType))
            }
            validate(
                parameters, Schema.fields(of: command), .command(command.name), path, entity: entity, record: command)
            validateSound(parameters["chimeID"], found, entity, path)
        case .update(let attributes): validateUpdate(attributes, found, entity, path)
        }
    }

    /// An action may start the automation again: it changes what a starter watches, or it can be heard.
    private mutating func validateConsequences(_ action: GraphAction, _ trait: any Trait.Type, _ path: String) {
        let changed = [trait.name] + (trait.name == Google.ChimeTrait.name ? [Google.CameraSoundTrait.name] : [])
        let entity = action.target.entity
        for name in changed where startingTraits.contains(GraphTrait(entity, trait: name)) {
            report(path, .triggersItself(entityID: entity.id, trait: name), .warning)
        }
    }

    /// A chime plays only the sounds that it has.
    private mutating func validateSound(
        _ number: JSONObject.Value?, _ found: Found, _ entity: String, _ path: String
    ) {
        guard case .integer(let number)? = number,
            let sounds = (found.state as? Google.ChimeTrait)?.installedChimeSounds,
            !sounds.contains(where: { Int64($0.chimeID) == number })
        else { return }
        let list = sounds.map { "\($0.chimeID) (\($0.name))" }.joined(separator: ", ")
        report(
            path,
            .unsupportedEntityParameterValue(
                constraint: "chimeID: expected one of \(list)", .command("playChimeSound"), entityID: entity))
    }

    private mutating func validateUpdate(
        _ attributes: [String: JSONObject.Value], _ found: Found, _ entity: String, _ path: String
    ) {
        let id = ValidationIssueType.BehaviorID.trait(found.trait.name)
        if attributes.isEmpty { report(path, .missingRequiredParameters(parameterNames: ["an attribute"], id)) }
        let writable = Schema.attributes(of: found.trait).filter { found.trait.writableAttributes.contains($0.name) }
        let supported = found.state?.supportedAttributes
        for name in attributes.keys.sorted() where writable.contains(where: { $0.name == name }) {
            if let supported, !supported.contains(name) {
                report(path, .unsupportedEntityParameter(parameterName: name, id, entityID: entity), .warning)
            }
        }
        // The device decides which attributes may be null.
        let values = attributes.filter { name, value in
            value != .null || !writable.contains { $0.name == name }
        }
        validate(values, writable, id, path, entity: entity, record: found.trait)
    }

    mutating func validateEvent(_ event: any Event.Type, _ starter: GraphEventStarter, _ path: String) {
        let id = ValidationIssueType.BehaviorID.event(event.name)
        let entity = starter.source.entity.id
        let isClock = event.trait.name == "Time"
        // A clock event needs its rule. Other events start for all values of fields that are not named.
        let fields = Schema.fields(of: event)
        let before = issues.count
        if isClock, event.name == "Scheduled", starter.parameters["clockTime"] == nil,
            starter.parameters["solarTime"] == nil
        {
            report(path, .missingRequiredParameters(parameterNames: ["clockTime or solarTime"], id))
        }
        validate(
            starter.parameters, fields, id, path, entity: entity, record: event, mayBePartial: !isClock)
        // The vocabulary knows neither which of the times exclude each other nor what a cron expression is.
        if isClock, issues.count == before, let fault = ScheduleRule.fault(of: event.name, starter.parameters) {
            report(path, .unsupportedEntityParameterValue(constraint: fault, id, entityID: entity))
        }
        if isClock, starter.parameters["solarTime"] != nil, !home.hasCoordinates {
            report(path, .missingStructureAddress(structureID: entity), .warning)
        }
    }

    /// Checks values against the fields that they are for.
    private mutating func validate(
        _ values: [String: JSONObject.Value], _ fields: [FieldSchema], _ id: ValidationIssueType.BehaviorID,
        _ path: String, entity: String, record: any VocabularyRecord.Type, mayBePartial: Bool = false
    ) {
        let before = issues.count
        for (name, value) in values.sorted(by: { $0.key < $1.key }) {
            guard let field = fields.first(where: { $0.name == name }) else {
                report(path, .invalidParameter(parameterName: name, id))
                continue
            }
            if value == .null {
                if !field.isNullable { report(path, .invalidNullParameterValue(parameterName: name, id)) }
            } else if !field.kind.accepts(value) {
                report(
                    path,
                    .invalidParameterType(
                        parameterName: name, id, expected: field.kind.words, actual: value.words))
            }
        }
        let missing = fields.filter { $0.isRequired && values[$0.name] == nil }.map(\.name)
        if !missing.isEmpty, !mayBePartial { report(path, .missingRequiredParameters(parameterNames: missing, id)) }
        // The vocabulary's own constraints need a whole record of the right kinds.
        guard issues.count == before, !mayBePartial || missing.isEmpty else { return }
        if let fault = record.fault(in: values) {
            report(path, .unsupportedEntityParameterValue(constraint: fault, id, entityID: entity))
        }
    }
}

extension ScheduleRule {
    /// Why the parameters of an event of the trait `Time` are not a rule; nil if they are one.
    fileprivate static func fault(of event: String, _ parameters: [String: JSONObject.Value]) -> String? {
        do throws(HomeError) {
            _ = try ScheduleRule(event: event, parameters: parameters)
            return nil
        } catch {
            return error.message
        }
    }
}

extension VocabularyRecord {
    /// What is wrong with the values of a record; nil if nothing is.
    fileprivate static func fault(in values: [String: JSONObject.Value]) -> String? {
        do {
            let record = try JSONDecoder().decode(Self.self, from: JSONEncoder().encode(values))
            try record.validate()
            return nil
        } catch let error as HomeError {
            return error.message
        } catch let error as DecodingError {
            return HomeError(error).message
        } catch {
            return "\(error)"
        }
    }
}

extension Trait {
    fileprivate var json: [String: JSONObject.Value]? {
        if case .object(let members)? = try? JSONObject.Value(encoding: attributes) { members } else { nil }
    }

    /// The names of the attributes that the device supports; nil if it has not reported any.
    fileprivate var supportedAttributes: Set<String>? {
        json.flatMap { $0.isEmpty ? nil : Set($0.keys) }
    }

    /// The numbers of the commands that the device accepts; nil if it does not list them.
    fileprivate var acceptedCommands: Set<UInt32>? {
        guard case .list(let numbers) = json?["acceptedCommandList"] else { return nil }
        return Set(
            numbers.compactMap { if case .integer(let number) = $0 { UInt32(exactly: number) } else { nil } })
    }
}

extension FieldKind {
    /// Whether a value of JSON is of this kind.
    func accepts(_ value: JSONObject.Value) -> Bool {
        switch (self, value) {
        case (.bool, .bool), (.text, .text), (.octets, .text), (.number, .integer), (.number, .number),
            (.number, .large):
            true
        case (.signed(let bits), .integer(let number)):
            bits == 64 || (-(Int64(1) << (bits - 1))..<Int64(1) << (bits - 1)).contains(number)
        case (.unsigned(let bits), .integer(let number)): number >= 0 && (bits == 64 || number < Int64(1) << bits)
        case (.bitmap, .integer(let number)): number >= 0 && number <= Int64(UInt32.max)
        case (.unsigned(64), .large): true
        case (.choice(let names), .text(let name)): names.contains(name)
        case (.list(let kind), .list(let items)): items.allSatisfy { kind.accepts($0) }
        case (.record(let fields), .object(let members)):
            members.allSatisfy { name, value in
                fields.contains { $0.name == name && (value == .null ? $0.isNullable : $0.kind.accepts(value)) }
            } && fields.allSatisfy { !$0.isRequired || members[$0.name] != nil }
        default: false
        }
    }
}

extension JSONObject.Value {
    /// The value in a few words.
    var words: String {
        switch self {
        case .null: "null"
        case .bool(let value): "\(value)"
        case .integer(let value): "\(value)"
        case .large(let value): "\(value)"
        case .number(let value): "\(value)"
        case .text(let value): "the string \(value.prefix(40))"
        case .list: "a list"
        case .object: "an object"
        }
    }
}
