import AutomationGraph
import Foundation
import GatewayClient
import HomeTypes

/// An automation that a gateway keeps.
struct StoredAutomation: Automation {
    let model: HomeModel
    let record: AutomationRecord

    var id: String { record.id }
    var structureID: String { record.structureID }
    var name: String { record.name }
    var description: String { record.description }
    var isActive: Bool { record.isActive }
    var isValid: Bool { record.isValid }
    var isRunning: Bool { record.isRunning }
    var manuallyExecutable: Bool { record.manuallyExecutable }
    var compatibleWithSdk: Bool { record.isUnderstood && record.graph.isUnderstood }
    var maxExecutionCount: Int32? { record.maxExecutionCount }
    var customData: [String: String] { record.customData }

    var automationGraph: SequentialFlow? {
        record.graph.otherVersion == nil ? SequentialFlow(record.graph.nodes, model.automationTypes) : nil
    }

    var validationIssues: [AutomationValidationIssue] {
        record.validationIssues.map { AutomationValidationIssue($0, in: record.graph, model.automationTypes) }
    }

    private var path: String { "/v1/automations/\(GatewayConnection.segment(id))" }

    func execute() async throws { try await model.request(.post, "\(path)/execute") }

    func stop() async throws { try await model.request(.post, "\(path)/stop") }

    @discardableResult
    nonisolated(nonsending) func update(_ change: (MutableAutomationData) -> Void) async throws -> any Automation {
        let data = MutableAutomationData(self)
        change(data)
        var fields = AutomationFields()
        if data.name != name { fields.name = data.name }
        if data.description != description { fields.description = data.description }
        if data.isActive != isActive { fields.isActive = data.isActive }
        if data.maxExecutionCount != maxExecutionCount { fields.maxExecutionCount = .some(data.maxExecutionCount) }
        if data.automationGraph?.content != automationGraph?.content {
            guard let nodes = data.automationGraph?.content else {
                throw HomeError.invalidArgument("an automation needs a graph; set automationGraph to a flow")
            }
            fields.graph = Graph(nodes).numbered
        }
        return try await patch(fields)
    }

    func putCustomData(_ data: [String: String]) async throws -> any Automation {
        try await patch(AutomationFields(customData: data))
    }

    /// Changes the automation unless somebody else has changed it since this value was read.
    private func patch(_ fields: AutomationFields) async throws(HomeError) -> any Automation {
        // A list does not contain versions. So the current version is read, and must have the same definition as this
        // value.
        let present = try await model.connection.send(model.automationRequest(.get, path))
        guard try model.automation(present.body).record.changedAt == record.changedAt else {
            throw .aborted(
                "the automation \(id) has been changed since it was read; read it again and repeat the change")
        }
        var request = model.automationRequest(.patch, path)
        request.body = try fields.json
        request.version = present.version
        return try model.automation(try await model.connection.send(request).body)
    }
}

extension HomeModel {
    /// The types and traits that the app has registered.
    var automationTypes: AutomationTypes { AutomationTypes(configuration.referencedAutomationTypes) }

    /// A request with the time that the app gives to commands.
    func automationRequest(_ method: GatewayRequest.Method, _ path: String) -> GatewayRequest {
        var request = GatewayRequest(method, path)
        request.timeout = configuration.commandTimeout
        return request
    }

    /// Reads an automation that the gateway has sent.
    func automation(_ data: Data) throws(HomeError) -> StoredAutomation {
        do {
            return StoredAutomation(model: self, record: try JSONDecoder().decode(AutomationRecord.self, from: data))
        } catch {
            throw .parseError("the gateway sent an automation that cannot be read: \(error)")
        }
    }
}
