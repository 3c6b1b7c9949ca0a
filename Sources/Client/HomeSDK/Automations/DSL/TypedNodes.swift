import AutomationGraph
import HomeTypes
import Synchronization

/// Numbers for nodes that expressions refer to. A draft gives them short names in the order of its graph.
enum NodeNames {
    private static let count = Atomic<UInt64>(0)

    static func next() -> String { "unplaced\(count.add(1, ordering: .relaxed).newValue)" }
}

/// A starter whose attributes conditions can use: `lamp.onOff.equals(true)`.
@dynamicMemberLookup
public struct TypedStarter<Watched: Trait>: Starter, TraitNode {
    let reader: GraphReader
    public var graphNode: GraphNode { .attributeStarter(reader) }
    public var graphTrait: GraphTrait { reader.source }

    /// An attribute of the trait that has changed.
    public subscript<Value>(dynamicMember path: KeyPath<Watched.Attributes, Value?>) -> TypedExpression<Value> {
        reader.attribute(path, of: Watched.self)
    }
}

/// A starter whose event conditions can use: `doorLockEvent.lockOperationType.equals(.unlock)`.
@dynamicMemberLookup
public struct TypedEventStarter<Awaited: Event>: Starter, TraitNode {
    let starter: GraphEventStarter
    public var graphNode: GraphNode { .eventStarter(starter) }
    public var graphTrait: GraphTrait { starter.source }

    // The three forms are ranked, so that a field that may be absent or null has the type of its value.

    /// A field of the event, which always has a value.
    @_disfavoredOverload
    public subscript<Value: Hashable & Sendable>(
        dynamicMember path: KeyPath<Awaited, Value>
    ) -> TypedExpression<Value> { starter.field(path) }

    /// A field of the event, which may be absent or null.
    public subscript<Value: Hashable & Sendable>(
        dynamicMember path: KeyPath<Awaited, Value?>
    ) -> TypedExpression<Value> { starter.field(path) }

    /// A field of the event, which may be absent, and null.
    public subscript<Value: Hashable & Sendable>(
        dynamicMember path: KeyPath<Awaited, Value??>
    ) -> TypedExpression<Value> { starter.field(path) }
}

/// A state reader whose attributes conditions can use.
@dynamicMemberLookup
public struct TypedStateReader<Read: Trait>: TraitNode {
    let reader: GraphReader
    public var graphNode: GraphNode { .stateReader(reader) }
    public var graphTrait: GraphTrait { reader.source }

    /// An attribute of the trait that is read.
    public subscript<Value>(dynamicMember path: KeyPath<Read.Attributes, Value?>) -> TypedExpression<Value> {
        reader.attribute(path, of: Read.self)
    }
}

extension GraphReader {
    fileprivate func attribute<Kind: Trait, Value>(
        _ path: KeyPath<Kind.Attributes, Value?>, of trait: Kind.Type
    ) -> TypedExpression<Value> {
        // Every attribute has a name. A value that an app's own extension computes from them does not.
        let name = Schema.name(of: path, in: trait) ?? "\(path)"
        return TypedExpression(.field(name, of: .reference(id)))
    }
}

extension GraphEventStarter {
    fileprivate func field<Kind: Event, Field: Equatable, Value>(
        _ path: KeyPath<Kind, Field>
    ) -> TypedExpression<Value> {
        // Every field has a name. Other properties of an event, such as its time, do not, and validation refuses them.
        let name = Schema.fieldName(of: path, in: Kind.self) ?? "\(path)"
        return TypedExpression(.field(name, of: .reference(id)))
    }
}

extension HomeObject {
    var graphEntity: GraphEntity { objectType == .structure ? .structure(id) : .device(id) }
}
