import Automation
import HomeHub
import ServiceLifecycle

/// Runs the automations from the start of the gateway to its end.
struct AutomationRunner: Service {
    let service: AutomationService
    /// What it runs.
    let records: AutomationRecords
    /// Whether the config lets automations run.
    let isEnabled: Bool

    func run() async throws {
        // Both follow the records, whether or not automations run now.
        await records.observe { [weak service, weak records] changes in
            guard let service, let records else { return }
            await service.adopt(changes) { records.newest($0) }
        }
        await service.adopt(records.definitions().map { .defined($0) }) { [records] in records.newest($0) }
        if isEnabled { await service.start() }
        let followers = [
            Task { [records] in await records.followHome() },
            Task { [records] in await records.followAbsences() },
        ]
        try? await gracefulShutdown()
        for follower in followers { follower.cancel() }
        await service.stop()
    }
}

extension AutomationRecords {
    /// Validates again what names a device or structure that has become other than it was, until the task is cancelled.
    func followHome() async {
        await hub.add(shapes)
        for await _ in shapes.signals {
            await deleteAll(in: shapes.takeRemovedStructures())
            await validate(naming: shapes.takeChanged())
        }
    }

    /// Looks once an hour for devices that have been offline for a week, until the task is cancelled. Nobody reports that.
    func followAbsences() async {
        repeat { await validateAbsences() } while (try? await Task.sleep(for: .seconds(3_600))) != nil
    }
}

extension AutomationService {
    /// Takes over what has become of automations.
    /// - Parameter newest: what has become of an automation by now. Each definition waits for the hub, and meanwhile somebody
    ///   may have changed an automation that comes later in the list.
    func adopt(
        _ changes: [AutomationRecords.Change],
        newest: @Sendable (AutomationRecords.Change) -> AutomationRecords.Change = { $0 }
    ) async {
        for change in changes {
            switch newest(change) {
            case .defined(let definition): await define(definition)
            case .removed(let id): undefine(id)
            case .suspended(let id): undefine(id, isDeleted: false)
            }
        }
    }
}

extension AutomationService.Settings {
    /// The settings of the config.
    init(_ section: GatewayConfiguration.Automations) {
        self.init()
        days = section.days
        runs = section.runs
        automations = section.maximum
    }
}
