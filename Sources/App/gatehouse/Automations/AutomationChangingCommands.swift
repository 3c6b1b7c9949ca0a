import ArgumentParser
import Foundation
import GatewayClient
import HomeTypes

/// Prints what the gateway made of an automation.
private func show(_ data: Data, _ words: String, json: Bool, _ connection: GatewayConnection) throws {
    if json { return printJSON(data) }
    let automation = try connection.decode(AutomationSummary.self, data)
    print("\(automation.name) \(words) (\(automation.id))")
    for line in AutomationIssues.lines(automation.validationIssues) { print(line) }
    guard !automation.isUnderstood else { return }
    print("It will not run, because this gateway does not know all of it. Correct the file, and update it:")
    print("  gatehouse automation update \(automation.id) FILE")
}

/// `gatehouse automation create`.
struct AutomationCreateCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "create", abstract: "Create an automation from a file.")

    @Argument(help: "A file in YAML or JSON; - for standard input.", completion: .file())
    var file: String

    @OptionGroup var place: AutomationStructureOption

    @Flag(help: "Print JSON.")
    var json = false

    @OptionGroup var gateway: GatewayOptions

    func run() async throws {
        let connection = try gateway.connect()
        try await reportingAutomationErrors {
            let home = try await HomeOverview(connection)
            let structure = try home.structure(place.structure)
            var draft = try AutomationFile(path: file)
            try draft.resolveNames(home)
            var request = GatewayRequest(
                .post, "/v1/structures/\(GatewayConnection.segment(structure.id))/automations", body: try draft.json)
            request.idempotencyKey = UUID().uuidString
            try show(try await connection.send(request).body, "is an automation now", json: json, connection)
        }
    }
}

/// `gatehouse automation update`.
struct AutomationUpdateCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "update", abstract: "Change an automation, by a file or by options.",
        discussion: "What the file does not name stays as it is. A new graph takes effect between two runs.")

    @OptionGroup var which: AutomationArgument

    @Argument(help: "A file in YAML or JSON; - for standard input.", completion: .file())
    var file: String?

    @Option(help: "Its new name.")
    var name: String?

    @Option(help: "What it does, in your words.")
    var description: String?

    @Option(help: ArgumentHelp("How many times it may run; 0 for no limit.", valueName: "number"))
    var maximumRuns: Int32?

    @Flag(help: "Print JSON.")
    var json = false

    @OptionGroup var gateway: GatewayOptions

    func validate() throws {
        guard file != nil || name != nil || description != nil || maximumRuns != nil else {
            throw ValidationError("say what to change: a file, --name, --description or --maximum-runs")
        }
        guard maximumRuns ?? 0 >= 0 else { throw ValidationError("--maximum-runs: expected 0 or more") }
    }

    func run() async throws {
        let connection = try gateway.connect()
        try await reportingAutomationErrors {
            let (path, automation) = try await AutomationOverview.path(of: which.automation, connection)
            var changes: [String: JSONObject.Value] = [:]
            changes["name"] = name.map { .text($0) }
            changes["description"] = description.map { .text($0) }
            changes["maxExecutionCount"] = maximumRuns.map { $0 == 0 ? .null : .integer(Int64($0)) }
            var request = GatewayRequest(.patch, path)
            // Nobody else's change between looking and changing is lost.
            request.version = try await connection.send(GatewayRequest(.get, path)).version
            if let file {
                var draft = try AutomationFile(path: file)
                try draft.resolveNames(try await HomeOverview(connection))
                draft.merge(changes)
                request.body = try draft.json
            } else {
                request.body = try JSONEncoder().encode(changes)
            }
            try show(try await connection.send(request).body, "is changed", json: json, connection)
            if !json, automation.isRunning { print("The run in progress continues with the old graph.") }
        }
    }
}

/// `gatehouse automation activate`.
struct AutomationActivateCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "activate", abstract: "Let the starters of an automation start it.")

    @OptionGroup var which: AutomationArgument

    @Flag(help: "Print JSON.")
    var json = false

    @OptionGroup var gateway: GatewayOptions

    func run() async throws {
        try await setActive(true, "is active", which, gateway, json: json)
    }
}

/// `gatehouse automation deactivate`.
struct AutomationDeactivateCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "deactivate", abstract: "Switch an automation off. A run in progress is stopped.")

    @OptionGroup var which: AutomationArgument

    @Flag(help: "Print JSON.")
    var json = false

    @OptionGroup var gateway: GatewayOptions

    func run() async throws {
        try await setActive(false, "is off", which, gateway, json: json)
    }
}

private func setActive(
    _ isActive: Bool, _ words: String, _ which: AutomationArgument, _ gateway: GatewayOptions, json: Bool
) async throws {
    let connection = try gateway.connect()
    try await reportingAutomationErrors {
        let (path, _) = try await AutomationOverview.path(of: which.automation, connection)
        let data = try await HomeRequest.send(.patch, path, ["isActive": .bool(isActive)], connection)
        try show(data, words, json: json, connection)
    }
}

/// `gatehouse automation delete`.
struct AutomationDeleteCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "delete", abstract: "Delete an automation. A run in progress is stopped.")

    @OptionGroup var which: AutomationArgument

    @OptionGroup var gateway: GatewayOptions

    func run() async throws {
        let connection = try gateway.connect()
        try await reportingAutomationErrors {
            let (path, automation) = try await AutomationOverview.path(of: which.automation, connection)
            try await connection.delete(path)
            print("\(automation.name) is deleted")
        }
    }
}
