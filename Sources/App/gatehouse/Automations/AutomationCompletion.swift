import ArgumentParser
import Foundation
import GatewayClient

/// Completes the names of automations in the shell. It asks the gateway on this machine, and stays silent where that fails.
enum AutomationCompletion {
    /// The names of automations. One that shares its name, or whose name could mean something to a shell
    /// (``ShellWord``), is offered by its id.
    static let automations = CompletionKind.custom { _, _, _ in await names() }

    private static func names() async -> [String] {
        guard let options = try? GatewayOptions.parse([]), let connection = try? options.connect(),
            let overview = try? await AutomationOverview(connection)
        else { return [] }
        let counts = Dictionary(overview.automations.map { ($0.name, 1) }, uniquingKeysWith: +)
        return overview.automations.compactMap { ShellWord.first(counts[$0.name] == 1 ? $0.name : nil, $0.id) }
    }
}
