import Foundation

/// How a trait of the home appears in cloud-to-cloud messages. The values come from the key `cloudToCloud` of the
/// trait's data file; docs/traits.md describes the form.
public struct CloudMapping: Sendable, Decodable, Equatable {
    /// The trait as SYNC lists it.
    public var trait: String
    var types: [String]?
    var exceptTypes: [String]?
    var unlessTrait: String?
    var attributes: [String: JSONValue]?
    var computed: [Output]?
    var states: [Output]?
    var commands: [Command]?

    /// One member of a message.
    struct Output: Sendable, Decodable, Equatable {
        var name: String
        var from: String?
        var value: JSONValue?
        var convert: CloudConversion?
        var otherwise: JSONValue?
        var when: [Condition]?
        var item: [String: JSONValue]?
        var member: String?
    }

    /// What one command of EXECUTE does.
    struct Command: Sendable, Decodable, Equatable {
        var name: String
        var when: [Condition]?
        var steps: [Step]?
        var handler: String?
    }

    /// A command of ours, or attributes that are written.
    struct Step: Sendable, Decodable, Equatable {
        var send: String?
        var parameters: [String: Input]?
        var write: [String: Input]?
    }

    /// A value for a parameter or an attribute.
    struct Input: Sendable, Decodable, Equatable {
        var from: String?
        var value: JSONValue?
        var convert: CloudConversion?
        var addTo: String?
        var optional: Bool?
    }

    /// A comparison with one of our attributes, or with a parameter of the cloud's command.
    struct Condition: Sendable, Decodable, Equatable {
        var attribute: String?
        var parameter: String?
        var `is`: [JSONValue]?
        var exists: Bool?
        var atLeast: Double?

        /// Whether a value meets the condition; nil stands for a missing value.
        func holds(for value: JSONValue?) -> Bool {
            if let exists { return (value != nil) == exists }
            guard let value else { return false }
            if let list = `is` { return list.contains(value) }
            if let atLeast { return (value.number ?? -.infinity) >= atLeast }
            return true
        }
    }

    /// Whether the mapping applies to an endpoint.
    func applies(to types: [String], traits: Set<String>) -> Bool {
        if let only = self.types, !types.contains(where: only.contains) { return false }
        if let except = exceptTypes, types.contains(where: except.contains) { return false }
        return unlessTrait.map { !traits.contains($0) } ?? true
    }
}
