import AutomationGraph
import HomeTypes

/// What the engine wants done. The driver keeps the order, and sends nothing before the records in front of it are kept.
public enum EngineEffect: Sendable, Hashable {
    /// Keep this entry of a run.
    case record(RunEntry)
    /// Keep what is known of an automation between its runs.
    case state(automationID: String, AutomationState)
    /// Send a command, or write attributes, and report the outcome as ``EngineInput/commandEnded(runID:commandID:_:)``.
    case send(CommandRequest)
    /// An automation is paused because it starts too often; `isOver` after it was released.
    case alarm(automationID: String, isOver: Bool)
    /// Keep that an automation was switched on or off, paused or released.
    case change(AutomationChange)
    /// A starter waits for a sunrise or sunset, and today has none: the day or night of a pole, or a structure without
    /// coordinates. It is reported once, until the sun has risen or set again.
    case sunless(automationID: String, path: String)
}

/// A command that a run sends.
public struct CommandRequest: Sendable, Hashable {
    /// The run.
    public var runID: String
    /// Names the command within the run.
    public var commandID: Int
    /// The automation.
    public var automationID: String
    /// The principal with whose rights it runs.
    public var owner: String
    /// The command or the attributes, and the device or structure.
    public var action: GraphAction
    /// How long it may take, in milliseconds.
    public var timeout: Int64

    /// Describes a command.
    public init(
        runID: String, commandID: Int, automationID: String, owner: String, action: GraphAction, timeout: Int64
    ) {
        self.runID = runID
        self.commandID = commandID
        self.automationID = automationID
        self.owner = owner
        self.action = action
        self.timeout = timeout
    }
}
