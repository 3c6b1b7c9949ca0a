import HomeTypes

/// A candidate as the gateway sends it.
struct CandidateRecord: Sendable, Hashable, Decodable {
    struct Entity: Sendable, Hashable, Decodable {
        var device: String?
        var structure: String?
    }

    struct Reason: Sendable, Hashable, Decodable {
        var type: String
    }

    struct Field: Sendable, Hashable, Decodable {
        var name: String
        var type: String
        var constraint: JSONObject?
    }

    var kind: String
    var entity: Entity
    var roles: [String]
    var deviceTypes: [String]
    var trait: String
    var command: String?
    var event: String?
    var fields: [Field]
    var unsupportedReasons: [Reason]

    /// The candidate as app code reads it; nil if the app does not know what it needs.
    func candidate(_ object: any HomeObject, _ types: AutomationTypes) -> Candidate? {
        guard let known = Vocabulary.trait(named: trait), types.contains(known) else { return nil }
        let namedTypes = deviceTypes.compactMap { Vocabulary.deviceType(named: $0) }.filter { types.contains($0) }
        // A device whose types the app does not know is not a candidate.
        guard entity.device == nil || !namedTypes.isEmpty else { return nil }
        let content = CandidateContent(
            homeObject: object, deviceTypes: namedTypes, trait: known,
            fieldDetails: Dictionary(
                fields.map { (AnyField(name: $0.name, type: $0.type), $0.details) },
                uniquingKeysWith: { first, _ in first }),
            unsupportedReasons: unsupportedReasons.map {
                UnsupportedCandidateReason(reasonType: .init(rawValue: $0.type) ?? .unknown)
            })
        switch kind {
        case "command":
            return command.flatMap { Vocabulary.command(named: $0, of: known) }
                .map { Candidate(node: CommandCandidate(content: content, command: $0)) }
        case "event":
            return event.flatMap { Vocabulary.event(named: $0, of: known) }
                .map { Candidate(node: EventCandidate(content: content, event: $0)) }
        case "attributes":
            return Candidate(
                node: TraitAttributesCandidate(
                    content: content, canStart: roles.contains("starter"), canBeRead: roles.contains("stateReader"),
                    canBeWritten: roles.contains("action")))
        default: return nil
        }
    }
}

/// The candidates of a structure as the gateway sends them.
struct CandidateRecords: Sendable, Hashable, Decodable {
    var candidates: [CandidateRecord]
}

extension CandidateRecord.Field {
    /// What the field accepts. A constraint that this version does not know is left out: the gateway still validates.
    var details: FieldDetails {
        if type == "boolean" { return FieldDetails(constraint: .booleanConstraint) }
        guard let members = constraint?.members else { return FieldDetails(constraint: nil) }
        if case .list(let names)? = members["values"] {
            return FieldDetails(
                constraint: .enumConstraint(
                    Set(names.compactMap { name -> String? in if case .text(let text) = name { text } else { nil } })))
        }
        guard let lower = members["minimum"], let upper = members["maximum"] else {
            return FieldDetails(constraint: nil)
        }
        return FieldDetails(constraint: .range(lower, upper, isUnsigned: type == "unsigned"))
    }
}

extension FieldConstraint {
    /// A range of numbers; nil if the bounds do not form one.
    fileprivate static func range(
        _ lower: JSONObject.Value, _ upper: JSONObject.Value, isUnsigned: Bool
    ) -> FieldConstraint? {
        if isUnsigned, let first = lower.unsigned, let last = upper.unsigned {
            return .uintRangeConstraint(lowerBound: first, upperBound: last)
        }
        if case .integer(let first) = lower, case .integer(let last) = upper {
            return .intRangeConstraint(lowerBound: first, upperBound: last)
        }
        guard let first = lower.double, let last = upper.double else { return nil }
        return .doubleRangeConstraint(lowerBound: first, upperBound: last)
    }
}

extension JSONObject.Value {
    fileprivate var unsigned: UInt64? {
        switch self {
        case .integer(let value): UInt64(exactly: value)
        case .large(let value): value
        default: nil
        }
    }

    fileprivate var double: Double? {
        switch self {
        case .integer(let value): Double(value)
        case .large(let value): Double(value)
        case .number(let value): value
        default: nil
        }
    }
}
