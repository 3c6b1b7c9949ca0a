import AutomationGraph
import Foundation

/// An automation as the home's store keeps it.
struct AutomationRecord: Codable, Sendable, Hashable {
    /// The kind of the objects in the store.
    static let kind = "automation"

    /// Names it for its whole life.
    var id: String
    /// The structure that it belongs to.
    var structureID: String
    /// The principal who made it, and with whose rights its commands run.
    var owner: String
    /// What people call it.
    var name: String
    /// What it does, in the words of its author.
    var description: String
    /// Whether its starters start it.
    var isActive: Bool
    /// How often it runs at most; nil for no limit.
    var maxExecutionCount: Int32?
    /// How late a moment of its schedule may run, in seconds.
    var graceSeconds: Int
    /// The graph as the JSON text that it came as.
    var graph: String
    /// What an app keeps with it.
    var customData: [String: String]
    /// When it was made, in milliseconds since 1970.
    var createdAt: Int64
    /// When it was changed last, in milliseconds since 1970.
    var changedAt: Int64
}

/// The bounds of automations.
enum AutomationLimits {
    /// How many the home keeps, unless the config says otherwise.
    static let count = 10_000
    /// The bytes of a name.
    static let nameBytes = 256
    /// The bytes of a description.
    static let descriptionBytes = 4_096
    /// The bytes of all names and values of an app's own data.
    static let customDataBytes = 4_096
    /// The longest grace, in seconds: a day.
    static let graceSeconds = 86_400
    /// The bytes of a request with an automation in it.
    static let requestBytes = GraphLimits.bytes + 32_768
}
