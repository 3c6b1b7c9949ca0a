import Automation
import AutomationGraph
import Foundation
import HTTPTypes
import HomeHub
import HomeTypes
import Hummingbird
import Transport

/// The automations of a structure.
extension GatewayAPI {
    func addAutomationRoutes(to router: Router<GatewayRequestContext>) {
        router.get("/v1/structures/:structure/automations") { _, context in
            let structure = try await knownStructure(context)
            let entries = try await automations.list(in: structure, for: authorization(context))
            return try await listResponse(entries, authorization(context).access)
        }
        router.post("/v1/structures/:structure/automations") { request, context in
            let structure = try await knownStructure(context)
            let data = try await JSONBody.data(from: request, upTo: AutomationLimits.requestBytes)
            let draft = try AutomationDraft(json: data)
            let caller = try authorization(context)
            let made = AutomationOutcome()
            let id: String
            do {
                id = try await hub.make(
                    "automation in \(structure)", by: self.caller(request, context), parameters: data
                ) { () async throws(HomeError) in
                    try await made.create(draft, in: structure, by: caller, automations)
                }
            } catch {
                throw (made.refusal as (any Error)?) ?? error
            }
            var response = try await response(
                automations.automation(id, for: caller), caller.access, status: .created)
            response.headers[.location] = "/v1/automations/\(id)"
            return response
        }
        router.post("/v1/structures/:structure/automations/validate") { request, context in
            let structure = try await knownStructure(context)
            let data = try await JSONBody.data(from: request, upTo: AutomationLimits.requestBytes)
            let draft = try AutomationDraft(json: data)
            let graph: Graph
            do { graph = try draft.readGraph() } catch let refusal as AutomationRefusal {
                return try JSONBody.response(DraftAnswer(validationIssues: refusal.issues.map(\.json), text: ""))
            }
            let issues = try await automations.issues(of: graph, in: structure, for: principal(context))
            let names = await AutomationHomes(hub).seen(by: try authorization(context).access).names
            return try JSONBody.response(
                DraftAnswer(validationIssues: issues.map(\.json), text: AutomationText(names: names).words(for: graph)))
        }
        router.get("/v1/automations/:automation") { _, context in
            try await response(automation(context), authorization(context).access)
        }
        router.patch("/v1/automations/:automation") { request, context in
            let data = try await JSONBody.data(from: request, upTo: AutomationLimits.requestBytes)
            return try await response(
                automations.change(
                    context.parameters.require("automation"), AutomationDraft(json: data),
                    ifVersion: Self.expectedVersion(request), by: authorization(context)),
                authorization(context).access)
        }
        router.delete("/v1/automations/:automation") { request, context in
            try await automations.delete(
                context.parameters.require("automation"), ifVersion: Self.expectedVersion(request),
                by: authorization(context))
            return Response(status: .noContent)
        }
    }

    /// The response to `POST /v1/structures/{structure}/automations/validate`.
    struct DraftAnswer: Codable, Sendable, Equatable {
        var validationIssues: [JSONObject]
        var text: String
    }

    /// The structure of the path.
    /// - Throws: `notFound` for one that does not exist.
    func knownStructure(_ context: GatewayRequestContext) async throws -> String {
        try await hub.structure(context.parameters.require("structure")).value.id
    }

    /// The automation of the path, if the caller may see it.
    func automation(_ context: GatewayRequestContext) async throws -> AutomationRecords.Entry {
        try await automations.automation(context.parameters.require("automation"), for: authorization(context))
    }

    /// One automation as the API shows it.
    func json(_ entry: AutomationRecords.Entry, _ homes: AutomationHomes) async throws -> Data {
        let activity = await automationService?.activities(of: [entry.record.id]).first
        return try Self.json(entry, activity, homes)
    }

    private static func json(
        _ entry: AutomationRecords.Entry, _ activity: AutomationService.Activity?, _ homes: AutomationHomes
    ) throws -> Data {
        let run = activity?.lastRun.flatMap { RunRecord($0) }
        let shown = AutomationSnapshot.Activity(
            isRunning: activity?.isRunning ?? false, isPaused: activity?.state.isPaused ?? false,
            executionCount: activity?.state.executionCount ?? 0,
            lastRun: run.map { JSONObject(RunJSON(homes, of: entry.record.structureID).members(of: $0)) })
        return try AutomationSnapshot(entry, shown, names: homes.names).json(graph: entry.record.graph)
    }

    private func response(
        _ entry: AutomationRecords.Entry, _ access: Access, status: HTTPResponse.Status = .ok
    ) async throws -> Response {
        let homes = await AutomationHomes(hub).seen(by: access)
        var response = JSONBody.response(json: try await json(entry, homes), status: status)
        response.headers[.eTag] = "\"\(entry.version)\""
        return response
    }

    private func listResponse(_ entries: [AutomationRecords.Entry], _ access: Access) async throws -> Response {
        let homes = await AutomationHomes(hub).seen(by: access)
        var list = Data("{\"automations\":[".utf8)
        let activities = await automationService?.activities(of: entries.map(\.record.id))
        for (index, entry) in entries.enumerated() {
            if index > 0 { list += Data(",".utf8) }
            list += try Self.json(entry, activities?[index], homes)
        }
        return JSONBody.response(json: list + Data("]}".utf8))
    }
}

/// The result of making an automation. Requests that are repeated with one key know only `HomeError`, and a refusal says
/// more.
private final class AutomationOutcome: Sendable {
    private let kept = Locked(AutomationRefusal?.none)

    var refusal: AutomationRefusal? { kept.withLock { $0 } }

    func create(
        _ draft: AutomationDraft, in structure: String, by caller: Authorization, _ automations: AutomationRecords
    ) async throws(HomeError) -> String {
        do {
            return try await automations.create(draft, in: structure, by: caller.principal).record.id
        } catch let refusal as AutomationRefusal {
            kept.withLock { $0 = refusal }
            throw refusal.failure.error
        } catch let error as HomeError {
            throw error
        } catch {
            throw .internal("\(error)")
        }
    }
}
