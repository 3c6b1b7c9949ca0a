import HomeTypes

/// What can be wrong with a graph (Home APIs, `ValidationIssueType`). The cases from `delayWithoutEffect` on are ours.
///
/// An `entityType` is the type through which a node names a device; nil where it names none.
public enum ValidationIssueType: Sendable, Hashable {
    /// What a parameter belongs to.
    public enum BehaviorID: Sendable, Hashable {
        case command(String)
        case event(String)
        case trait(String)
    }

    case automationTooLarge(byteCount: Int, limit: Int)
    case blockedAction(id: String)
    case conditionDurationOutOfRange(Duration)
    case delayDurationOutOfRange(Duration)
    case suppressionDurationOutOfRange(Duration)
    case duplicateStarterNode(reference: String)
    case invalidArgumentCount(GraphOperator, count: Int)
    case invalidArgumentsForOperator(GraphOperator)
    case invalidCommand(id: String, trait: String)
    case invalidConditionType
    /// For the queries of Google's cameras. The gateway's cameras have none, so it is never reported.
    case invalidCustomCameraEventQuery
    case invalidDuration(Duration)
    /// The JSON form has only constant durations, so it is never reported.
    case invalidDurationExpressionType
    case invalidEntity(id: String)
    /// The JSON form has only constant entities, so it is never reported.
    case invalidEntityExpressionType
    case invalidEvent(id: String, trait: String)
    case invalidField(name: String)
    case invalidNullParameterValue(parameterName: String, BehaviorID)
    case invalidOperand(GraphOperator, expected: String)
    case invalidParameter(parameterName: String, BehaviorID)
    case invalidParameterType(parameterName: String, BehaviorID, expected: String, actual: String)
    case invalidReference(String)
    case invalidTrait(id: String)
    case misplacedSelectFlow
    case misplacedStarterNode
    case missingRequiredParameters(parameterNames: [String], BehaviorID)
    case missingStarterNode
    case tooManyNodes(nodeCount: Int, nodeCountLimit: Int)
    case unsupportedEntityCommand(id: String, entityID: String, entityType: String? = nil)
    case unsupportedEntityEvent(id: String, entityID: String, entityType: String? = nil)
    case unsupportedEntityTrait(id: String, entityID: String, entityType: String? = nil)
    case unsupportedEntityParameter(parameterName: String, BehaviorID, entityID: String)
    case unsupportedEntityParameterValue(constraint: String, BehaviorID, entityID: String)
    case unsupportedEntityType(entityType: String, entityID: String, supportedTypes: [String])
    case unsupportedNodeOutput(nodeType: String)
    case unknown(detail: String)

    /// A delay that nothing waits for.
    case delayWithoutEffect
    /// Nodes that can never run.
    case unreachableBranch
    /// An action that may fire a starter of the same automation.
    case triggersItself(entityID: String, trait: String)
    /// A starter for changes that are never reported: of a trait that has only events, or of the time.
    case starterWithoutChanges(entityID: String, trait: String)
    /// The sun's times need the structure's coordinates.
    case missingStructureAddress(structureID: String)
    /// A device that has been offline for this many days.
    case offlineDevice(entityID: String, days: Int)
    /// A flow that cannot be at this place.
    case misplacedFlow(String)
    /// More branches than can run at the same time.
    case tooManyBranches(branchCount: Int, branchCountLimit: Int)
}
