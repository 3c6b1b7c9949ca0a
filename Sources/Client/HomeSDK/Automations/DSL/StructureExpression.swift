import AutomationGraph
import HomeTypes

extension Structure {
    /// The structure as an expression (Home APIs, `atExecutionTime`). Starters, state readers and actions accept it
    /// instead of the structure.
    ///
    /// An automation keeps the structure's identifier and not a snapshot. The name, the place and the traits are those that
    /// the structure has when the automation runs.
    public func atExecutionTime() -> TypedExpression<Structure> { TypedExpression(.constant(.text(id))) }
}

/// Starts an automation when a trait of a structure changes.
public func starter<Watched: Trait>(
    _ entity: TypedExpression<Structure>, _ trait: Watched.Type
) -> TypedStarter<Watched> { starter(entity.structure, trait) }

/// Starts an automation when a trait of a structure changes that is known only at run time.
@_disfavoredOverload
public func starter(_ entity: TypedExpression<Structure>, _ trait: any Trait.Type) -> AttributeStarter {
    starter(entity.structure, trait)
}

/// Starts an automation when an event of a structure happens.
public func starter<Awaited: Event>(
    _ entity: TypedExpression<Structure>, _ event: Awaited.Type
) -> TypedEventStarter<Awaited> { starter(entity.structure, event) }

/// Starts an automation when an event of a structure happens with these values, for example at a time of day.
public func starter<Awaited: Event>(
    _ entity: TypedExpression<Structure>, _ event: Awaited.Type,
    @EventParameterBuilder<Awaited> _ parameters: () -> [EventParameter<Awaited>]
) -> TypedEventStarter<Awaited> { starter(entity.structure, event, parameters) }

/// Starts an automation when an event of a structure happens that is known only at run time.
@_disfavoredOverload
public func starter(_ entity: TypedExpression<Structure>, _ event: any Event.Type) -> EventStarter {
    starter(entity.structure, event)
}

/// Reads a trait of a structure at this place in the flow.
public func stateReader<Read: Trait>(
    _ entity: TypedExpression<Structure>, _ trait: Read.Type
) -> TypedStateReader<Read> { stateReader(entity.structure, trait) }

/// Reads a trait of a structure at this place in the flow that is known only at run time.
@_disfavoredOverload
public func stateReader(_ entity: TypedExpression<Structure>, _ trait: any Trait.Type) -> StateReader {
    stateReader(entity.structure, trait)
}

/// Sends a command to a structure.
public func action<Sent: Command>(
    _ entity: TypedExpression<Structure>, _ behavior: () -> Sent
) -> Action { action(entity.structure, behavior) }

/// A structure of which only the identifier is known.
private struct NamedStructure: HomeObject {
    var id: String
    var objectType: HomeObjectType { .structure }
}

extension TypedExpression where Value == Structure {
    /// The structure that the expression stands for. Expressions of structures are constants: a graph does not have
    /// others. A field that is read as a structure does not name one, and validation refuses it.
    fileprivate var structure: some HomeObject {
        if case .constant(.text(let id)) = graphExpression { NamedStructure(id: id) } else { NamedStructure(id: "") }
    }
}
