import GatewayClient
import HomeTypes

#if canImport(Combine)
    import Combine
#else
    import OpenCombine
#endif

/// A collection of the home's objects (Home APIs, `Query`).
public protocol Query<Element>: Sendable {
    /// The kind of object.
    associatedtype Element: HomeObject

    /// The whole collection as it is now, and again after each change of it: when an object is added, removed or
    /// changed.
    func batched() -> AnyPublisher<Set<Element>, HomeError>

    /// The objects one at a time: all of them at first, then each one that was added or changed.
    func stream() -> AnyPublisher<Element, HomeError>

    /// The collection as it is now.
    /// - Throws: `unavailable` when the gateway cannot be reached, `cancelled` when the task is cancelled.
    func list() async throws(HomeError) -> Set<Element>
}

extension Query {
    public func list() async throws(HomeError) -> Set<Element> { try await batched().firstValue() ?? [] }
}

/// A collection that the model knows.
struct ModelQuery<Element: HomeObject>: Query {
    let model: HomeModel
    let topic: HomeState.Topic
    let read: @Sendable (HomeState, HomeModel) -> [Element]

    func batched() -> AnyPublisher<Set<Element>, HomeError> {
        model.publisher(topic) { [read] home, model in .value(Set(read(home, model))) }
    }

    func stream() -> AnyPublisher<Element, HomeError> {
        let (model, topic, read) = (model, topic, read)
        return StreamPublisher {
            ModelSource(model, topic, ChangedObjects { read($0, model) })
        }.eraseToAnyPublisher()
    }
}

extension HomeModel {
    func structures() -> ModelQuery<Structure> {
        ModelQuery(model: self, topic: .structures) { home, model in
            home.structures.values.map { Structure(model, $0) }
        }
    }

    func rooms() -> ModelQuery<Room> {
        ModelQuery(model: self, topic: .rooms) { home, model in home.rooms.values.map { Room(model, $0) } }
    }

    func devices() -> ModelQuery<HomeDevice> {
        ModelQuery(model: self, topic: .devices) { home, model in
            home.devices.values.map { HomeDevice(model, $0) }
        }
    }
}

/// The structures of the home, with methods to create and delete them (Home APIs, `StructuresController`).
public struct StructuresController: Query {
    let model: HomeModel

    public func batched() -> AnyPublisher<Set<Structure>, HomeError> { model.structures().batched() }

    public func stream() -> AnyPublisher<Structure, HomeError> { model.structures().stream() }

    /// Creates a structure.
    public func create(name: String) async throws(HomeError) -> Structure {
        try await model.changeStructure(.post, "/v1/structures", ["name": name])
    }

    /// Deletes a structure and its rooms.
    /// - Throws: `failedPrecondition` while it has devices.
    public func delete(structure: Structure) async throws(HomeError) {
        try await model.request(.delete, "/v1/structures/\(structure.id)")
        await model.settle(.structures) { [id = structure.id] in $0.structures[id] == nil }
    }
}
