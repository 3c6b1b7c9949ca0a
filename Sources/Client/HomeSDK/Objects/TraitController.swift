import HomeTypes

#if canImport(Combine)
    import Combine
#else
    import OpenCombine
#endif

/// The traits of a device or a structure, without types (Home APIs, `TraitController`).
public final class TraitController: Sendable {
    private let model: HomeModel
    /// The device or structure.
    private let owner: HomeState.Topic

    init(_ model: HomeModel, _ owner: HomeState.Topic) {
        self.model = model
        self.owner = owner
    }

    /// Whether the object has the trait, as far as it is known.
    public func contains(_ trait: any Trait.Type) -> Bool {
        model.lastKnown.flatMap { Self.traits(of: owner, in: $0, model) }?.contains(trait) ?? false
    }

    /// The trait; nil if the object does not have it, or cannot be reached.
    public func get<Wanted: Trait>(_ trait: Wanted.Type) async -> Wanted? {
        try? await subscribe(trait).firstValue()
    }

    /// The trait, again after each change. An object without it completes immediately.
    public func subscribe<Wanted: Trait>(_ trait: Wanted.Type) -> AnyPublisher<Wanted, HomeError> {
        model.publisher(owner) { [owner] home, model in
            Self.traits(of: owner, in: home, model)?[trait].map { .value($0) } ?? .gone
        }
    }

    /// The traits of a device: those of the primary type, and those of the others that the primary type does not have.
    private static func traits(of owner: HomeState.Topic, in home: HomeState, _ model: HomeModel) -> TraitCollection? {
        switch owner {
        case .structure(let id): return home.structures[id]?.traits
        case .device(let id):
            guard let device = home.devices[id] else { return nil }
            let primary = device.primaryEndpoint
            let ordered = (primary.map { [$0] } ?? []) + device.endpoints.filter { $0.id != primary?.id }
            var result = TraitCollection()
            for endpoint in ordered {
                for trait in endpoint.traits(of: id, model).all where !result.contains(type(of: trait)) {
                    result.set(trait)
                }
            }
            return result
        case .structures, .rooms, .devices: return nil
        }
    }
}
