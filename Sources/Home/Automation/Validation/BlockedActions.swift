import AutomationGraph
import HomeTypes

/// The actions that unlock or open a lock, a garage door or a gate, or change it. The owner of an automation needs the scope
/// `unlock` for them.
public enum BlockedActions {
    /// The name of what an action does, if it needs the right; nil for every other action.
    /// - Parameters:
    ///   - trait: the name of the trait.
    ///   - types: the types of the device's parts that the action may be for.
    public static func name(of behaviour: GraphAction.Behaviour, trait: String, types: some Sequence<String>) -> String?
    {
        guard let harmless = harmlessCommand(of: Vocabulary.trait(named: trait)?.name ?? trait, types) else {
            return nil
        }
        switch behaviour {
        case .command(let name, _):
            let command =
                Vocabulary.trait(named: trait).flatMap { Vocabulary.command(named: name, of: $0)?.name } ?? name
            return command == harmless ? nil : command
        case .update: return "update"
        }
    }

    /// The only command of a trait that does not let anybody in; nil for a trait whose commands and attributes have no
    /// influence on that.
    private static func harmlessCommand(of trait: String, _ types: some Sequence<String>) -> String? {
        switch trait {
        case Matter.DoorLockTrait.name: return Matter.DoorLockTrait.LockDoorCommand.name
        case Matter.WindowCoveringTrait.name:
            let isEntrance = types.contains { name in
                Vocabulary.deviceType(named: name)?.isKind(of: GarageDoorDeviceType.self) ?? false
            }
            return isEntrance ? Matter.WindowCoveringTrait.DownOrCloseCommand.name : nil
        default: return nil
        }
    }
}
