import AutomationGraph
import Foundation
import HomeTypes

/// What an automation does, in plain words: when, if, then.
struct AutomationText: Sendable {
    /// What people call devices and structures, by their identifiers.
    let names: [String: String]

    /// The words for a graph.
    func words(for graph: Graph) -> String {
        guard graph.otherVersion == nil else {
            return "This automation comes from a later version. It is kept, and does not run."
        }
        guard let first = graph.nodes.first else { return "This automation is empty." }
        var sources: [String: GraphTrait] = [:]
        collectSources(graph.nodes, &sources)
        var writer = Writer(names: names, sources: sources)
        var rest = graph.nodes[...]
        if let start = writer.start(first) {
            writer.line(0, "When \(start)")
            rest = rest.dropFirst()
        }
        writer.flow(Array(rest), depth: 0, opening: "then")
        return writer.lines.joined(separator: "\n")
    }

    private func collectSources(_ nodes: [GraphNode], _ sources: inout [String: GraphTrait]) {
        for node in nodes {
            switch node {
            case .attributeStarter(let reader), .stateReader(let reader): sources[reader.id] = reader.source
            case .eventStarter(let starter): sources[starter.id] = starter.source
            default: break
            }
            collectSources(node.children.map(\.node), &sources)
        }
    }
}

extension AutomationText {
    /// Writes lines. What a flow contains is indented by two spaces.
    struct Writer {
        let names: [String: String]
        /// The traits that expressions name, by the names of their nodes.
        let sources: [String: GraphTrait]
        private(set) var lines: [String] = []

        init(names: [String: String], sources: [String: GraphTrait]) {
            self.names = names
            self.sources = sources
        }

        mutating func line(_ depth: Int, _ text: String) {
            lines.append(String(repeating: "  ", count: depth) + text)
        }

        /// What people call a device or structure.
        func name(_ entity: GraphEntity) -> String { names[entity.id] ?? "something that no longer exists" }

        /// A starter in words; nil for any other node.
        func start(_ node: GraphNode) -> String? {
            switch node {
            case .manualStarter: "somebody runs it"
            case .attributeStarter(let reader):
                "\(Self.spaced(reader.source.trait)) of \(name(reader.source.entity)) changes"
            case .eventStarter(let starter): schedule(starter) ?? event(starter)
            case .select(let choices):
                choices.map { choice in
                    if case .sequential(let nodes) = choice, let first = nodes.first {
                        let conditions = nodes.dropFirst().compactMap { node -> String? in
                            guard case .condition(let condition) = node else { return nil }
                            return words(condition)
                        }
                        return ([start(first) ?? "something of a later version happens"] + conditions)
                            .joined(separator: " and ")
                    }
                    return start(choice) ?? "something of a later version happens"
                }.joined(separator: ", or when ")
            default: nil
            }
        }

        private func event(_ starter: GraphEventStarter) -> String {
            var words = "\(name(starter.source.entity)) reports \(Self.spaced(starter.event))"
            if !starter.parameters.isEmpty {
                let values = starter.parameters.sorted { $0.key < $1.key }
                    .map { "\(Self.spaced($0.key)) \(Self.words($0.value))" }
                words += " with " + values.joined(separator: " and ")
            }
            return words
        }

        private func schedule(_ starter: GraphEventStarter) -> String? {
            guard Vocabulary.trait(named: starter.source.trait)?.name == "Time" else { return nil }
            var words: [String] = []
            if let time = starter.parameters["clockTime"] { words.append("it is \(Self.words(time))") }
            if case .object(let sun)? = starter.parameters["solarTime"] { words.append(Self.sun(sun)) }
            if case .text(let cron)? = starter.parameters["cronExpression"] {
                words.append("the time matches “\(cron)” (minute, hour, day, month, weekday)")
            }
            if case .list(let days)? = starter.parameters["daysOfWeek"], !days.isEmpty {
                words.append("on " + days.map { Self.words($0).capitalized }.joined(separator: ", "))
            }
            return words.isEmpty ? nil : words.joined(separator: " ")
        }

        private static func sun(_ value: [String: JSONObject.Value]) -> String {
            var moment = "the sun"
            if case .text(let type)? = value["type"] { moment = type }
            guard case .integer(let offset)? = value["offset"], offset != 0 else { return "it is \(moment)" }
            return "it is \(duration(.seconds(abs(offset)))) \(offset < 0 ? "before" : "after") \(moment)"
        }

        /// Nodes in order.
        mutating func flow(_ nodes: [GraphNode], depth: Int, opening: String? = nil) {
            var isFirst = true
            for node in nodes {
                switch node {
                case .condition(let condition): line(depth, "if \(words(condition))")
                case .stateReader: continue
                default:
                    let word = isFirst ? opening ?? "" : opening == nil ? "" : "and then"
                    step(node, depth, word.isEmpty ? "" : word + " ")
                    isFirst = false
                }
            }
        }

        private mutating func step(_ node: GraphNode, _ depth: Int, _ prefix: String) {
            switch node {
            case .action(let action): line(depth, prefix + words(action))
            case .delay(let duration): line(depth, prefix + "wait \(Self.duration(duration))")
            case .suppress(let duration):
                line(depth, prefix + "ignore what starts it for \(Self.duration(duration))")
            case .sequential(let nodes):
                line(depth, prefix + "in order:")
                flow(nodes, depth: depth + 1)
            case .parallel(let nodes):
                line(depth, prefix + "at the same time:")
                flow(nodes, depth: depth + 1)
            case .ifThen(let choice):
                line(depth, prefix + "if \(words(choice.ifThen.condition)):")
                flow(choice.ifThen.nodes, depth: depth + 1)
                for branch in choice.elseIfThens {
                    line(depth, "otherwise, if \(words(branch.condition)):")
                    flow(branch.nodes, depth: depth + 1)
                }
                if let nodes = choice.elseThen {
                    line(depth, "otherwise:")
                    flow(nodes, depth: depth + 1)
                }
            case .unknown: line(depth, prefix + "do something that comes from a later version")
            case .attributeStarter, .eventStarter, .manualStarter, .select:
                line(depth, "when \(start(node) ?? "")")
            case .condition, .stateReader: break
            }
        }

        private func words(_ condition: GraphCondition) -> String {
            let expression = words(condition.expression)
            return condition.duration.map { "\(expression), for \(Self.duration($0))" } ?? expression
        }
    }
}
