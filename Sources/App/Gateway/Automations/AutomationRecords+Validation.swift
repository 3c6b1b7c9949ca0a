import Automation
import AutomationGraph
import HomeHub
import HomeTypes

/// What is wrong with the automations in the home as it is.
extension AutomationRecords {
    /// The issues of a graph in the home as it is.
    func issues(of graph: Graph, in structure: String, for principal: String) async -> [ValidationIssue] {
        let home = await AutomationHomes(hub).validationHome(of: structure, for: possibleAccess(of: principal))
        return GraphValidator.issues(of: graph, in: home)
    }

    func validated(
        _ graph: Graph, in structure: String, for principal: String
    ) async throws -> [ValidationIssue] {
        let issues = await self.issues(of: graph, in: structure, for: principal)
        if issues.contains(where: { $0.severity == .error }) { throw AutomationRefusal(issues: issues) }
        return issues
    }

    /// Validates what nobody has looked at since the start.
    func validateNew() async {
        guard entries.values.contains(where: { $0.issues == nil }) else { return }
        await validate { $0.issues == nil }
    }

    /// Validates again what names one of these devices or structures, because they are other than before.
    func validate(naming entities: Set<String>) async {
        await validate { !$0.entities.isDisjoint(with: entities) || entities.contains($0.record.structureID) }
    }

    /// Validates again what names devices that have been offline for a week, and what still says so of devices that are not.
    func validateAbsences() async {
        let absent = await hub.daysOffline().filter { $0.value >= ValidationHome.Device.longAbsence }
        shapes.watchReturn(of: Set(absent.keys))
        await validate { entry in
            let named = absent.filter { entry.entities.contains($0.key) }
            return named != entry.reportedAbsences
        }
    }

    /// Validates again the automations of somebody whose rights have changed.
    func validate(ownedBy principal: String) async { await validate { $0.record.owner == principal } }

    private func validate(where isMeant: @Sendable (Entry) -> Bool) async {
        guard entries.values.contains(where: isMeant) else { return }
        let homes = await AutomationHomes(hub)
        /// The home of each owner in each structure: most automations have the same.
        var known: [[String]: ValidationHome] = [:]
        var changes: [Change] = []
        for (id, entry) in entries where isMeant(entry) {
            let key = [entry.record.structureID, entry.record.owner]
            let home = known[key] ?? homes.validationHome(of: key[0], for: possibleAccess(of: key[1]))
            known[key] = home
            let issues = GraphValidator.issues(of: entry.graph, in: home)
            guard issues != entry.issues else { continue }
            let isNew = entry.issues == nil
            watchers.record(id)
            entries[id]?.issues = issues
            share(id)
            // The engine asks for all definitions when it starts.
            if !isNew, let changed = entries[id] { changes.append(Self.change(changed)) }
        }
        if !changes.isEmpty { await onChange(changes) }
    }
}

extension AutomationRecords.Entry {
    /// The devices of which the issues say that they have been offline for a week, with the days.
    fileprivate var reportedAbsences: [String: Int] {
        (issues ?? []).reduce(into: [:]) { result, issue in
            if case .offlineDevice(let id, let days) = issue.type { result[id] = days }
        }
    }
}
