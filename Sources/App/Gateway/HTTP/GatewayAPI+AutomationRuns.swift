import Automation
import DatagramPort
import Foundation
import HTTPTypes
import HomeHub
import HomeTypes
import Hummingbird

/// Running automations, and what became of it.
extension GatewayAPI {
    func addAutomationRunRoutes(to router: Router<GatewayRequestContext>) {
        router.post("/v1/automations/:automation/execute") { _, context in
            let entry = try await automation(context)
            try Self.requireUnderstood(entry)
            try await requireService().execute(entry.record.id, principal: principal(context))
            return Response(status: .noContent)
        }
        router.post("/v1/automations/:automation/stop") { _, context in
            let entry = try await automation(context)
            try Self.requireUnderstood(entry)
            try await requireService().stopRun(of: entry.record.id, principal: principal(context))
            return Response(status: .noContent)
        }
        router.post("/v1/automations/:automation/release") { _, context in
            let entry = try await automation(context)
            try Self.requireUnderstood(entry)
            try await requireService().release(entry.record.id, principal: principal(context))
            // No run shows it, so it is reported to the watchers.
            automations.watchers.record(entry.record.id)
            return Response(status: .noContent)
        }
        router.get("/v1/automations/:automation/runs") { request, context in
            let entry = try await automation(context)
            let limit = try Self.limit(request, upTo: AutomationService.largestPage)
            let page = try await requireService().runs(
                of: entry.record.id, before: request.uri.queryParameters["before"].map(String.init), limit: limit)
            let json = RunJSON(try await seenHomes(context), of: entry.record.structureID)
            var answer: [String: JSONObject.Value] = ["runs": .list(page.runs.map { .object(json.members(of: $0)) })]
            answer["next"] = page.next.map { .text($0) }
            return try JSONBody.response(JSONObject(answer))
        }
        router.get("/v1/automations/:automation/runs/:run") { _, context in
            let entry = try await automation(context)
            let run = try await requireService().run(context.parameters.require("run"))
            guard run.automationID == entry.record.id else {
                throw HomeError.notFound("the automation has no run with this id; it may be too old")
            }
            let json = RunJSON(try await seenHomes(context), of: entry.record.structureID, graph: entry.graph)
            return try JSONBody.response(JSONObject(json.members(of: run)))
        }
        router.get("/v1/automations/:automation/explain") { request, context in
            let entry = try await automation(context)
            let text = request.uri.queryParameters["at"]
            guard let at = text.map({ Self.moment(String($0)) }) ?? WallClock.milliseconds else {
                throw HomeError.invalidArgument(
                    "at: expected a moment such as 2026-11-23T08:00:00Z; leave it out for the present")
            }
            let definition = try Self.requireUnderstood(entry)
            let found = try await runs(of: entry.record.id, around: at)
            let changes = try await requireService().changes(of: entry.record.id)
            let json = RunJSON(try await seenHomes(context), of: entry.record.structureID, graph: entry.graph)
            let explanation = Explanation(
                of: definition, createdAt: entry.record.createdAt, runs: found.compactMap(\.entries), changes: changes,
                words: json.words)
            return try JSONBody.response(
                JSONObject([
                    "text": .text(explanation.text(at: at)),
                    "runs": .list(found.map { .object(json.members(of: $0)) }),
                ]))
        }
    }

    /// The automation as it runs.
    /// - Throws: `failedPrecondition` for one whose graph this gateway does not know as a whole, which never runs.
    @discardableResult
    private static func requireUnderstood(
        _ entry: AutomationRecords.Entry
    ) throws(HomeError) -> AutomationDefinition {
        guard let definition = entry.definition else {
            throw HomeError.failedPrecondition(
                "the automation never runs, because this gateway does not know all of its graph; correct the graph"
            ).advising(
                request: "GET /v1/automations/\(entry.record.id) lists what is not known",
                command: "gatehouse automation show \(entry.record.id) lists what is not known")
        }
        return definition
    }

    /// The home with the names that the caller may know.
    private func seenHomes(_ context: GatewayRequestContext) async throws -> AutomationHomes {
        await AutomationHomes(hub).seen(by: try authorization(context).access)
    }

    /// The last run that began before a moment, and those that began within a minute after it, with their entries.
    private func runs(of automation: String, around moment: Int64) async throws(HomeError) -> [RunRecord] {
        let service = try requireService()
        var found: [RunRecord] = []
        var before: String?
        // The store keeps a limited number of runs.
        repeat {
            let page = try await service.runs(of: automation, before: before, limit: AutomationService.largestPage)
            for run in page.runs where run.startedAt <= moment + 60_000 {
                // An automation that starts too often has many of them within a minute.
                if found.count < 20 || run.startedAt <= moment { found.append(try await service.run(run.id)) }
                if run.startedAt <= moment { return found }
            }
            before = page.next
        } while before != nil
        return found
    }

    /// A time of a request in milliseconds since 1970; nil for another text.
    static func moment(_ text: String) -> Int64? {
        for style in [Date.ISO8601FormatStyle(includingFractionalSeconds: true), Date.ISO8601FormatStyle()] {
            if let date = try? style.parse(text) { return Int64((date.timeIntervalSince1970 * 1_000).rounded()) }
        }
        return nil
    }

    /// What runs the automations.
    /// - Throws: `unavailable` where none run.
    func requireService() throws(HomeError) -> AutomationService {
        guard let automationService else { throw .unavailable("automations do not run on this gateway") }
        return automationService
    }

    /// How many items a request wants.
    static func limit(_ request: Request, upTo most: Int) throws(HomeError) -> Int {
        guard let text = request.uri.queryParameters["limit"] else { return min(50, most) }
        guard let limit = Int(text), (1...most).contains(limit) else {
            throw .invalidArgument("limit must be from 1 to \(most)")
        }
        return limit
    }
}
