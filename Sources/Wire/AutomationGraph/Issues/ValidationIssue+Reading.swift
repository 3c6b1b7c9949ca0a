import HomeTypes

extension ValidationIssue {
    /// Reads an issue as the HTTP API shows it; nil without a path. A type that this version does not know becomes `unknown`
    /// with the message.
    public init?(json: [String: JSONObject.Value]) {
        let payload = IssuePayload(members: json)
        guard let path = payload.text("path") else { return nil }
        let severity = payload.text("severity").flatMap { ValidationIssueSeverity(rawValue: $0) }
        self.init(path, severity ?? .unknown, ValidationIssueType(payload: payload))
    }
}

/// The members of an issue's JSON form.
struct IssuePayload {
    let members: [String: JSONObject.Value]

    func text(_ name: String) -> String? {
        if case .text(let text)? = members[name] { text } else { nil }
    }

    func integer(_ name: String) -> Int? {
        switch members[name] {
        case .integer(let value)?: Int(exactly: value)
        case .number(let value)?: Int(exactly: value)
        default: nil
        }
    }

    func texts(_ name: String) -> [String]? {
        guard case .list(let items)? = members[name] else { return nil }
        return items.compactMap { if case .text(let text) = $0 { text } else { nil } }
    }

    var duration: Duration? {
        switch members["duration"] {
        case .integer(let seconds)?: .seconds(seconds)
        // A Duration that is made of more seconds than this traps.
        case .number(let seconds)? where abs(seconds) < 1e18: .seconds(seconds)
        default: nil
        }
    }

    var operation: GraphOperator? { text("operator").flatMap { GraphOperator(rawValue: $0) } }

    var owner: ValidationIssueType.BehaviorID? {
        if let id = text("command") { return .command(id) }
        if let id = text("event") { return .event(id) }
        return text("trait").map { .trait($0) }
    }
}

extension ValidationIssueType {
    init(payload: IssuePayload) {
        let name = payload.text("type") ?? ""
        let known =
            Self.plain(name) ?? Self.duration(name, payload) ?? Self.count(name, payload)
            ?? Self.entity(name, payload) ?? Self.expression(name, payload) ?? Self.parameter(name, payload)
        self = known ?? .unknown(detail: payload.text("detail") ?? payload.text("message") ?? name)
    }

    private static func plain(_ name: String) -> Self? {
        let types: [Self] = [
            .invalidConditionType, .invalidCustomCameraEventQuery, .invalidDurationExpressionType,
            .invalidEntityExpressionType, .misplacedSelectFlow, .misplacedStarterNode, .missingStarterNode,
            .delayWithoutEffect, .unreachableBranch,
        ]
        return types.first { $0.name == name }
    }

    private static func duration(_ name: String, _ payload: IssuePayload) -> Self? {
        guard let duration = payload.duration else { return nil }
        return switch name {
        case "ConditionDurationOutOfRange": .conditionDurationOutOfRange(duration)
        case "DelayDurationOutOfRange": .delayDurationOutOfRange(duration)
        case "SuppressionDurationOutOfRange": .suppressionDurationOutOfRange(duration)
        case "InvalidDuration": .invalidDuration(duration)
        default: nil
        }
    }

    private static func count(_ name: String, _ payload: IssuePayload) -> Self? {
        func pair(_ first: String, _ second: String) -> (Int, Int)? {
            guard let count = payload.integer(first), let limit = payload.integer(second) else { return nil }
            return (count, limit)
        }
        return switch name {
        case "AutomationTooLarge": pair("byteCount", "limit").map { .automationTooLarge(byteCount: $0, limit: $1) }
        case "TooManyNodes":
            pair("nodeCount", "nodeCountLimit").map { .tooManyNodes(nodeCount: $0, nodeCountLimit: $1) }
        case "TooManyBranches":
            pair("branchCount", "branchCountLimit").map { .tooManyBranches(branchCount: $0, branchCountLimit: $1) }
        default: nil
        }
    }

