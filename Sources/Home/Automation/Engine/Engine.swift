import AutomationGraph
import HomeTypes

/// Runs automations. It does no I/O: the caller passes what has happened and the time, and the engine returns what to
/// keep and send.
public struct Engine: Sendable {
    /// An automation, and what is known of it between its runs.
    struct Automation: Sendable {
        var definition: AutomationDefinition
        var program: Program
        var state: AutomationState
        /// The run in progress.
        var runID: String?
        /// The starters are ignored until then, by the uptime.
        var suppressedUntil: Int64?
        /// When it last started, by the uptime.
        var starts: [Int64] = []
        /// When a trigger that started nothing was last recorded, by the uptime.
        var refusals: [Int64] = []
        var schedules: [Schedule] = []
        var scheduleToken = 0
    }

    let limits: EngineLimits
    let mintRunID: @Sendable () -> String
    var automations: [String: Automation] = [:]
    var runs: [String: Run] = [:]
    var entities = EntityTable()
    /// How many automations, and runs of replaced graphs, name a device or structure.
    var references: [String: Int] = [:]
    /// What the runs of replaced graphs name, by the runs.
    var replaced: [String: Set<String>] = [:]
    var places: [String: SchedulePlace] = [:]
    /// The runs whose conditions must hold for a time, by the entities that they read.
    var holders: [String: Set<String>] = [:]
    /// The runs with a command that waits for its device.
    var waiters: [String: Set<String>] = [:]
    var causes = Causes()
    var deadlines = DeadlineHeap()
    private var compactionCount = 1024
    private var effects: [EngineEffect] = []
    private var nextEffect = 0
    /// False after a restart until the current state of the home has been reported.
    var isSettled = true
    private var restoredAt: Int64 = 0
    /// The difference of the two clocks when they were last compared.
    private var clockDifference: Int64?
    private var watchesClock = false

    /// Creates an engine that does not know anything yet.
    /// - Parameter mintRunID: makes an identifier for a run. No other run may ever have had it.
    public init(limits: EngineLimits = EngineLimits(), mintRunID: @escaping @Sendable () -> String) {
        self.limits = limits
        self.mintRunID = mintRunID
    }

    /// Restores what was kept. This must be the first call.
    ///
    /// The current state of the home follows as ``EngineInput/device(_:)`` and ``EngineInput/structure(_:)``. The runs
    /// continue with the first ``EngineInput/clock`` after that.
    /// - Parameter openRuns: the entries of each run that has not ended, in their order.
    public mutating func restore(
        _ definitions: [AutomationDefinition], states: [String: AutomationState], openRuns: [[RunEntry]],
        at now: EngineTime
    ) {
        isSettled = false
        restoredAt = now.uptime
        clockDifference = now.wall - now.uptime
        for definition in definitions { adopt(definition, states[definition.id] ?? AutomationState(), now) }
        for entries in openRuns { adopt(entries, now) }
    }

    /// Handles what has happened. Poll the effects afterwards. It never fails.
    public mutating func handle(_ input: EngineInput, at now: EngineTime) {
        switch input {
        case .device(let device): handle(device, now)
        case .structure(let structure): handle(structure, now)
        case .define(let definition, let kept): define(definition, kept, now)
        case .remove(let id): remove(id, now)
        case .deviceRemoved(let id): removeDevice(id, now)
        case .release(let id, let principal): release(id, principal, now)
        case .event(let event):
            let depth = causes.depth(of: event, limits, now)
            // An event that nothing waits for does not end the start-up, and costs nothing.
            guard let places = entities[event.entityID]?.events[.init(trait: event.trait, event: event.event)] else {
                break
            }
            prepare(now)
            handle(event, places, depth: depth, now)
        case .execute(let id, let principal):
            prepare(now)
            execute(id, principal, now)
        case .stop(let id, _):
            prepare(now)
            if let runID = automations[id]?.runID { end(runID, .stopped, now) }
        case .commandEnded(let runID, let commandID, let outcome):
            prepare(now)
            handle(outcome, of: commandID, in: runID, now)
        case .clock: prepare(now)
        }
        guard deadlines.count >= compactionCount else { return }
        let current = self
        deadlines.filter { current.isCurrent($0.reason) }
        compactionCount = max(1024, 2 * deadlines.count)
    }

