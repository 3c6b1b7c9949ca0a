import ArgumentParser
import Foundation
import Gateway
import GatewayClient
import HomeTypes

/// `gatehouse automation history`.
struct AutomationHistoryCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "history", abstract: "Show the runs of an automation, the latest first, or the steps of one.")

    private struct Page: Decodable {
        var runs: [AutomationRun]
        var next: String?
    }

    @OptionGroup var which: AutomationArgument

    @Option(help: ArgumentHelp("Show the steps of this run.", valueName: "id"))
    var run: String?

    @Option(help: ArgumentHelp("Show at most this many runs.", valueName: "number"))
    var limit = 20

    @Flag(help: "Print JSON.")
    var json = false

    @OptionGroup var gateway: GatewayOptions

    func validate() throws {
        guard limit > 0 else { throw ValidationError("--limit: expected a number above 0") }
    }

    func run() async throws {
        let connection = try gateway.connect()
        try await reportingAutomationErrors {
            let (path, _) = try await AutomationOverview.path(of: which.automation, connection)
            if let run {
                let data = try await Self.steps(of: run, path, connection)
                return json ? printJSON(data) : show(try connection.decode(AutomationRun.self, data))
            }
            var runs: [AutomationRun] = []
            var before: String?
            repeat {
                let place = before.map { "&before=\(GatewayConnection.segment($0))" } ?? ""
                let data = try await connection.get("\(path)/runs?limit=\(min(limit - runs.count, 100))\(place)")
                if json { printJSON(data) }
                let page = try connection.decode(Page.self, data)
                runs += page.runs
                before = page.runs.isEmpty ? nil : page.next
            } while before != nil && runs.count < limit
            guard !json else { return }
            print(runs.isEmpty ? "It has not run yet." : Self.text(runs))
        }
    }

    private static func text(_ runs: [AutomationRun]) -> String {
        var table = TerminalTable(header: ["TIME", "STARTED BY", "RESULT", "RUN"], whole: ["TIME", "RUN"])
        let ids = ShownIdentifiers(runs.map(\.id))
        for run in runs {
            table.add([
                run.startedAt, run.trigger?.text ?? run.trigger?.kind ?? "-", run.text ?? run.end ?? "running",
                ids[run.id],
            ])
        }
        return table.text
    }

    /// A run with its steps, which people name by its id or the beginning of it.
    private static func steps(
        of text: String, _ path: String, _ connection: GatewayConnection
    ) async throws(HomeError) -> Data {
        do throws(HomeError) {
            return try await connection.get("\(path)/runs/\(GatewayConnection.segment(text))")
        } catch {
            guard error.code == .notFound, text.count >= ShortIdentifiers.fewest else { throw error }
            guard let whole = try await id(meant: text, path, connection) else { throw error }
            return try await connection.get("\(path)/runs/\(GatewayConnection.segment(whole))")
        }
    }

    private static func id(
        meant text: String, _ path: String, _ connection: GatewayConnection
    ) async throws(HomeError) -> String? {
        var ids: [String] = []
        var before: String?
        // The gateway keeps a limited number of runs.
        repeat {
            let place = before.map { "&before=\(GatewayConnection.segment($0))" } ?? ""
            let data = try await connection.get("\(path)/runs?limit=100\(place)")
            let page = try connection.decode(Page.self, data)
            ids += page.runs.map(\.id)
            before = page.runs.isEmpty ? nil : page.next
        } while before != nil
        return try ShortIdentifiers.id(meant: text, in: ids, kind: "runs")
    }

    private func show(_ run: AutomationRun) {
        print("\(run.startedAt)  \(run.text ?? run.end ?? "running")")
        var table = TerminalTable(header: ["TIME", "NODE", "WHAT"], whole: ["TIME"])
        for entry in run.entries ?? [] { table.add([entry.at ?? "-", entry.path ?? "-", entry.text ?? "-"]) }
        print(table.text)
    }
}

/// `gatehouse automation explain`.
struct AutomationExplainCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "explain", abstract: "Explain why an automation ran or did not run.",
        discussion: "A time is like 2026-01-31T12:00:00Z, or how long ago: 90m, 12h, 7d.")

    private struct Answer: Decodable { var text: String }

    @OptionGroup var which: AutomationArgument

    @Option(help: ArgumentHelp("The moment. Defaults to now.", valueName: "time"))
    var at: String?

    @Flag(help: "Print JSON.")
    var json = false

    @OptionGroup var gateway: GatewayOptions

    func run() async throws {
        let connection = try gateway.connect()
        try await reportingAutomationErrors {
            let (path, _) = try await AutomationOverview.path(of: which.automation, connection)
            let moment = try at.map { try TimeText.timestamp($0, option: "--at") }
            let query = moment.map { "?at=\(GatewayConnection.segment($0))" } ?? ""
            let data = try await connection.get("\(path)/explain\(query)")
            if json { return printJSON(data) }
            print(try connection.decode(Answer.self, data).text)
        }
    }
}

/// `gatehouse automation simulate`.
struct AutomationSimulateCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "simulate",
        abstract: "Show when a draft would have run in the past days, and what it would have sent. Nothing is sent.",
        discussion: "A time is like 2026-01-31T12:00:00Z, or how long ago: 90m, 12h, 7d.")

    private struct Answer: Decodable {
        struct Run: Decodable {
            var at: JSONObject.Value
            var trigger: JSONObject.Value?
            var commands: [JSONObject.Value]
            var end: JSONObject.Value?
        }

        var runs: [Run]
    }

    @Argument(help: "A file in YAML or JSON; - for standard input.", completion: .file())
    var file: String

    @Option(help: ArgumentHelp("The start of the period.", valueName: "time"))
    var since = "7d"

    @Option(help: ArgumentHelp("The end of the period; now by default.", valueName: "time"))
    var until: String?

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
            var query = "from=\(GatewayConnection.segment(try TimeText.timestamp(since, option: "--since")))"
            if let until {
                query += "&to=\(GatewayConnection.segment(try TimeText.timestamp(until, option: "--until")))"
            }
            let data = try await connection.post(
                "/v1/structures/\(GatewayConnection.segment(structure.id))/automations/simulate?\(query)",
                contentType: "application/json", body: try draft.json)
            if json { return printJSON(data) }
            let runs = try connection.decode(Answer.self, data).runs
            guard !runs.isEmpty else { return print("It would not have run.") }
            var table = TerminalTable(header: ["TIME", "STARTED BY", "WOULD HAVE SENT", "RESULT"], whole: ["TIME"])
            for run in runs {
                table.add([
                    Self.words(run.at), Self.words(run.trigger),
                    run.commands.isEmpty ? "nothing" : run.commands.map { Self.words($0) }.joined(separator: "; "),
                    Self.words(run.end),
                ])
            }
            print(table.text)
        }
    }

    /// A part of the answer: a text, or an object with one.
    private static func words(_ value: JSONObject.Value?) -> String {
        switch value {
        case .text(let text)?: return text
        case .object(let members)?:
            if case .text(let text)? = members["text"] { return text }
            let names = ["entityID", "deviceID", "trait", "command", "kind"]
            return names.compactMap { name -> String? in
                if case .text(let text)? = members[name] { text } else { nil }
            }.joined(separator: " ")
        default: return "-"
        }
    }
}
