import Foundation
import HomeTypes

/// An endpoint of a virtual device: its state, and what commands do to it. Pure: nothing is kept here.
struct VirtualEndpoint: Sendable {
    /// The number of the endpoint.
    let id: UInt16
    /// Its type.
    let type: any DeviceType.Type
    /// The state.
    var traits: TraitCollection

    /// An endpoint in the state in which it was switched on for the first time.
    init(id: UInt16, type: any DeviceType.Type) {
        self.id = id
        self.type = type
        var traits = TraitCollection()
        for trait in type.requiredTraits { traits.set(Self.initial(trait)) }
        if !type.isUtilityType { traits.set(Self.initial(Matter.IdentifyTrait.self)) }
        self.traits = traits
    }

    /// Adopts what an earlier run kept. Traits that the type no longer has are left out.
    mutating func restore(_ kept: TraitCollection) {
        for trait in kept.all where traits.contains(Swift.type(of: trait)) {
            traits.merge(TraitCollection([trait]))
        }
    }

    /// The first state of a trait, with the list of the commands that it accepts.
    private static func initial<Kind: Trait>(_ type: Kind.Type) -> any Trait {
        var trait: any Trait = Kind(attributes: initialAttributes(of: type))
        let commands = type.supportedCommandTypes.filter { VirtualCommands.standard.accepts($0) }.map { $0.id }
        if !type.supportedCommandTypes.isEmpty, let list = acceptedCommands(commands, of: type) { trait = list(trait) }
        return trait
    }

    /// Merges the list of accepted commands into a trait.
    private static func acceptedCommands<Kind: Trait>(
        _ commands: [UInt32], of type: Kind.Type
    ) -> ((any Trait) -> any Trait)? {
        // Every trait with commands has this attribute, under this name.
        guard let body = try? JSONEncoder().encode(["acceptedCommandList": commands]),
            let list = try? JSONDecoder().decode(Kind.Attributes.self, from: body)
        else { return nil }
        return { trait in
            guard let trait = trait as? Kind else { return trait }
            var attributes = trait.attributes
            attributes.merge(list)
            return Kind(attributes: attributes)
        }
    }

    /// The traits that differ from an earlier state.
    func changes(since earlier: VirtualEndpoint) -> TraitCollection {
        TraitCollection(
            traits.all.filter { trait in
                let known = earlier.traits[Swift.type(of: trait).name]
                return TraitCollection([trait]) != TraitCollection([known].compactMap { $0 })
            })
    }
}
