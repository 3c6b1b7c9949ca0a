import AutomationGraph

/// What a run has sent, by the numbers of its commands.
///
/// It comes from the record of the run. The graph of the automation may have been replaced since, and its places then have
/// other nodes.
public struct SentActions: Sendable {
    private var actions: [Int: GraphAction] = [:]

    /// Reads the entries of a run.
    public init(_ entries: [RunEntry]) {
        for entry in entries {
            if let action = entry.action, let command = entry.event.commandID { actions[command] = action }
        }
    }

    /// What an entry is about; nil for an entry that is not about a command, and for the record of an earlier version.
    public func action(of entry: RunEntry) -> GraphAction? {
        entry.action ?? entry.event.commandID.flatMap { actions[$0] }
    }
}

extension RunEntry.Event {
    /// The number of the command that it is about.
    fileprivate var commandID: Int? {
        switch self {
        case .sending(let id), .deferred(let id, _), .sent(let id, _, _): id
        default: nil
        }
    }
}
