import AutomationGraph
import HomeTypes

/// What an automation may do with the rights of its owner.
enum AutomationRights {
    /// Whether the owner may let an automation unlock and open. That needs the scope `admin` for the structure: who may
    /// send a command with the phone in hand has not agreed that a door opens by itself.
    static func permitsBlockedActions(_ access: Access, in structureID: String) -> Bool {
        access.permits(.admin, .structure(structureID))
    }

    /// Whether a command or a write opens something, so that it needs more than the right to send commands.
    static func isBlocked(_ action: GraphAction) -> Bool {
        guard let trait = Vocabulary.trait(named: action.target.trait), trait.name == "DoorLock",
            case .command(let name, _) = action.behaviour
        else { return false }
        return (Vocabulary.command(named: name, of: trait)?.name ?? name) != "lockDoor"
    }
}
