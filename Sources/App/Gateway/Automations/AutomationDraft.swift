import Automation
import AutomationGraph
import Foundation
import HomeTypes

/// What a client sends to make or change an automation. A member that is missing stays as it is.
struct AutomationDraft: Sendable {
    var name: String?
    var description: String?
    var isActive: Bool?
    /// nil: as it is; a value of nil takes the limit away.
    var maxExecutionCount: Int32??
    var graceSeconds: Int?
    var customData: [String: String]?
    /// The text of the graph.
    var graph: String?

    /// The members that a draft may have, without its graph.
    private static let known = ["name", "description", "isActive", "maxExecutionCount", "graceSeconds", "customData"]

    /// Reads and checks the body of a request.
    /// - Throws: `invalidArgument`, also for a member that is not known: left out, it might change what the automation
    ///   does. Only its graph may hold what a later version adds.
    init(json: Data) throws(HomeError) {
        let envelope: GraphEnvelope
        do throws(GraphError) {
            envelope = try GraphEnvelope(json: json)
        } catch {
            throw .invalidArgument(error.description)
        }
        let unknown = envelope.members.keys.filter { !Self.known.contains($0) }.sorted()
        if let first = unknown.first {
            let advice = Spelling.advice(for: first, in: Self.known + ["automationGraph"], what: "members")
            throw .invalidArgument("the member \(first.prefix(64).debugDescription) is not known; \(advice)")
        }
        let members = DraftMembers(members: envelope.members)
        graph = envelope.graph
        name = try members.text("name", bytes: AutomationLimits.nameBytes)
        description = try members.text("description", bytes: AutomationLimits.descriptionBytes)
        isActive = try members.bool("isActive")
        customData = try members.texts("customData", bytes: AutomationLimits.customDataBytes)
        if let seconds = try members.integer("graceSeconds", 0...Int64(AutomationLimits.graceSeconds)) {
            graceSeconds = Int(seconds)
        }
        if members.members["maxExecutionCount"] == .null {
            maxExecutionCount = .some(nil)
        } else if let count = try members.integer("maxExecutionCount", 1...Int64(Int32.max)) {
            maxExecutionCount = .some(Int32(count))
        }
        if let name, let fault = NameRules.fault(in: name) { throw .invalidArgument("name \(fault)") }
    }

    /// The graph of the draft, without a sequential flow around all of it.
    /// - Throws: ``AutomationRefusal`` if it is too large, and `HomeError` (`invalidArgument`) with the place if it is missing
    ///   or cannot be read.
    func readGraph() throws -> Graph {
        guard let graph else {
            throw HomeError.invalidArgument(
                "automationGraph is missing: an automation needs a graph with version and nodes")
        }
        do throws(GraphError) { return try Graph(json: graph).withoutOuterFlow } catch {
            guard error.kind == .tooLarge else { throw HomeError.invalidArgument(error.description) }
            let issue = ValidationIssueType.automationTooLarge(byteCount: graph.utf8.count, limit: GraphLimits.bytes)
            throw AutomationRefusal(issues: [ValidationIssue("automationGraph", .error, issue)])
        }
    }
}

/// Reads single members of a JSON object, and says what is wrong with one.
private struct DraftMembers {
    let members: [String: JSONObject.Value]

    func text(_ name: String, bytes: Int) throws(HomeError) -> String? {
        guard let value = members[name] else { return nil }
        guard case .text(let text) = value else { throw .invalidArgument("\(name) must be a string") }
        guard text.utf8.count <= bytes else { throw .invalidArgument("\(name) is longer than \(bytes) bytes") }
        return text
    }

    func bool(_ name: String) throws(HomeError) -> Bool? {
        guard let value = members[name] else { return nil }
        guard case .bool(let flag) = value else { throw .invalidArgument("\(name) must be true or false") }
        return flag
    }

    func integer(_ name: String, _ range: ClosedRange<Int64>) throws(HomeError) -> Int64? {
        guard let value = members[name] else { return nil }
        guard case .integer(let number) = value, range.contains(number) else {
            throw .invalidArgument(
                "\(name) must be an integer from \(range.lowerBound) to \(range.upperBound)")
        }
        return number
    }

    func texts(_ name: String, bytes: Int) throws(HomeError) -> [String: String]? {
        guard let value = members[name] else { return nil }
        guard case .object(let object) = value else { throw .invalidArgument("\(name) must be an object of strings") }
        var texts: [String: String] = [:]
        var size = 0
        for (key, value) in object {
            guard case .text(let text) = value else { throw .invalidArgument("\(name): each value must be a string") }
            size += key.utf8.count + text.utf8.count
            texts[key] = text
        }
        guard size <= bytes else {
            throw .invalidArgument("\(name) has \(size) bytes; at most \(bytes) are allowed")
        }
        return texts
    }
}
