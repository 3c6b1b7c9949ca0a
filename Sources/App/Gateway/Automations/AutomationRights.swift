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

    /// Whether a command or a write opens or changes a lock, so that it needs more than the right to send commands.
    static func isBlocked(_ action: GraphAction) -> Bool {
        BlockedActions.name(of: action.behaviour, trait: action.target.trait) != nil
    }
}
