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
        // Every attribute has a name. What else an app's own extension computes from them does not.
        let name = Schema.name(of: path, in: trait) ?? "\(path)"
        return TypedExpression(.field(name, of: .reference(id)))
    }
}

extension HomeObject {
    var graphEntity: GraphEntity { objectType == .structure ? .structure(id) : .device(id) }
}
