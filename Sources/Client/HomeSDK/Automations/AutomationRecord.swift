import AutomationGraph
import Foundation
import HomeTypes

/// An automation as the gateway sends it.
struct AutomationRecord: Sendable, Hashable, Decodable {
    var id: String
    var structureID: String
    var name: String
    var description: String
    var isActive: Bool
    var isValid: Bool
    var isRunning: Bool
    var manuallyExecutable: Bool
    var isUnderstood: Bool
    var maxExecutionCount: Int32?
    var customData: [String: String]
    var validationIssues: [ValidationIssue]
    var graph: Graph
    /// When its definition last changed. A run does not change it.
    var changedAt: String

    private enum CodingKeys: CodingKey {
        case id, structureID, name, description, isActive, isValid, isRunning, manuallyExecutable, isUnderstood
        case maxExecutionCount, customData, validationIssues, automationGraph, changedAt
    }

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        id = try container.decode(String.self, forKey: .id)
        structureID = try container.decode(String.self, forKey: .structureID)
        name = try container.decode(String.self, forKey: .name)
        description = try container.decode(String.self, forKey: .description)
        isActive = try container.decode(Bool.self, forKey: .isActive)
        isValid = try container.decode(Bool.self, forKey: .isValid)
        isRunning = try container.decode(Bool.self, forKey: .isRunning)
        manuallyExecutable = try container.decode(Bool.self, forKey: .manuallyExecutable)
        isUnderstood = try container.decode(Bool.self, forKey: .isUnderstood)
        maxExecutionCount = try container.decodeIfPresent(Int32.self, forKey: .maxExecutionCount)
        customData = try container.decodeIfPresent([String: String].self, forKey: .customData) ?? [:]
        validationIssues = try container.decode([[String: JSONObject.Value]].self, forKey: .validationIssues)
            .compactMap { ValidationIssue(json: $0) }
        let form = try container.decode(JSONObject.Value.self, forKey: .automationGraph)
        graph = try Graph(json: JSONEncoder().encode(form))
        changedAt = try container.decode(String.self, forKey: .changedAt)
    }
}

/// The automations of a structure as the gateway sends them.
struct AutomationRecords: Sendable, Decodable {
    var automations: [AutomationRecord]
}

/// The body of a request that creates or changes an automation.
struct AutomationFields: Sendable {
    var name: String?
    var description: String?
    var isActive: Bool?
    /// nil for no change; a value of nil removes the limit.
    var maxExecutionCount: Int32??
    var customData: [String: String]?
    var graph: Graph?

    /// The body as JSON.
    var json: Data {
        get throws(HomeError) {
            var object = JSONObject()
            object.members["name"] = name.map { .text($0) }
            object.members["description"] = description.map { .text($0) }
            object.members["isActive"] = isActive.map { .bool($0) }
            object.members["maxExecutionCount"] = maxExecutionCount.map { $0.map { .integer(Int64($0)) } ?? .null }
            object.members["customData"] = customData.map { .object($0.mapValues { .text($0) }) }
            do {
                let members = try JSONEncoder().encode(object)
                guard let graph else { return members }
                // The graph is added as its own text: a number in a part that a later version added keeps its digits.
                let separator = object.members.isEmpty ? "" : ","
                return members.dropLast() + Data("\(separator)\"automationGraph\":\(graph.json)}".utf8)
            } catch {
                throw .encodingFailed("the automation cannot be written as JSON: \(error)")
            }
        }
    }
}
