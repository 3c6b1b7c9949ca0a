import HomeTypes

#if canImport(Combine)
    import Combine
#else
    import OpenCombine
#endif

/// The types of a device (Home APIs, `DeviceTypeController`).
///
/// A device that has a type also has those that the type includes: a dimmable light is also an on/off light.
public final class DeviceTypeController: Sendable {
    let model: HomeModel
    let content: DeviceContent

    init(_ model: HomeModel, _ content: DeviceContent) {
        self.model = model
        self.content = content
    }

    /// Whether the device had the type when it was read.
    public func contains(_ type: any DeviceType.Type) -> Bool { content.contains(type) }

    /// How many parts of the device had the type when it was read.
    public func count(_ type: any DeviceType.Type) -> Int { content.parts.count { $0.isKind(of: type) } }

    /// The device as a type; nil if it does not have it, or cannot be reached.
    public func get<Wanted: DeviceType>(_ type: Wanted.Type) async -> Wanted? {
        guard contains(type) else { return nil }
        return try? await subscribe(type).firstValue()
    }

    /// The device as a type; nil if it does not have it, or cannot be reached.
    @_disfavoredOverload public func get(_ type: any DeviceType.Type) async -> (any DeviceType)? {
        func opened<Wanted: DeviceType>(_ type: Wanted.Type) async -> (any DeviceType)? { await get(type) }
        return await opened(type)
    }

    /// All parts of the device that have a type.
    /// - Throws: `unavailable` when the gateway cannot be reached.
    public func getAll<Wanted: DeviceType>(of type: Wanted.Type) async throws(HomeError) -> [Wanted] {
        guard contains(type) else { return [] }
        return try await subscribeAll(of: type).firstValue() ?? []
    }

    /// The device as a type, again after each change of one of its traits. If several parts have the type, it is that of
    /// the first. A device without the type completes immediately.
    public func subscribe<Wanted: DeviceType>(_ type: Wanted.Type) -> AnyPublisher<Wanted, HomeError> {
        publisher { record, model in record.values(of: type, model).first }
    }

    /// The device as a type, again after each change of one of its traits. A device without the type completes
    /// immediately.
    @_disfavoredOverload public func subscribe(_ type: any DeviceType.Type) -> AnyPublisher<any DeviceType, HomeError> {
        func opened<Wanted: DeviceType>(_ type: Wanted.Type) -> AnyPublisher<any DeviceType, HomeError> {
            subscribe(type).map { $0 as any DeviceType }.eraseToAnyPublisher()
        }
        return opened(type)
    }

    /// All parts of the device that have a type, again after each change of one of their traits.
    public func subscribeAll<Wanted: DeviceType>(of type: Wanted.Type) -> AnyPublisher<[Wanted], HomeError> {
        publisher { record, model in
            let values = record.values(of: type, model)
            return values.isEmpty ? nil : values
        }
    }

    /// All parts of the device that have a type.
    /// - Throws: see the method for a type that is known at compile time.
    @_disfavoredOverload public func getAll(
        of type: any DeviceType.Type
    ) async throws(HomeError) -> [any DeviceType] {
        func opened<Wanted: DeviceType>(_ type: Wanted.Type) async throws(HomeError) -> [any DeviceType] {
            try await getAll(of: type)
        }
        return try await opened(type)
    }

    /// All parts of the device that have a type, again after each change of one of their traits.
    @_disfavoredOverload public func subscribeAll(
        of type: any DeviceType.Type
    ) -> AnyPublisher<[any DeviceType], HomeError> {
        func opened<Wanted: DeviceType>(_ type: Wanted.Type) -> AnyPublisher<[any DeviceType], HomeError> {
            subscribeAll(of: type).map { $0.map { $0 as any DeviceType } }.eraseToAnyPublisher()
        }
        return opened(type)
    }

    /// All types of the device, again after each change of one of its traits.
    public func subscribeAll() -> AnyPublisher<DeviceTypeCollection, HomeError> {
        publisher { record, model in DeviceTypeCollection(record, model) }
    }

    private func publisher<Value: Sendable & Equatable>(
        _ read: @escaping @Sendable (DeviceRecord, HomeModel) -> Value?
    ) -> AnyPublisher<Value, HomeError> {
        let id = content.id
        return model.publisher(.device(id)) { home, model in
            home.devices[id].flatMap { read($0, model) }.map { .value($0) } ?? .gone
        }
    }
}

/// The types of a device with their traits (Home APIs, `DeviceTypeCollection`). A value is a snapshot.
public struct DeviceTypeCollection: Sendable, Equatable {
    private let record: DeviceRecord
    private let model: HomeModel

    init(_ record: DeviceRecord, _ model: HomeModel) {
        self.record = record
        self.model = model
    }

    public static func == (first: DeviceTypeCollection, second: DeviceTypeCollection) -> Bool {
        first.record.type == second.record.type && first.record.endpoints == second.record.endpoints
    }

    /// Every type that a part of the device has, without those that these include.
    public var all: [any DeviceType] { record.allValues(model) }

    /// The device as a type; nil if it does not have it.
    public subscript<Wanted: DeviceType>(type: Wanted.Type) -> Wanted? { record.values(of: type, model).first }

    /// Whether the device has the type.
    public func contains(_ type: any DeviceType.Type) -> Bool { !record.endpoints(of: type).isEmpty }

    /// All parts of the device that have a type.
    public func getAll<Wanted: DeviceType>(of type: Wanted.Type) -> [Wanted] { record.values(of: type, model) }

    /// The device as a type; nil if it does not have it.
    @_disfavoredOverload public subscript(type: any DeviceType.Type) -> (any DeviceType)? { getAll(of: type).first }

    /// All parts of the device that have a type.
    @_disfavoredOverload public func getAll(of type: any DeviceType.Type) -> [any DeviceType] {
        func opened<Wanted: DeviceType>(_ type: Wanted.Type) -> [any DeviceType] { getAll(of: type) }
        return opened(type)
    }
}
