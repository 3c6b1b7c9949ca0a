import Automation
import Transport

/// What became of a command that is on its way: the first outcome that is known, and no later one.
///
/// The outcome reaches the inbox at once, from whichever thread knows it. If it came there only after the service had its
/// turn, what happened in the home after the command could come before its outcome. The run would then still seem to be in
/// progress, and would only record a trigger that should start the next run.
final class CommandAnswer: Sendable {
    private let request: CommandRequest
    private let inbox: AutomationInbox
    private let first = Locked<Automation.CommandOutcome?>(nil)

    init(to request: CommandRequest, in inbox: AutomationInbox) {
        self.request = request
        self.inbox = inbox
    }

    /// Takes an outcome.
    /// - Returns: the one that counts, which is the first.
    @discardableResult
    func take(_ outcome: Automation.CommandOutcome) -> Automation.CommandOutcome {
        first.withLock { first in
            if let first { return first }
            first = outcome
            inbox.take(request, outcome)
            return outcome
        }
    }
}
