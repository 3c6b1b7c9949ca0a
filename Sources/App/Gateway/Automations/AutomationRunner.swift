import HomeHub
import ServiceLifecycle

/// Runs the automations from the start of the gateway to its end.
struct AutomationRunner: Service {
    let service: AutomationService
    /// Whether the config lets automations run.
    let isEnabled: Bool

    func run() async throws {
        if isEnabled { await service.start() }
        try? await gracefulShutdown()
        await service.stop()
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
