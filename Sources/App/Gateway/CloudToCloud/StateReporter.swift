import HomeHub
import HomeTypes
import Logging
import ServiceLifecycle

/// Reports the changes of the home to the cloud, for every account that is linked with the client of the config.
actor StateReporter: Service {
    private let settings: GatewayConfiguration.ReportState
    private let hub: HomeHub
    private let registry: TokenRegistry
    private let client: ReportClient
    private let logger: Logger
    /// By the ids of the accounts' tokens.
    private var accounts: [String: AccountReporter] = [:]
    /// Of accounts that are no longer linked.
    private var past = ReportCounts()
    private var isRunning = false

    /// Makes a reporter.
    /// - Throws: what is wrong with the settings.
    init(
        _ settings: GatewayConfiguration.ReportState, hub: HomeHub, registry: TokenRegistry, logger: Logger
    ) throws {
        self.settings = settings
        self.hub = hub
        self.registry = registry
        self.client = try ReportClient(settings)
        self.logger = logger
    }

    /// Whether the changes of a linked account are reported.
    nonisolated func reports(_ tokenID: String?) -> Bool {
        guard let tokenID, let record = try? registry.token(tokenID).record else { return false }
        return record.clientID == settings.client
    }

    /// Reports until the gateway stops.
    func run() async throws {
        isRunning = true
        await follow()
        try? await gracefulShutdown()
        isRunning = false
        await follow()
        await client.shutDown()
    }

    /// Begins for accounts that are new, and ends for those that are gone.
    func follow() async {
        let linked = Set(registry.all.filter { isRunning && $0.record.clientID == settings.client }.map(\.record.id))
        for (id, account) in accounts where !linked.contains(id) {
            accounts[id] = nil
            await account.end()
            past.add(await account.counts)
        }
        for id in linked where accounts[id] == nil {
            let account = AccountReporter(id, hub: hub, registry: registry, client: client, logger: logger)
            accounts[id] = account
            await account.begin()
        }
    }

    /// The cloud has asked for all devices of an account.
    func synced(_ tokenID: String) async {
        await accounts[tokenID]?.synced()
    }

    /// What became of the reports so far.
    var counts: ReportCounts {
        get async {
            var counts = past
            for account in accounts.values { counts.add(await account.counts) }
            return counts
        }
    }

    /// The counts as metrics.
    var families: [MetricFamily] {
        get async {
            let counts = await self.counts
            return [
                MetricFamily(
                    name: "gatehouse_cloud_reports_total", help: "Reports to the cloud, by what became of them.",
                    kind: .counter,
                    samples: [
                        .init(Double(counts.accepted), labels: [("outcome", "accepted")]),
                        .init(Double(counts.refused), labels: [("outcome", "refused")]),
                        .init(Double(counts.failed), labels: [("outcome", "failed")]),
                    ]),
                MetricFamily(
                    name: "gatehouse_cloud_reports_overflowed_total", help: "States that found no room in the queue.",
                    kind: .counter, samples: [.init(Double(counts.overflowed))]),
            ]
        }
    }
}
