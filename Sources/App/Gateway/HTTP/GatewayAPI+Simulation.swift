import Automation
import AutomationGraph
import Dispatch
import Foundation
import HTTPTypes
import HomeHub
import HomeTypes
import Hummingbird

/// What an automation would have done.
extension GatewayAPI {
    /// The longest time that is simulated at once, in milliseconds: 31 days.
    private static let longestSimulation: Int64 = 31 * 86_400_000

    func addSimulationRoutes(to router: Router<GatewayRequestContext>) {
        router.post("/v1/structures/:structure/automations/simulate") { request, context in
            let structure = try await knownStructure(context)
            let caller = try authorization(context)
            let data = try await JSONBody.data(from: request, upTo: AutomationLimits.requestBytes)
            let draft = try AutomationDraft(json: data)
            let graph = try draft.readGraph()
            let (from, to) = try simulatedTime(request)
            let issues = try await automations.validated(graph, in: structure, for: caller.principal)
            guard graph.isUnderstood else {
                let words = issues.map(\.description).joined(separator: "; ")
                throw HomeError.failedPrecondition(
                    "the automation would not run, because this gateway does not know all of its graph: \(words)")
            }
            try requireReading(graph, in: structure, caller.access)
            let definition = AutomationDefinition(
                id: "draft", structureID: structure, owner: caller.principal, name: draft.name ?? "",
                maxExecutionCount: draft.maxExecutionCount ?? nil,
                graceSeconds: draft.graceSeconds ?? AutomationDefinition.standardGraceSeconds, graph: graph,
                invalidPaths: Set(issues.filter { $0.severity == .error }.map(\.path)))
            return try JSONBody.response(
                JSONObject(await simulationPlaces.run { try await simulation(of: definition, from: from, to: to) }))
        }
    }

    /// The answer with the runs of an automation between two times in milliseconds since 1970.
    private func simulation(
        of definition: AutomationDefinition, from: Int64, to: Int64
    ) async throws(HomeError) -> [String: JSONObject.Value] {
        let homes = await AutomationHomes(hub)
        let past = try await hub.past(
            ofDevices: definition.graph.devices, structures: [definition.structureID],
            from: Self.date(from), to: Self.date(to))
        // The clock and the sun are as they are now. Who was at home is what was recorded.
        var present: [EngineInput] = []
        if let structure = homes.structures[definition.structureID] {
            present.append(
                .structure(
                    ObservedStructure(
                        id: structure.id, traits: TraitCollection(), place: SchedulePlace(structure))))
        }
        present += past.before.compactMap { EngineInput($0) }
        let outcome = await Self.outcome(of: definition, present, past.happenings, from: from, to: to)
        let json = SimulationJSON(homes, of: definition.structureID)
        var answer: [String: JSONObject.Value] = [
            "runs": .list(outcome.runs.map { .object(json.members(of: $0)) }),
            "isCut": .bool(past.isCut || outcome.isCut),
        ]
        if let oldest = past.oldest {
            answer["recordedFrom"] = .text(AutomationSnapshot.time(Self.milliseconds(oldest)))
        }
        return answer
    }

    /// The threads of simulations. A simulation may compute for seconds. The shared threads, of which there are as many as
    /// processors, must not wait for that.
    private static let simulations = DispatchQueue(label: "simulations", qos: .utility, attributes: .concurrent)

    private static func outcome(
        of definition: AutomationDefinition, _ present: [EngineInput], _ happenings: [RecordedPast.Happening],
        from: Int64, to: Int64
    ) async -> Simulation.Outcome {
        await withCheckedContinuation { continuation in
            simulations.async {
                let inputs = happenings.compactMap { happening in
                    EngineInput(happening.observation).map {
                        Simulation.Happening(at: Self.milliseconds(happening.at), $0)
                    }
                }
                continuation.resume(
                    returning: Simulation.outcome(
                        of: definition, present: present, happenings: inputs, from: from, to: to))
            }
        }
    }

    /// What was recorded of a device or a structure is for those who may read it.
    private func requireReading(_ graph: Graph, in structure: String, _ access: Access) throws(HomeError) {
        for id in graph.entityIDs.sorted() {
            let object: Access.Object =
                id == structure ? .structure(structure) : .device(id, structureID: structure)
            guard access.permits(.read, object) else {
                throw .notGranted(
                    "a simulation shows what was recorded, and the token does not have the scope read for \(id)")
            }
        }
    }

    /// The time that the query names: the past seven days unless it says otherwise.
    private func simulatedTime(_ request: Request) throws(HomeError) -> (from: Int64, to: Int64) {
        func time(_ name: String) throws(HomeError) -> Int64? {
            guard let text = request.uri.queryParameters[name[...]] else { return nil }
            guard let moment = Self.moment(String(text)), moment >= 0 else {
                throw .invalidArgument("\(name): expected a time such as 2026-11-23T08:00:00Z")
            }
            return moment
        }
        let to = try time("to") ?? Self.milliseconds(Date())
        let from = try time("from") ?? max(0, to - 7 * 86_400_000)
        guard from < to else { throw .invalidArgument("from must be before to") }
        guard to - from <= Self.longestSimulation else {
            throw .invalidArgument("from and to are more than 31 days apart; simulate a shorter time")
        }
        return (from, to)
    }

    private static func date(_ milliseconds: Int64) -> Date {
        Date(timeIntervalSince1970: Double(milliseconds) / 1_000)
    }

    private static func milliseconds(_ date: Date) -> Int64 {
        Int64((date.timeIntervalSince1970 * 1_000).rounded())
    }
}