    /// Does what is due, before what has just happened.
    mutating func prepare(_ now: EngineTime) {
        if !isSettled {
            isSettled = true
            settle(now)
        }
        let difference = now.wall - now.uptime
        if let last = clockDifference, abs(difference - last) > 1_000 {
            clockDifference = difference
            for id in automations.keys.sorted() where automations[id]?.schedules.isEmpty == false { look(id, now) }
        } else if clockDifference == nil {
            clockDifference = difference
        }
        while let deadline = deadlines.popDue(at: now.uptime) { handle(deadline.reason, now) }
    }

    private mutating func handle(_ reason: Deadline.Reason, _ now: EngineTime) {
        switch reason {
        case .strand(let runID, let strand, let token): endWait(runID, strand, token, now)
        case .runLength(let runID):
            if let run = runs[runID], run.lastsUntil <= now.uptime { end(runID, .failed, now) }
        case .schedule(let id, let token):
            if automations[id]?.scheduleToken == token { look(id, now) }
        case .wallClock:
            watchesClock = false
            watchClock(now)
        }
    }

    /// Whether anything waits for a deadline.
    private func isCurrent(_ reason: Deadline.Reason) -> Bool {
        switch reason {
        case .strand(let runID, let strand, let token):
            runs[runID]?.strands.contains { $0.id == strand && $0.token == token } ?? false
        case .runLength(let runID): runs[runID] != nil
        case .schedule(let id, let token): automations[id]?.scheduleToken == token
        case .wallClock: true
        }
    }

    /// Reads the wall clock now and then, because nothing reports that it was set.
    mutating func watchClock(_ now: EngineTime) {
        guard !watchesClock, automations.values.contains(where: { !$0.schedules.isEmpty }) else { return }
        watchesClock = true
        deadlines.insert(Deadline(at: now.uptime + limits.clockLook, reason: .wallClock))
    }

    /// The next thing to do; nil if everything is done.
    public mutating func pollEffect() -> EngineEffect? {
        guard nextEffect < effects.count else { return nil }
        defer {
            nextEffect += 1
            if nextEffect == effects.count {
                effects.removeAll(keepingCapacity: effects.count < 1_000)
                nextEffect = 0
            }
        }
        return effects[nextEffect]
    }

    mutating func emit(_ effect: EngineEffect) { effects.append(effect) }

    mutating func emitState(of id: String) {
        if let state = automations[id]?.state { emit(.state(automationID: id, state)) }
    }

    /// When to call ``handle(_:at:)`` with ``EngineInput/clock`` at the latest, by ``EngineTime/uptime``; nil for never.
    public var nextDeadline: Int64? {
        if isSettled { return deadlines.earliest }
        return automations.isEmpty ? nil : restoredAt
    }

    /// The devices and structures that runs name whose automations have another graph by now. The runs still need their reports.
    public var entitiesOfReplacedGraphs: Set<String> { replaced.values.reduce(into: []) { $0.formUnion($1) } }

    /// Whether an automation names a device: in a starter, a reader or an action. A run goes on with its own graph.
    public func watches(deviceID: String) -> Bool { references[deviceID] != nil }

    /// Whether a starter waits for an event of a device.
    public func watches(deviceID: String, event: String, of trait: String) -> Bool {
        entities[deviceID]?.events[.init(trait: trait, event: event)] != nil
    }

    /// Whether an automation is running.
    public func isRunning(_ automationID: String) -> Bool { automations[automationID]?.runID != nil }

    /// Whether a run continues. The effects that it asked for before it ended are no longer carried out.
    public func isOpen(runID: String) -> Bool { runs[runID] != nil }

    /// The automations that are running.
    public var runningAutomations: Set<String> { Set(runs.values.map(\.automationID)) }

    /// Distinguishes graphs, like ``RunEntry/graph`` does.
    public static func hash(of graph: Graph) -> UInt64 { Program.hash(of: graph.json) }

    /// Whether a person can run an automation with this graph: it has a manual starter, or something after its first starter.
    public static func isManuallyExecutable(_ graph: Graph) -> Bool {
        let program = Program(graph)
        guard let start = program.start(of: Trigger(.manual, path: program.manualPath)) else { return false }
        return !program.manualPath.isEmpty || program.steps[start].operation != .end
    }
}