    private static func entity(_ name: String, _ payload: IssuePayload) -> Self? {
        let (id, entity, trait) = (payload.text("id"), payload.text("entityID"), payload.text("trait"))
        switch (name, id, entity, trait) {
        case ("BlockedAction", let id?, _, _): return .blockedAction(id: id)
        case ("InvalidEntity", let id?, _, _): return .invalidEntity(id: id)
        case ("InvalidTrait", let id?, _, _): return .invalidTrait(id: id)
        case ("InvalidCommand", let id?, _, let trait?): return .invalidCommand(id: id, trait: trait)
        case ("InvalidEvent", let id?, _, let trait?): return .invalidEvent(id: id, trait: trait)
        case ("UnsupportedEntityCommand", let id?, let entity?, _):
            return .unsupportedEntityCommand(id: id, entityID: entity, entityType: payload.text("entityType"))
        case ("UnsupportedEntityEvent", let id?, let entity?, _):
            return .unsupportedEntityEvent(id: id, entityID: entity, entityType: payload.text("entityType"))
        case ("UnsupportedEntityTrait", let id?, let entity?, _):
            return .unsupportedEntityTrait(id: id, entityID: entity, entityType: payload.text("entityType"))
        case ("TriggersItself", _, let entity?, let trait?): return .triggersItself(entityID: entity, trait: trait)
        case ("StarterWithoutChanges", _, let entity?, let trait?):
            return .starterWithoutChanges(entityID: entity, trait: trait)
        case ("OfflineDevice", _, let entity?, _):
            return payload.integer("days").map { .offlineDevice(entityID: entity, days: $0) }
        case ("UnsupportedEntityType", _, let entity?, _):
            guard let type = payload.text("entityType") else { return nil }
            return .unsupportedEntityType(
                entityType: type, entityID: entity, supportedTypes: payload.texts("supportedTypes") ?? [])
        case ("MissingStructureAddress", _, _, _):
            return payload.text("structureID").map { .missingStructureAddress(structureID: $0) }
        default: return nil
        }
    }

    private static func expression(_ name: String, _ payload: IssuePayload) -> Self? {
        switch name {
        case "DuplicateStarterNode": return payload.text("reference").map { .duplicateStarterNode(reference: $0) }
        case "InvalidReference": return payload.text("reference").map { .invalidReference($0) }
        case "InvalidField": return payload.text("name").map { .invalidField(name: $0) }
        case "UnsupportedNodeOutput": return payload.text("nodeType").map { .unsupportedNodeOutput(nodeType: $0) }
        case "MisplacedFlow": return payload.text("reference").map { .misplacedFlow($0) }
        case "InvalidArgumentsForOperator": return payload.operation.map { .invalidArgumentsForOperator($0) }
        case "InvalidArgumentCount":
            guard let operation = payload.operation, let count = payload.integer("count") else { return nil }
            return .invalidArgumentCount(operation, count: count)
        case "InvalidOperand":
            guard let operation = payload.operation, let expected = payload.text("expected") else { return nil }
            return .invalidOperand(operation, expected: expected)
        default: return nil
        }
    }

    private static func parameter(_ name: String, _ payload: IssuePayload) -> Self? {
        guard let owner = payload.owner else { return nil }
        switch (name, payload.text("parameterName"), payload.text("entityID")) {
        case ("InvalidNullParameterValue", let parameter?, _):
            return .invalidNullParameterValue(parameterName: parameter, owner)
        case ("InvalidParameter", let parameter?, _): return .invalidParameter(parameterName: parameter, owner)
        case ("InvalidParameterType", let parameter?, _):
            guard let expected = payload.text("expected"), let actual = payload.text("actual") else { return nil }
            return .invalidParameterType(parameterName: parameter, owner, expected: expected, actual: actual)
        case ("MissingRequiredParameters", _, _):
            return .missingRequiredParameters(parameterNames: payload.texts("parameterNames") ?? [], owner)
        case ("UnsupportedEntityParameter", let parameter?, let entity?):
            return .unsupportedEntityParameter(parameterName: parameter, owner, entityID: entity)
        case ("UnsupportedEntityParameterValue", _, let entity?):
            return .unsupportedEntityParameterValue(
                constraint: payload.text("constraint") ?? "", owner, entityID: entity)
        default: return nil
        }
    }
}
