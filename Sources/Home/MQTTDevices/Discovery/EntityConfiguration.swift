/// The description of one entity, with long keys and whole topics.
struct EntityConfiguration: Sendable, Hashable {
    /// For example `light`.
    let component: String
    /// The suffix of the names of members in messages, for example `_l1`; only Zigbee2MQTT's messages have one.
    let suffix: String
    private let values: [String: JSONValue]
    /// The bytes that the base topic has added to the message's text.
    let addedBytes: Int
    /// How many JSON values it contains.
    let valueCount: Int
    /// How many bytes its templates have.
    let templateBytes: Int

    /// How many bytes the base topic may add. In the messages of devices it adds some hundred, but with a long base a message of
    /// 128 KiB could stand for a gigabyte.
    static let mostAddedBytes = 64 << 10

    /// Reads an object whose keys are already long. `~` at the beginning or the end of a topic becomes the base topic, unless
    /// that adds more than ``mostAddedBytes``.
    init(component: String, _ values: [String: JSONValue], suffix: String = "") {
        self.component = component
        self.suffix = suffix
        var values = values
        var addedBytes = 0
        if let base = values["~"]?.string {
            addedBytes = values.values.reduce(0) { $0 + Self.uses($1) } * base.utf8.count
            if addedBytes <= Self.mostAddedBytes { values = values.mapValues { Self.replaced($0, base) } }
        }
        self.values = values
        self.addedBytes = addedBytes
        valueCount = values.values.reduce(0) { $0 + Self.count($1) }
        templateBytes = Self.templateBytes(in: values)
    }

    private static func templateBytes(in values: [String: JSONValue]) -> Int {
        values.reduce(0) { sum, member in
            switch member.value {
            case .string(let text) where member.key.hasSuffix("template"): sum + text.utf8.count
            case .object(let members): sum + templateBytes(in: members)
            case .array(let list): list.reduce(sum) { $0 + templateBytes(in: $1.object ?? [:]) }
            default: sum
            }
        }
    }

    private static func count(_ value: JSONValue) -> Int {
        switch value {
        case .array(let list): list.reduce(1) { $0 + count($1) }
        case .object(let members): members.values.reduce(1) { $0 + count($1) }
        case .null, .bool, .integer, .number, .string: 1
        }
    }

    /// How many texts in a value contain the base topic.
    private static func uses(_ value: JSONValue) -> Int {
        switch value {
        case .string(let text): text.hasPrefix("~") || text.hasSuffix("~") ? 1 : 0
        case .array(let list): list.reduce(0) { $0 + uses($1) }
        case .object(let members): members.values.reduce(0) { $0 + uses($1) }
        case .null, .bool, .integer, .number: 0
        }
    }

    private static func replaced(_ value: JSONValue, _ base: String) -> JSONValue {
        switch value {
        case .string(let text) where text.hasPrefix("~"): .string(base + text.dropFirst())
        case .string(let text) where text.hasSuffix("~"): .string(text.dropLast() + base)
        case .array(let list): .array(list.map { replaced($0, base) })
        case .object(let members): .object(members.mapValues { replaced($0, base) })
        default: value
        }
    }

    /// The value of a key; nil if it is missing or null.
    subscript(key: String) -> JSONValue? {
        guard let value = values[key], !value.isNull else { return nil }
        return value
    }

    /// Whether the description removes something with `null`, such as a payload that the device does not know.
    func isNull(_ key: String) -> Bool { values[key] == .null }

    /// A text.
    func string(_ key: String) -> String? { self[key]?.string }

    /// A payload that represents a state: texts as they are, and other values as templates print them.
    func payload(_ key: String, default standard: String) -> String { self[key]?.printed ?? standard }

    /// A payload that the device knows; nil if the key is missing or null.
    func payload(_ key: String) -> String? { self[key]?.printed }

    /// A number.
    func number(_ key: String) -> Double? { self[key]?.double }

    /// A Boolean value, which may be written as text.
    func isTrue(_ key: String) -> Bool {
        guard let value = self[key] else { return false }
        return value.bool ?? (value.printed.lowercased() == "true")
    }

    /// A topic.
    /// - Throws: ``DiscoveryProblem`` when nothing can be published to it.
    func topic(_ key: String) throws(DiscoveryProblem) -> String? {
        guard let value = self[key] else { return nil }
        guard let topic = value.string, TopicName.isValid(topic) else {
            throw DiscoveryProblem("\(key) is not a topic")
        }
        return topic
    }

    /// A template.
    /// - Throws: ``DiscoveryProblem`` when it uses what is not supported.
    func template(_ key: String) throws(DiscoveryProblem) -> Template? {
        guard let source = string(key), !source.isEmpty else { return nil }
        do throws(TemplateError) {
            return try Template(source)
        } catch {
            throw DiscoveryProblem("\(key) \(error)")
        }
    }

    /// Where a state comes from: a topic, and the template that extracts it from the payloads.
    func source(_ topic: String, _ template: String) throws(DiscoveryProblem) -> ValueSource? {
        guard let name = try self.topic(topic) else { return nil }
        return ValueSource(topic: name, template: try self.template(template))
    }

    /// Where a command goes: a topic, and the template that makes its payloads.
    func target(_ topic: String, _ template: String = "command_template") throws(DiscoveryProblem) -> CommandTarget? {
        guard let name = try self.topic(topic) else { return nil }
        return CommandTarget(
            topic: name, template: try self.template(template), isRetained: isTrue("retain"),
            qualityOfService: self["qos"]?.int.map { min(max($0, 0), 1) } ?? 0)
    }
}
