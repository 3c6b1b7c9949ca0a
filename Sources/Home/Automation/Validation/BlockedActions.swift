import AutomationGraph
import HomeTypes

/// The actions that unlock or open a lock, or change it. The owner of an automation needs the scope `unlock` for them.
public enum BlockedActions {
    /// The traits whose commands and attributes decide who gets in.
    private static let guarded: Set<String> = ["DoorLock"]
    /// The commands of these traits that open nothing.
    private static let harmless: Set<String> = ["lockDoor"]

    /// The name of what an action does, if it needs the right; nil for every other action.
    /// - Parameter trait: the name of the trait.
    public static func name(of behaviour: GraphAction.Behaviour, trait: String) -> String? {
        guard guarded.contains(Vocabulary.trait(named: trait)?.name ?? trait) else { return nil }
        switch behaviour {
        case .command(let name, _):
            let command =
                Vocabulary.trait(named: trait).flatMap { Vocabulary.command(named: name, of: $0)?.name } ?? name
            return harmless.contains(command) ? nil : command
        case .update: return "update"
        }
    }
}
