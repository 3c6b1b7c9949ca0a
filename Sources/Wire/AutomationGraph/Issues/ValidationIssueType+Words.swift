import HomeTypes

extension ValidationIssueType {
    /// The issue's name, for example `MissingStarterNode`.
    public var name: String {
        let label = Mirror(reflecting: self).children.first?.label ?? "\(self)"
        return label.prefix(1).uppercased() + label.dropFirst()
    }

    /// What is wrong, and what to do.
    public var words: String {
        switch self {
        case .automationTooLarge(let count, let limit):
            "the automation has \(count) bytes; at most \(limit) are allowed, so split it"
        case .tooManyNodes(let count, let limit):
            "the automation has \(count) nodes; at most \(limit) are allowed, so split it"
        case .tooManyBranches(let count, let limit):
            "\(count) branches would run at the same time; at most \(limit) are allowed, so put some of them in order"
        case .missingStarterNode: "nothing starts this; put a starter or a manual starter before it"
        case .misplacedStarterNode:
            "a starter must be the first node, or in a select that is; move it there"
        case .duplicateStarterNode(let reference): "\(reference) occurs twice; remove one of them"
        case .misplacedSelectFlow: "a select must be the first node of the automation; move it there"
        case .misplacedFlow(let flow): "\(flow); move it out, or put it into an automation of its own"
        case .delayWithoutEffect: "nothing waits for this delay; put it and what it delays into a sequential flow"
        case .unreachableBranch: "this can never run; remove it, or change the condition before it"
        case .unknown(let detail): detail
        default: durationWords ?? behaviourWords ?? expressionWords ?? entityWords
        }
    }

    private var durationWords: String? {
        switch self {
        case .conditionDurationOutOfRange(let duration):
            "a condition must hold for 5 seconds to 24 hours, and this says \(duration.seconds) s; change it"
        case .delayDurationOutOfRange(let duration):
            "a delay must be from 1 second to 24 hours, and should be at least 5 seconds; this one is \(duration.seconds) s"
        case .suppressionDurationOutOfRange(let duration):
            "a suppression must be from 5 seconds to 24 hours, and this is \(duration.seconds) s; change it"
        case .invalidDuration(let duration):
            "\(duration.seconds) s is not a duration; use at most 315576000000 s in either direction"
        default: nil
        }
    }

    private var behaviourWords: String? {
        switch self {
        case .blockedAction(let id): "\(id) needs an explicit right, because it opens something; remove it"
        case .invalidCommand(let id, let trait): "the trait \(trait) has no command \(id); use one of its commands"
        case .invalidEvent(let id, let trait): "the trait \(trait) has no event \(id); use one of its events"
        case .invalidTrait(let id): "the vocabulary has no trait \(id); see the list of traits"
        case .invalidParameter(let name, let id): "\(id.words) has no parameter \(name); remove it"
        case .invalidNullParameterValue(let name, let id): "\(name) of \(id.words) must not be null; give it a value"
        case .invalidParameterType(let name, let id, let expected, let actual):
            "\(name) of \(id.words) must be \(expected), and is \(actual); change it"
        case .missingRequiredParameters(let names, let id):
            "\(id.words) needs \(names.joined(separator: ", ")); add a value"
        case .unsupportedEntityParameter(let name, let id, let entity):
            "\(entity) does not support \(name) of \(id.words); leave it out"
        case .unsupportedEntityParameterValue(let constraint, let id, let entity):
            "\(entity) does not accept this value for \(id.words): \(constraint)"
        default: nil
        }
    }

    private var expressionWords: String? {
        switch self {
        case .invalidArgumentCount(let operation, let count):
            "\(operation.rawValue) takes \(operation.operandCount.words) operands, and has \(count); change that"
        case .invalidArgumentsForOperator(let operation):
            "the operands of \(operation.rawValue) do not fit each other; compare values of one kind"
        case .invalidOperand(let operation, let expected):
            "an operand of \(operation.rawValue) must be \(expected); change it"
        case .invalidConditionType: "a condition must be true or false; compare the value with another one"
        case .invalidField(let name): "there is no field \(name); use one that the value has"
        case .invalidReference(let reference):
            "no starter or state reader before this node has the id \(reference); give one this id, or put it earlier"
        case .unsupportedNodeOutput(let type): "a node of type \(type) has no values to read; refer to another node"
        case .invalidCustomCameraEventQuery: "the query for camera events cannot be read; change it"
        case .invalidDurationExpressionType: "a duration must be constant; use a number of seconds"
        case .invalidEntityExpressionType: "an entity must be constant; use the identifier of a device"
        default: nil
        }
    }

    private var entityWords: String {
        switch self {
        case .invalidEntity(let id): "the structure of the automation has no \(id); choose another device"
        case .unsupportedEntityCommand(let id, let entity, _): "\(entity) does not accept \(id); use another command"
        case .unsupportedEntityEvent(let id, let entity, _): "\(entity) does not send \(id); use another event"
        case .unsupportedEntityTrait(let id, let entity, _):
            "\(entity) does not have the trait \(id) in this type; use another trait"
        case .unsupportedEntityType(let type, let entity, let types):
            "\(entity) is not a \(type); use " + (types.isEmpty ? "no type" : types.joined(separator: " or "))
        case .triggersItself(let entity, let trait):
            "this changes \(trait) of \(entity), which starts the automation again; add a condition or a suppression"
        case .starterWithoutChanges(let entity, let trait):
            "\(entity) reports no changes of \(trait), so this never starts; start with an event of the trait"
        case .missingStructureAddress(let id):
            "the times of the sun need the coordinates of the structure \(id); set its latitude and longitude"
        case .offlineDevice(let entity, let days): "\(entity) has been offline for \(days) days; check the device"
        default: "\(self)"
        }
    }
}

extension ValidationIssueType.BehaviorID {
    fileprivate var words: String {
        switch self {
        case .command(let id): "the command \(id)"
        case .event(let id): "the event \(id)"
        case .trait(let id): "the trait \(id)"
        }
    }
}

extension ClosedRange<Int> {
    fileprivate var words: String { count == 1 ? "\(lowerBound)" : "\(lowerBound) to \(upperBound)" }
}
