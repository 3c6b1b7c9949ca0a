import ArgumentParser
import Foundation
import GatewayClient

/// Completes the names of automations in the shell. It asks the gateway on this machine, and stays silent where that fails.
enum AutomationCompletion {
    /// The names of automations, and the ids of those that share a name.
    static let automations = CompletionKind.custom { _, _, _ in await names() }

    private static func names() async -> [String] {
        guard let options = try? GatewayOptions.parse([]), let connection = try? options.connect(),
            let overview = try? await AutomationOverview(connection)
        else { return [] }
        let counts = Dictionary(overview.automations.map { ($0.name, 1) }, uniquingKeysWith: +)
        return overview.automations.map { counts[$0.name] == 1 && !$0.name.isEmpty ? $0.name : $0.id }
    }
}
