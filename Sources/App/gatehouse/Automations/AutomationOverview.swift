import Foundation
import GatewayClient
import HomeTypes

/// A run as commands show it.
struct AutomationRun: Decodable {
    struct Trigger: Decodable {
        var kind: String
        var text: String?
    }

    /// A step of the run.
    struct Entry: Decodable {
        var at: String?
        var path: String?
        var text: String?
    }

    var id: String
    var startedAt: String
    var endedAt: String?
    var trigger: Trigger?
    var end: String?
    var text: String?
    var entries: [Entry]?
}

/// An automation as commands show it.
struct AutomationSummary: Decodable {
    var id: String
    var structureID: String
    var name: String
    var description: String
    var isActive: Bool
    var isValid: Bool
    var isRunning: Bool
    var isPaused: Bool
    var isUnderstood: Bool
    var maxExecutionCount: Int32?
    var executionCount: Int
    var validationIssues: [[String: JSONObject.Value]]
    var text: String
    var lastRun: AutomationRun?

    /// Its state in a few words.
    var stateWords: String {
        if isRunning { return "running" }
        if isPaused { return "paused" }
        if !isUnderstood { return "not understood" }
        return isActive ? (isValid ? "active" : "active, with errors") : "off"
    }
}

/// The automations of a home, as commands need them.
struct AutomationOverview {
    private struct Structures: Decodable { var structures: [StructureSnapshot] }
    private struct Answer: Decodable { var automations: [AutomationSummary] }

    var structures: [StructureSnapshot]
    var automations: [AutomationSummary] = []

    /// Asks a gateway.
    /// - Parameter structure: only this one, by its name or id.
    init(_ connection: GatewayConnection, structure: String? = nil) async throws(HomeError) {
        if let structure {
            structures = [try await HomeOverview(connection).structure(structure)]
        } else {
            structures = try connection.decode(Structures.self, try await connection.get("/v1/structures")).structures
            // Without the scope read the list is empty, and the automations cannot be found.
            guard !structures.isEmpty else { throw HomeOverview.unreadableHome }
        }
        for structure in structures {
            let data = try await connection.get(
                "/v1/structures/\(GatewayConnection.segment(structure.id))/automations")
            automations += try connection.decode(Answer.self, data).automations
        }
    }

    /// The automation that people name by its name, its identifier or the beginning of that.
    func automation(named text: String) throws(HomeError) -> AutomationSummary {
        if let automation = automations.first(where: { $0.id == text }) { return automation }
        let named = try HomeOverview.meant(text, in: automations, "automations", id: \.id, name: \.name)
        guard let automation = named.first else {
            throw .notFound(
                "no automation is called \(text.prefix(64).debugDescription); "
                    + HomeOverview.choice(automations.map(\.name)))
        }
        guard named.count == 1 else {
            throw .invalidArgument(
                "\(named.count) automations are called \(text); use one of these ids: "
                    + named.map(\.id).joined(separator: ", "))
        }
        return automation
    }

    /// The path of an automation that people name by its name, its identifier or the beginning of that.
    static func path(
        of text: String, _ connection: GatewayConnection
    ) async throws(HomeError) -> (path: String, automation: AutomationSummary) {
        let automation: AutomationSummary
        do {
            automation = try await AutomationOverview(connection).automation(named: text)
        } catch  where error == HomeOverview.unreadableHome {
            // An id needs no look at the home.
            let data: Data
            do { data = try await connection.get("/v1/automations/\(GatewayConnection.segment(text))") } catch {
                throw error.code == .notFound ? HomeOverview.unreadableHome : error
            }
            automation = try connection.decode(AutomationSummary.self, data)
        }
        return ("/v1/automations/\(GatewayConnection.segment(automation.id))", automation)
    }
}

extension HomeOverview {
    /// A home always has a structure. A token that does not see any may not read the home.
    static let unreadableHome = HomeError.permissionDenied(
        "the token does not have the scope read for any structure, so names mean nothing to it; "
            + "ask an administrator for a token with read and automate, or name the automation by its id")

    /// The structure that a command is about: the named one, or the only one.
    func structure(_ name: String?) throws(HomeError) -> StructureSnapshot {
        guard !structures.isEmpty else { throw Self.unreadableHome }
        if let name { return try structure(named: name) }
        guard let only = structures.first, structures.count == 1 else {
            throw .invalidArgument(
                "choose the structure with --structure; \(Self.choice(structures.map(\.name)))")
        }
        return only
    }
}
