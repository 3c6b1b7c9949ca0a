import Foundation
import HomeTypes

/// An endpoint of a virtual device: its state, and what commands do to it. It is pure: nothing is stored here.
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

    /// Adopts what an earlier run kept. Traits that the type no longer has are left out, and so is the list of commands
    /// that an earlier version of the gateway accepted.
    mutating func restore(_ kept: TraitCollection) {
        for trait in kept.all where traits.contains(Swift.type(of: trait)) {
            traits.merge(TraitCollection([trait]))
            let type: any Trait.Type = Swift.type(of: trait)
            if let list = Self.commandList(of: type) { traits.merge(TraitCollection([list])) }
        }
    }

    /// The first state of a trait, with the list of the commands that it accepts.
    private static func initial<Kind: Trait>(_ type: Kind.Type) -> any Trait {
        var attributes = initialAttributes(of: type)
        if let list = commandList(of: type) as? Kind { attributes.merge(list.attributes) }
        return Kind(attributes: attributes)
    }

    /// A trait with nothing but the list of the commands that virtual devices accept; nil for a trait without commands.
    private static func commandList<Kind: Trait>(of type: Kind.Type) -> (any Trait)? {
        guard !type.supportedCommandTypes.isEmpty else { return nil }
        let commands = type.supportedCommandTypes.filter { VirtualCommands.standard.accepts($0) }.map { $0.id }
        // Every trait with commands has this attribute, under this name.
        guard let body = try? JSONEncoder().encode(["acceptedCommandList": commands]),
            let list = try? JSONDecoder().decode(Kind.Attributes.self, from: body)
        else { return nil }
        return Kind(attributes: list)
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
