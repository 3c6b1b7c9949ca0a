import AutomationGraph
import Foundation
import GatewayClient
import HomeTypes

/// The automations of a structure (Home APIs, `AutomationManager`).
public protocol AutomationManager {
    /// The automations that this app has created; for an administrator, all.
    func listAutomations() async throws -> [any Automation]
    /// Creates an automation.
    /// - Throws: `invalidArgument` if it is refused. `validationIssues(of:)` of the error lists all reasons.
    func createAutomation(_ draft: any DraftAutomation) async throws -> any Automation
    /// Deletes an automation.
    /// - Throws: `notFound` if this app has no automation with this identifier.
    func deleteAutomation(id: String) async throws
    /// Deletes an automation.
    /// - Throws: `notFound` if it has been deleted already.
    func deleteAutomation(_ automation: any Automation) async throws
}

extension Structure: AutomationManager {
    private var automationsPath: String { "/v1/structures/\(GatewayConnection.segment(id))/automations" }

    public func listAutomations() async throws -> [any Automation] {
        let answer: AutomationRecords = try await model.request(.get, automationsPath)
        return answer.automations.map { StoredAutomation(model: model, record: $0) }
    }

    public func createAutomation(_ draft: any DraftAutomation) async throws -> any Automation {
        guard draft.id.isEmpty else {
            throw HomeError.invalidArgument(
                "the draft names the id \(draft.id); leave it out, because the gateway chooses the ids")
        }
        guard draft.structureID.isEmpty || draft.structureID == id else {
            throw HomeError.invalidArgument(
                "the draft is for the structure \(draft.structureID), not for \(id); create it there, or leave it out")
        }
        guard let nodes = draft.automationGraph?.content else {
            throw HomeError.invalidArgument("the draft has no graph that this version of the library knows")
        }
        let fields = AutomationFields(
            name: draft.name, description: draft.description, isActive: draft.isActive, graph: Graph(nodes).numbered)
        var request = model.automationRequest(.post, automationsPath)
        request.body = try fields.json
        // A request that is repeated after a lost connection creates one automation.
        request.idempotencyKey = UUID().uuidString
        return try model.automation(try await model.connection.sendRepeatedly(request).body)
    }

    public func deleteAutomation(id: String) async throws {
        try await model.request(.delete, "/v1/automations/\(GatewayConnection.segment(id))")
    }

    public func deleteAutomation(_ automation: any Automation) async throws {
        try await deleteAutomation(id: automation.id)
    }

    /// What automations of this structure can start with, read and do.
    /// - Parameter includeDescendants: whether the devices of the structure are included.
    public func candidates(includeDescendants: Bool = true) -> CandidateQuery {
        CandidateQuery(model: model, structureID: id, scope: includeDescendants ? .everything : .structure)
    }

    /// What automations can start with, read and do on a device.
    public func candidates(for device: HomeDevice) -> CandidateQuery {
        CandidateQuery(model: model, structureID: id, scope: .device(device.id))
    }
}
