import ArgumentParser
import GatewayClient
import HomeTypes

/// `gatehouse automation run`.
struct AutomationRunCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "run", abstract: "Run an automation now.",
        discussion: "It runs from its manual starter, or from the node after its first starter.")

    @OptionGroup var which: AutomationArgument
    @OptionGroup var gateway: GatewayOptions

    func run() async throws { try await order("execute", "runs", which, gateway) }
}

/// `gatehouse automation stop`.
struct AutomationStopCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "stop", abstract: "Stop the run of an automation.")

    @OptionGroup var which: AutomationArgument
    @OptionGroup var gateway: GatewayOptions

    func run() async throws { try await order("stop", "is stopped", which, gateway) }
}

/// `gatehouse automation release`.
struct AutomationReleaseCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "release", abstract: "Release an automation that was paused because it started too often.")

    @OptionGroup var which: AutomationArgument
    @OptionGroup var gateway: GatewayOptions

    func run() async throws { try await order("release", "is released", which, gateway) }
}

private func order(
    _ order: String, _ words: String, _ which: AutomationArgument, _ gateway: GatewayOptions
) async throws {
    let connection = try gateway.connect()
    try await reportingAutomationErrors {
        let (path, automation) = try await AutomationOverview.path(of: which.automation, connection)
        _ = try await connection.send(GatewayRequest(.post, "\(path)/\(order)"))
        print("\(automation.name) \(words)")
    }
}
