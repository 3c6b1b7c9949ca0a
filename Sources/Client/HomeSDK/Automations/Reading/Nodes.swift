import AutomationGraph
import HomeTypes

/// Starts when a trait changes (Home APIs, `AttributeStarter`).
public struct AttributeStarter: Starter, TraitNode {
    let reader: GraphReader
    public var graphNode: GraphNode { .attributeStarter(reader) }
    public var graphTrait: GraphTrait { reader.source }

    init(_ reader: GraphReader) { self.reader = reader }
}

extension AttributeStarter {
    /// An attribute of a trait that is known only at run time, for conditions. Validation finds out whether it has that
    /// kind of value.
    public func attribute<Value>(_ name: String, of type: Value.Type = Value.self) -> TypedExpression<Value> {
        TypedExpression(.field(name, of: .reference(reader.id)))
    }
}

/// Starts when an event happens (Home APIs, `EventStarter`).
public struct EventStarter: Starter, TraitNode {
    let starter: GraphEventStarter
    public var graphNode: GraphNode { .eventStarter(starter) }
    public var graphTrait: GraphTrait { starter.source }
    /// The event; nil for one that this app does not know.
    public var event: (any Event.Type)? { trait.flatMap { Vocabulary.event(named: starter.event, of: $0) } }
    /// The values that fields of the event must have, by their names.
    public var parameters: [String: JSONObject.Value] { starter.parameters }

    init(_ starter: GraphEventStarter) { self.starter = starter }
}

/// Starts when the app calls `execute()` (Home APIs, `ManualStarter`).
public struct ManualStarter: Starter {
    public var graphNode: GraphNode { .manualStarter }

    init() {}
}

/// Ends its path unless its expression is true (Home APIs, `Condition`).
public struct Condition: Node {
    let condition: GraphCondition
    public var graphNode: GraphNode { .condition(condition) }
    /// What must be true.
    public var expression: any AutomationExpression { condition.expression.view }
    /// How long it must stay true; nil if it only has to be true once.
    public var duration: Duration? { condition.duration }

    init(_ condition: GraphCondition) { self.condition = condition }
}

/// Reads a trait at its place in the flow (Home APIs, `StateReader`).
public struct StateReader: TraitNode {
    let reader: GraphReader
    public var graphNode: GraphNode { .stateReader(reader) }
    public var graphTrait: GraphTrait { reader.source }

    init(_ reader: GraphReader) { self.reader = reader }
}

extension StateReader {
    /// An attribute of a trait that is known only at run time, for conditions. Validation finds out whether it has that
    /// kind of value.
    public func attribute<Value>(_ name: String, of type: Value.Type = Value.self) -> TypedExpression<Value> {
        TypedExpression(.field(name, of: .reference(reader.id)))
    }
}

/// What an action does (Home APIs, `Behavior`).
public protocol Behavior: Sendable, Hashable {}

/// A command with its parameters (Home APIs, `AutomationCommand`).
public struct AutomationCommand: Behavior {
    /// The command; nil for one that this app does not know.
    public var command: (any Command.Type)? {
        Vocabulary.trait(named: traitName).flatMap { Vocabulary.command(named: name, of: $0) }
    }
    /// The command's name.
    public let name: String
    /// The parameters by their names.
    public let parameters: [String: JSONObject.Value]
    let traitName: String
}

/// Attributes to write.
public struct AttributeUpdate: Behavior {
    /// The values by the names of the attributes.
    public let attributes: [String: JSONObject.Value]
}

/// Sends a command or writes attributes (Home APIs, `Action`).
public struct Action: TraitNode {
    let action: GraphAction
    public var graphNode: GraphNode { .action(action) }
    public var graphTrait: GraphTrait { action.target }
    /// What it does: ``AutomationCommand`` or ``AttributeUpdate``.
    public var behavior: any Behavior {
        switch action.behaviour {
        case .command(let name, let parameters):
            AutomationCommand(name: name, parameters: parameters, traitName: action.target.trait)
        case .update(let attributes): AttributeUpdate(attributes: attributes)
        }
    }

    init(_ action: GraphAction) { self.action = action }
}

/// Waits.
public struct Delay: Node {
    /// How long.
    public let duration: Duration
    public var graphNode: GraphNode { .delay(duration) }

    init(_ duration: Duration) { self.duration = duration }
}

/// Ignores the starters for a while after the automation has started.
public struct Suppression: Node {
    /// How long.
    public let duration: Duration
    public var graphNode: GraphNode { .suppress(duration) }

    init(_ duration: Duration) { self.duration = duration }
}

/// A node that this version of the library does not know, or with a type or trait that is not among the app's
/// `referencedAutomationTypes`.
public struct UnknownNode: Node {
    public let graphNode: GraphNode
}
