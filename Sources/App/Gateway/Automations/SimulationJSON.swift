import Automation
import AutomationGraph
import HomeTypes

/// Simulated runs as the HTTP API shows them.
struct SimulationJSON: Sendable {
    private let text: AutomationText.Writer
    private let json: RunJSON

    /// Shows runs with the names and the clock of a structure.
    init(_ homes: AutomationHomes, of structure: String) {
        text = AutomationText.Writer(names: homes.names, sources: [:])
        json = RunJSON(homes, of: structure)
    }

    /// One run.
    func members(of run: Simulation.Run) -> [String: JSONObject.Value] {
        let words = run.end.map { RunText.text(of: $0) } ?? "is still running at the end of the simulation"
        var members: [String: JSONObject.Value] = [
            "at": json.time(run.at), "trigger": .object(json.members(of: run.trigger)),
            "commands": .list(run.commands.map { .object(self.members(of: $0)) }),
            "text": .text("Would have begun \(json.words.text(of: run.trigger)): \(words)."),
        ]
        if let end = run.end { members["end"] = .text(end.rawValue) }
        return members
    }

    private func members(of command: Simulation.Command) -> [String: JSONObject.Value] {
        let target = command.action.target
        let kind = if case .device = target.entity { "device" } else { "structure" }
        var members: [String: JSONObject.Value] = [
            "at": json.time(command.at), "entity": .object([kind: .text(target.entity.id)]),
            "trait": .text(target.trait), "text": .text(text.words(command.action)),
        ]
        members["deviceType"] = target.deviceType.map { .text($0) }
        switch command.action.behaviour {
        case .command(let name, let parameters):
            members["command"] = .text(name)
            if !parameters.isEmpty { members["parameters"] = .object(parameters) }
        case .update(let attributes): members["update"] = .object(attributes)
        }
        return members
    }
}
