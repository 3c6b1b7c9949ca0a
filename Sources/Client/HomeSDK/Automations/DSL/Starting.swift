import AutomationGraph
import HomeTypes

/// Starts an automation when a trait of a device changes.
public func starter<Watched: Trait>(
    _ entity: some HomeObject, _ type: any DeviceType.Type, _ trait: Watched.Type
) -> TypedStarter<Watched> {
    TypedStarter(reader: GraphReader(id: NodeNames.next(), entity.source(type, trait)))
}

/// Starts an automation when a trait of a structure changes.
public func starter<Watched: Trait>(_ entity: some HomeObject, _ trait: Watched.Type) -> TypedStarter<Watched> {
    TypedStarter(reader: GraphReader(id: NodeNames.next(), entity.source(nil, trait)))
}

/// Starts an automation when a trait of a device changes that is known only at run time.
@_disfavoredOverload
public func starter(
    _ entity: any HomeObject, _ type: any DeviceType.Type, _ trait: any Trait.Type
) -> AttributeStarter {
    AttributeStarter(GraphReader(id: NodeNames.next(), entity.source(type, trait)))
}

/// Starts an automation when a trait of a structure changes that is known only at run time.
@_disfavoredOverload
public func starter(_ entity: any HomeObject, _ trait: any Trait.Type) -> AttributeStarter {
    AttributeStarter(GraphReader(id: NodeNames.next(), entity.source(nil, trait)))
}

/// Starts an automation when an event of a device happens.
public func starter<Awaited: Event>(
    _ entity: some HomeObject, _ type: any DeviceType.Type, _ event: Awaited.Type
) -> TypedEventStarter<Awaited> {
    TypedEventStarter(starter: entity.starter(type, event, [:]))
}

/// Starts an automation when an event of a device happens with these values.
public func starter<Awaited: Event>(
    _ entity: some HomeObject, _ type: any DeviceType.Type, _ event: Awaited.Type,
    @EventParameterBuilder<Awaited> _ parameters: () -> [EventParameter<Awaited>]
) -> TypedEventStarter<Awaited> {
    TypedEventStarter(starter: entity.starter(type, event, values(of: parameters())))
}

/// Starts an automation when an event of a structure happens.
public func starter<Awaited: Event>(
    _ entity: some HomeObject, _ event: Awaited.Type
) -> TypedEventStarter<Awaited> {
    TypedEventStarter(starter: entity.starter(nil, event, [:]))
}

/// Starts an automation when an event of a structure happens with these values, for example at a time of day.
public func starter<Awaited: Event>(
    _ entity: some HomeObject, _ event: Awaited.Type,
    @EventParameterBuilder<Awaited> _ parameters: () -> [EventParameter<Awaited>]
) -> TypedEventStarter<Awaited> {
    TypedEventStarter(starter: entity.starter(nil, event, values(of: parameters())))
}

/// Starts an automation when an event of a device happens that is known only at run time.
@_disfavoredOverload
public func starter(
    _ entity: any HomeObject, _ type: any DeviceType.Type, _ event: any Event.Type
) -> EventStarter {
    EventStarter(entity.starter(type, event, [:]))
}

/// Starts an automation when an event of a structure happens that is known only at run time.
@_disfavoredOverload
public func starter(_ entity: any HomeObject, _ event: any Event.Type) -> EventStarter {
    EventStarter(entity.starter(nil, event, [:]))
}

/// Starts an automation when the app calls `execute()`.
public func manualStarter() -> ManualStarter { ManualStarter() }

/// Reads a trait of a device at this place in the flow.
public func stateReader<Read: Trait>(
    _ entity: some HomeObject, _ type: any DeviceType.Type, _ trait: Read.Type
) -> TypedStateReader<Read> {
    TypedStateReader(reader: GraphReader(id: NodeNames.next(), entity.source(type, trait)))
}

/// Reads a trait of a structure at this place in the flow.
public func stateReader<Read: Trait>(_ entity: some HomeObject, _ trait: Read.Type) -> TypedStateReader<Read> {
    TypedStateReader(reader: GraphReader(id: NodeNames.next(), entity.source(nil, trait)))
}

/// Reads a trait of a device at this place in the flow that is known only at run time.
@_disfavoredOverload
public func stateReader(
    _ entity: any HomeObject, _ type: any DeviceType.Type, _ trait: any Trait.Type
) -> StateReader {
    StateReader(GraphReader(id: NodeNames.next(), entity.source(type, trait)))
}

/// Reads a trait of a structure at this place in the flow that is known only at run time.
@_disfavoredOverload
public func stateReader(_ entity: any HomeObject, _ trait: any Trait.Type) -> StateReader {
    StateReader(GraphReader(id: NodeNames.next(), entity.source(nil, trait)))
}

/// Collects the parameters of an event.
@resultBuilder public enum EventParameterBuilder<Kind: Event> {
    /// Joins parameters.
    public static func buildBlock(_ parameters: EventParameter<Kind>...) -> [EventParameter<Kind>] { parameters }
}

extension HomeObject {
    func source(_ type: (any DeviceType.Type)?, _ trait: any Trait.Type) -> GraphTrait {
        GraphTrait(graphEntity, deviceType: type?.name, trait: trait.name)
    }

    fileprivate func starter(
        _ type: (any DeviceType.Type)?, _ event: any Event.Type, _ parameters: [String: JSONObject.Value]
    ) -> GraphEventStarter {
        GraphEventStarter(
            id: NodeNames.next(), source(type, event.trait), event: event.name, parameters: parameters)
    }
}

/// The values of parameters by the names of the fields.
private func values<Kind: Event>(of parameters: [EventParameter<Kind>]) -> [String: JSONObject.Value] {
    var values: [String: JSONObject.Value] = [:]
    for parameter in parameters { values[parameter.name] = JSONObject.Value(ofValue: parameter.value) }
    return values
}
