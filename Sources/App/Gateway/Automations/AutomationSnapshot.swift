import Automation
import AutomationGraph
import Foundation
import HomeTypes

/// An automation as the HTTP API shows it, without its graph.
struct AutomationSnapshot: Encodable, Sendable {
    var id: String
    var structureID: String
    var owner: String
    var name: String
    var description: String
    var isActive: Bool
    /// Whether all of it can run.
    var isValid: Bool
    var isRunning: Bool
    /// Whether it is paused because it started too often.
    var isPaused: Bool
    /// Whether a person can run it.
    var manuallyExecutable: Bool
    /// Whether this version knows all of its graph.
    var isUnderstood: Bool
    var maxExecutionCount: Int32?
    var executionCount: Int32
    var graceSeconds: Int
    var customData: [String: String]
    var validationIssues: [JSONObject]
    /// What it does, in words.
    var text: String
    var createdAt: String
    var changedAt: String
    /// Its latest run, in the form of the API; nil if it has none.
    var lastRun: JSONObject?

    /// What the service knows of an automation besides its record.
    struct Activity: Sendable {
        var isRunning = false
        var isPaused = false
        var executionCount: Int32 = 0
        var lastRun: JSONObject?
    }

    init(_ entry: AutomationRecords.Entry, _ activity: Activity = Activity(), names: [String: String]) {
        let record = entry.record
        let issues = entry.issues ?? []
        id = record.id
        structureID = record.structureID
        owner = record.owner
        name = record.name
        description = record.description
        isActive = record.isActive
        isUnderstood = entry.graph.isUnderstood
        isValid = isUnderstood && !issues.contains { $0.severity == .error }
        isRunning = activity.isRunning
        isPaused = activity.isPaused
        manuallyExecutable = isUnderstood && Engine.isManuallyExecutable(entry.graph)
        maxExecutionCount = record.maxExecutionCount
        executionCount = activity.executionCount
        graceSeconds = record.graceSeconds
        customData = record.customData
        validationIssues = issues.map(\.json)
        text = AutomationText(names: names).words(for: entry.graph)
        createdAt = Self.time(record.createdAt)
        changedAt = Self.time(record.changedAt)
        lastRun = activity.lastRun
    }

    /// A time as ISO 8601 with milliseconds.
    static func time(_ milliseconds: Int64) -> String {
        // The style cuts what is below a millisecond off, and few milliseconds are a binary fraction.
        Date(timeIntervalSince1970: (Double(milliseconds) + 0.5) / 1_000)
            .formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: true))
    }

    /// The automation as JSON, with the graph as the text that it came as.
    func json(graph: String) throws -> Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return Data("{\"automationGraph\":\(graph),".utf8) + (try encoder.encode(self)).dropFirst()
    }
}
