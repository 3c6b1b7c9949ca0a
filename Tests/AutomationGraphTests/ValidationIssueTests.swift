import AutomationGraph
import HomeTypes
import Testing

/// The JSON form of issues.
@Suite struct ValidationIssueTests {
    private static let types: [ValidationIssueType] = [
        .automationTooLarge(byteCount: 300_000, limit: 262_144), .blockedAction(id: "unlockDoor"),
        .conditionDurationOutOfRange(.seconds(1)), .delayDurationOutOfRange(.milliseconds(1_500)),
        .suppressionDurationOutOfRange(.seconds(90_000)), .duplicateStarterNode(reference: "n1"),
        .invalidArgumentCount(.between, count: 2), .invalidArgumentsForOperator(.equals),
        .invalidCommand(id: "fly", trait: "OnOff"), .invalidConditionType, .invalidCustomCameraEventQuery,
        .invalidDuration(.seconds(-1)), .invalidDurationExpressionType, .invalidEntity(id: "d1"),
        .invalidEntityExpressionType, .invalidEvent(id: "Boom", trait: "OnOff"), .invalidField(name: "colour"),
        .invalidNullParameterValue(parameterName: "level", .command("moveToLevel")),
        .invalidOperand(.and, expected: "a Boolean"), .invalidParameter(parameterName: "colour", .event("Scheduled")),
        .invalidParameterType(parameterName: "onOff", .trait("OnOff"), expected: "a Boolean", actual: "a number"),
        .invalidReference("n9"), .invalidTrait(id: "Weather"), .misplacedSelectFlow, .misplacedStarterNode,
        .missingRequiredParameters(parameterNames: ["level", "rate"], .command("move")), .missingStarterNode,
        .tooManyNodes(nodeCount: 501, nodeCountLimit: 500),
        .unsupportedEntityCommand(id: "on", entityID: "d1"), .unsupportedEntityEvent(id: "Motion", entityID: "d1"),
        .unsupportedEntityTrait(id: "OnOff", entityID: "d1"),
        .unsupportedEntityParameter(parameterName: "rate", .command("move"), entityID: "d1"),
        .unsupportedEntityParameterValue(constraint: "at most 254", .command("move"), entityID: "d1"),
        .unsupportedEntityType(entityType: "Fan", entityID: "d1", supportedTypes: ["Light"]),
        .unsupportedNodeOutput(nodeType: "delay"), .unknown(detail: "something else"), .delayWithoutEffect,
        .unreachableBranch, .triggersItself(entityID: "d1", trait: "OnOff"),
        .missingStructureAddress(structureID: "s1"), .offlineDevice(entityID: "d1", days: 8),
        .misplacedFlow("a choice is in a parallel flow"), .tooManyBranches(branchCount: 65, branchCountLimit: 64),
        .starterWithoutChanges(entityID: "s1", trait: "Time"),
        .unsupportedEntityCommand(id: "on", entityID: "d1", entityType: "FanDeviceType"),
        .unsupportedEntityEvent(id: "Motion", entityID: "d1", entityType: "FanDeviceType"),
        .unsupportedEntityTrait(id: "OnOff", entityID: "d1", entityType: "FanDeviceType"),
    ]

    @Test func `the words for a delay say what it must be and what it should be`() {
        #expect(
            ValidationIssueType.delayDurationOutOfRange(.seconds(3)).words
                == "a delay must be from 1 second to 24 hours, and should be at least 5 seconds; this one is 3 s")
        #expect(
            ValidationIssueType.invalidReference("n7").words
                == "no starter or state reader before this node has the id n7; give one this id, or put it earlier")
    }

    @Test(arguments: types) func `an issue is read as it was written`(type: ValidationIssueType) {
        let issue = ValidationIssue("automationGraph.nodes[1]", .warning, type)
        #expect(ValidationIssue(json: issue.json.members) == issue)
        #expect(issue.json.members["message"] == .text(type.words))
    }

    @Test func `a value that is nil is left out, and a parameter belongs to a behavior`() {
        let source = ValidationIssueType.BehaviorID.event("Scheduled")
        let issue = ValidationIssue("p", .error, .invalidParameter(parameterName: "colour", source))
        #expect(issue.json.members["event"] == .text("Scheduled"))
        let bare = ValidationIssue("p", .error, .unsupportedEntityTrait(id: "OnOff", entityID: "s1"))
        #expect(bare.json.members["entityID"] == .text("s1") && bare.json.members["entityType"] == nil)
    }

    @Test func `a type of a later version keeps its message, and an issue without a path is none`() {
        let later: [String: JSONObject.Value] = [
            "path": .text("automationGraph"), "severity": .text("error"), "type": .text("TooBlue"),
            "message": .text("it is too blue; choose red"),
        ]
        #expect(
            ValidationIssue(json: later)
                == ValidationIssue("automationGraph", .error, .unknown(detail: "it is too blue; choose red")))
        #expect(ValidationIssue(json: ["type": .text("InvalidTrait")]) == nil)
        let broken = ValidationIssue(
            json: ["path": .text("p"), "type": .text("InvalidDuration"), "duration": .bool(true)])
        #expect(broken?.type == .unknown(detail: "InvalidDuration"))
    }
}
