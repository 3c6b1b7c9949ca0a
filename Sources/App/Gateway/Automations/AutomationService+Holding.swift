import Automation
import HomeTypes

/// Automations whose owners' tokens cannot be read.
///
/// What such an owner may do is not known. So the automation does nothing, and nothing of it ends: its runs, its counts and
/// what its schedule has decided stay as they were until a start can read the token, or until it is known that it is gone.
extension AutomationService {
    /// Whether an automation has to wait. One that runs already is asked for its owner's rights with each command.
    func mustHold(_ definition: AutomationDefinition) -> Bool {
        definitions[definition.id] == nil && registry.isUnknown(definition.owner)
    }

    func hold(_ definition: AutomationDefinition) {
        held[definition.id] = definition
        if isStarted { heldRuns[definition.id] = heldRuns[definition.id] ?? [] }
    }

    /// Keeps the runs back that belong to automations which wait.
    /// - Returns: the others.
    func withoutHeld(_ openRuns: [[RunEntry]]) -> [[RunEntry]] {
        for id in held.keys { heldRuns[id] = [] }
        var others: [[RunEntry]] = []
        for run in openRuns {
            if let id = run.first?.automationID, held[id] != nil {
                heldRuns[id, default: []].append(run)
            } else {
                others.append(run)
            }
        }
        return others
    }

    /// Lets the automations of a principal whose rights are known now do what these permit.
    func takeUp(ownedBy principal: String) async {
        for id in held.values.filter({ $0.owner == principal }).map(\.id).sorted() {
            guard let definition = held[id] else { continue }
            await define(definition)
        }
    }

    /// Hands the engine an automation that has waited, with what was kept of it.
    func takeUp(_ definition: AutomationDefinition, _ openRuns: [[RunEntry]]) {
        engine.takeUp(definition, state: state(of: definition.id), openRuns: openRuns, at: now())
        drain()
        inbox.wake()
    }

    static func waits(_ id: String, for owner: String) -> HomeError {
        .failedPrecondition(
            "automation \(id) waits, because the token of \(owner) cannot be read; restore the token, or revoke it")
    }
}
