import AutomationGraph
import HomeTypes

/// The types and traits that automations may use, in a form for looking them up.
struct AutomationTypes: Sendable, Hashable {
    /// The identifiers of the device types; nil for all.
    private var deviceTypes: Set<String>?
    /// The identifiers of the traits; nil for all.
    private var traits: Set<String>?

    /// Everything that the vocabulary has.
    static let all = AutomationTypes(nil)

    init(_ referenced: ReferencedAutomationTypes?) {
        deviceTypes = referenced.map { Set($0.deviceTypes.map { $0.identifier }) }
        traits = referenced.map { Set($0.traits.map { $0.identifier }) }
    }

    func contains(_ type: any DeviceType.Type) -> Bool { deviceTypes?.contains(type.identifier) ?? true }

    func contains(_ trait: any Trait.Type) -> Bool { traits?.contains(trait.identifier) ?? true }

    /// Whether the app knows the trait, and the type if one is named.
    func contain(_ source: GraphTrait) -> Bool {
        guard traits != nil else { return true }
        guard let trait = Vocabulary.trait(named: source.trait), contains(trait) else { return false }
        guard let name = source.deviceType else { return true }
        return Vocabulary.deviceType(named: name).map { contains($0) } ?? false
    }
}
