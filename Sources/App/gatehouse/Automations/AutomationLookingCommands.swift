import ArgumentParser
import Foundation
import Gateway
import GatewayClient
import HomeTypes

/// `gatehouse automation list`.
struct AutomationListCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "List the automations with their state and last run.")

    @OptionGroup var place: AutomationStructureOption

    @Flag(help: "Print JSON, an object for each structure.")
    var json = false

    @OptionGroup var gateway: GatewayOptions

    func run() async throws {
        let connection = try gateway.connect()
        try await reportingAutomationErrors {
            let overview = try await AutomationOverview(connection, structure: place.structure)
            if json {
                for structure in overview.structures {
                    printJSON(
                        try await connection.get(
                            "/v1/structures/\(GatewayConnection.segment(structure.id))/automations"))
                }
                return
            }
            guard !overview.automations.isEmpty else { return print("There are no automations yet.") }
            var table = TerminalTable(
                header: ["NAME", "STATE", "LAST RUN", "RESULT", "ID"], whole: ["STATE", "LAST RUN", "ID"])
            let ids = ShownIdentifiers(overview.automations.map(\.id))
            for automation in overview.automations {
                table.add([
                    automation.name, automation.stateWords, automation.lastRun?.startedAt ?? "-",
                    automation.lastRun.map { $0.end ?? "running" } ?? "-", ids[automation.id],
                ])
            }
            print(table.text)
        }
    }
}

/// `gatehouse automation show`.
struct AutomationShowCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show", abstract: "Show an automation: what it does, in words, and what is wrong with it.")

    @OptionGroup var which: AutomationArgument

    @Flag(help: "Print JSON.")
    var json = false

    @OptionGroup var gateway: GatewayOptions

    func run() async throws {
        let connection = try gateway.connect()
        try await reportingAutomationErrors {
            let (path, automation) = try await AutomationOverview.path(of: which.automation, connection)
            if json { return printJSON(try await connection.get(path)) }
            print("\(automation.name)  \(automation.stateWords)")
            print("id:    \(automation.id)")
            if !automation.description.isEmpty { print("about: \(automation.description)") }
            let limit = automation.maxExecutionCount.map { " of at most \($0)" } ?? ""
            print("runs:  \(automation.executionCount)\(limit)")
            if let run = automation.lastRun {
                print("last:  \(run.startedAt)  \(run.text ?? run.end ?? "running")")
            }
            print(automation.text)
            for line in AutomationIssues.lines(automation.validationIssues) { print(line) }
        }
    }
}

/// `gatehouse automation export`.
struct AutomationExportCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "export", abstract: "Print an automation as a file that `create` and `update` accept.")

    @OptionGroup var which: AutomationArgument

    @Flag(help: "Print JSON instead of YAML.")
    var json = false

    @OptionGroup var gateway: GatewayOptions

    func run() async throws {
        let connection = try gateway.connect()
        try await reportingAutomationErrors {
            let (path, _) = try await AutomationOverview.path(of: which.automation, connection)
            let object = try connection.decode(JSONObject.self, try await connection.get(path))
            let members = object.members.filter { AutomationFile.names.contains($0.key) && $0.value != .null }
            guard json else { return print(try AutomationFile.yaml(members), terminator: "") }
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
            printJSON(try encoder.encode(members))
        }
    }
}

/// `gatehouse automation candidates`.
struct AutomationCandidatesCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "candidates", abstract: "List what automations can start with, read and do in this home.")

    private struct Answer: Decodable {
        struct Candidate: Decodable {
            struct Entity: Decodable { var device, structure: String? }
            struct Reason: Decodable { var type: String }

            var entity: Entity
            var roles: [String]
            var trait: String
            var command: String?
            var event: String?
            var unsupportedReasons: [Reason]
        }

        var candidates: [Candidate]
    }

    @OptionGroup var place: AutomationStructureOption

    @Option(
        help: ArgumentHelp("Only this device, by its key, id or name.", valueName: "device"),
        completion: HomeCompletion.devices)
    var device: String?

    @Flag(help: "Print JSON.")
    var json = false

    @OptionGroup var gateway: GatewayOptions

    func run() async throws {
        let connection = try gateway.connect()
        try await reportingAutomationErrors {
            let home = try await HomeOverview(connection)
            var query = ""
            var structure: String?
            if let device {
                let found = try home.device(named: device)
                query = "?device=\(GatewayConnection.segment(found.id))"
                structure = found.structureID
            }
            let id = try structure ?? home.structure(place.structure).id
            let data = try await connection.get(
                "/v1/structures/\(GatewayConnection.segment(id))/candidates\(query)")
            if json { return printJSON(data) }
            var table = TerminalTable(header: ["OBJECT", "TRAIT", "WHAT", "AS", "NOT NOW"], whole: ["OBJECT"])
            for candidate in try connection.decode(Answer.self, data).candidates {
                let label =
                    candidate.entity.device.map { id in home.devices.first { $0.id == id }?.label ?? id }
                    ?? candidate.entity.structure.map(home.structureName) ?? "-"
                table.add([
                    label, candidate.trait, candidate.command ?? candidate.event ?? "(attributes)",
                    candidate.roles.joined(separator: ", "),
                    candidate.unsupportedReasons.isEmpty
                        ? "-" : candidate.unsupportedReasons.map(\.type).joined(separator: ", "),
                ])
            }
            print(table.text)
        }
    }
}
