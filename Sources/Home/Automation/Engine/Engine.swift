import AutomationGraph
import HomeTypes

/// Runs automations. It does no I/O: it is told what happens and the time, and returns what is to be kept and sent.
public struct Engine: Sendable {
    let limits: EngineLimits
    let mintRunID: @Sendable () -> String

    /// Makes an engine that knows nothing yet.
    /// - Parameter mintRunID: makes a name for a run that no run has had.
    public init(limits: EngineLimits = EngineLimits(), mintRunID: @escaping @Sendable () -> String) {
        self.limits = limits
        self.mintRunID = mintRunID
    }

    /// Adopts what was kept. Nothing else comes before this. What follows from it is polled afterwards.
    /// - Parameter openRuns: the entries of each run that has not ended, in their order.
    public mutating func restore(
        _ definitions: [AutomationDefinition], states: [String: AutomationState], openRuns: [[RunEntry]],
        at now: EngineTime
    ) {}

    /// Takes what has happened. Its effects are polled afterwards. It never fails.
    public mutating func handle(_ input: EngineInput, at now: EngineTime) {}

    /// The next thing to do; nil if everything is done.
    public mutating func pollEffect() -> EngineEffect? { nil }

    /// When to call ``handle(_:at:)`` with ``EngineInput/clock`` at the latest, by ``EngineTime/uptime``; nil for never.
    public var nextDeadline: Int64? { nil }

    /// Whether an automation has anything to do with a device.
    public func watches(deviceID: String) -> Bool { true }

    /// Whether a starter waits for an event of a device.
    public func watches(deviceID: String, event: String, of trait: String) -> Bool { true }

    /// The automations that run now.
    public var runningAutomations: Set<String> { [] }

    /// Whether a person can run an automation with this graph: it has a manual starter, or something after its first
    /// starter that does not need it.
    public static func isManuallyExecutable(_ graph: Graph) -> Bool { graph.isUnderstood && graph.nodes.count > 1 }
}
