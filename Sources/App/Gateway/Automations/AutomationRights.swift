import Automation
import AutomationGraph
import HomeTypes

/// What an automation may do with the rights of its owner.
enum AutomationRights {
    /// Whether the owner may let an automation unlock and open. That needs the scope `unlock`: somebody who may unlock a door
    /// with the phone in hand has not agreed that it opens by itself.
    static func permitsBlockedActions(_ access: Access, on object: Access.Object) -> Bool {
        access.permits(.unlock, object)
    }

    /// Whether a command or a write opens or changes a lock or a gate, so that it needs more than the right to send commands.
    static func isBlocked(_ action: GraphAction, of device: DeviceSnapshot) -> Bool {
        let trait = Vocabulary.trait(named: action.target.trait)?.name ?? action.target.trait
        // Whichever part gets it: the types of all that may.
        let types = device.endpoints.filter { $0.traits[trait] != nil }.flatMap(\.types)
        return BlockedActions.name(of: action.behaviour, trait: trait, types: types) != nil
    }
}
