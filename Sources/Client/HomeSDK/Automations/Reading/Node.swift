import AutomationGraph
import HomeTypes

/// An element of an automation's graph (Home APIs, `Node`): a starter, a condition, an action or a flow.
public protocol Node: Sendable, Hashable {
    /// The element in the form that the gateway keeps.
    var graphNode: GraphNode { get }
}

/// A node with nodes inside it (Home APIs, `Flow`).
public protocol Flow: Node {
    /// The nodes, in order.
    var nodes: [any Node] { get }
}

/// A node that starts an automation (Home APIs, `Starter`).
public protocol Starter: Node {}

/// What a node acts on or reads from.
public struct NodeEntity: Sendable, Hashable, CustomStringConvertible {
    /// The identifier.
    public let id: String
    /// Whether it is a device or a structure.
    public let objectType: HomeObjectType

    init(_ entity: GraphEntity) {
        id = entity.id
        if case .device = entity { objectType = .device } else { objectType = .structure }
    }

    public var description: String { "\(objectType.rawValue)@\(id)" }
}

/// A node that names a trait of an entity.
public protocol TraitNode: Node {
    /// The trait, in the form that the gateway keeps.
    var graphTrait: GraphTrait { get }
}

extension TraitNode {
    /// The device or structure.
    public var entity: NodeEntity { NodeEntity(graphTrait.entity) }
    /// The type of which the device has the trait; nil for structures, and for a type that this app does not know.
    public var deviceType: (any DeviceType.Type)? { graphTrait.deviceType.flatMap { Vocabulary.deviceType(named: $0) } }
    /// The trait; nil for one that this app does not know.
    public var trait: (any Trait.Type)? { Vocabulary.trait(named: graphTrait.trait) }
}

extension GraphNode {
    /// The node as app code reads it. One with a type or trait that the app has not registered is unknown to it.
    func view(_ types: AutomationTypes) -> any Node {
        switch self {
        case .sequential(let nodes): SequentialFlow(nodes, types)
        case .parallel(let nodes): ParallelFlow(nodes, types)
        case .select(let nodes): SelectFlow(nodes, types)
        case .attributeStarter(let reader) where types.contain(reader.source): AttributeStarter(reader)
        case .eventStarter(let starter) where types.contain(starter.source): EventStarter(starter)
        case .stateReader(let reader) where types.contain(reader.source): StateReader(reader)
        case .action(let action) where types.contain(action.target): Action(action)
        case .manualStarter: ManualStarter()
        case .condition(let condition): Condition(condition)
        case .ifThen(let choice): IfFlow(choice, types)
        case .delay(let duration): Delay(duration)
        case .suppress(let duration): Suppression(duration)
        case .attributeStarter, .eventStarter, .stateReader, .action, .unknown: UnknownNode(graphNode: self)
        }
    }
}
