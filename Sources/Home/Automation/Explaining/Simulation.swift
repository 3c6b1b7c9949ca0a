import AutomationGraph
import HomeTypes
import Synchronization

/// Runs an automation against what has happened before. It sends nothing.
public enum Simulation {
    /// Something that was recorded.
    public struct Happening: Sendable {
        /// When it was, in milliseconds since 1970.
        public var at: Int64
        /// A device, a structure or an event as the engine would have received it.
        public var input: EngineInput

        /// Describes what was recorded.
        public init(at: Int64, _ input: EngineInput) {
            self.at = at
            self.input = input
        }
    }

    /// A run that would have been.
    public struct Run: Sendable, Hashable {
        /// When it would have begun, in milliseconds since 1970.
        public var at: Int64
        /// Why.
        public var trigger: Trigger
        /// What it would have sent, each with its time in milliseconds since 1970.
        public var commands: [Command]
        /// How it would have ended; nil if it would still be in progress.
        public var end: RunEnd?
        /// Its record.
        public var entries: [RunEntry]
    }

    /// A command that would have been sent.
    public struct Command: Sendable, Hashable {
        /// When, in milliseconds since 1970.
        public var at: Int64
        /// What, to whom.
        public var action: GraphAction
    }

    /// The maximum number of runs that are reported. Later ones are left out.
    public static let runLimit = 1_000

    /// Finds out when an automation would have run.
    ///
    /// Each command counts as done at once and changes nothing: the devices do what was recorded.
    /// - Parameters:
    ///   - definition: the automation. It is treated as active.
    ///   - present: the devices and structures as they were at the start.
    ///   - happenings: what happened afterwards, in the order of time.
    ///   - from: the start, in milliseconds since 1970.
    ///   - to: the end, in milliseconds since 1970.
    public static func runs(
        of definition: AutomationDefinition, present: [EngineInput], happenings: [Happening], from: Int64, to: Int64
    ) -> [Run] {
        guard from < to else { return [] }
        var definition = definition
        definition.isActive = true
        var player = Player(from: from)
        for input in present { player.report(input) }
        player.report(.define(definition))
        for happening in happenings where (from...to).contains(happening.at) {
            player.pass(to: happening.at)
            player.report(happening.input)
            if player.runs.count >= runLimit { return player.report }
        }
        player.pass(to: to)
        return player.report
    }
}

/// An engine in virtual time whose commands do nothing.
private struct Player {
    private var engine: Engine
    private let from: Int64
    private var now: EngineTime
    private(set) var runs: [String: Simulation.Run] = [:]
    private var order: [String] = []

    init(from: Int64) {
        self.from = from
        now = EngineTime(uptime: 0, wall: from)
        var limits = EngineLimits()
        // The clocks of a simulation are never set.
        limits.clockLook = 86_400_000
        let count = Mutex(0)
        engine = Engine(limits: limits) {
            count.withLock { count in
                count += 1
                return "run\(count)"
            }
        }
    }

    var report: [Simulation.Run] { order.prefix(Simulation.runLimit).compactMap { runs[$0] } }

    mutating func pass(to wall: Int64) {
        let end = wall - from
        var steps = 0
        while let deadline = engine.nextDeadline, deadline <= end, steps < 1_000_000, runs.count < Simulation.runLimit {
            steps += 1
            move(to: max(now.uptime, deadline))
            report(.clock)
        }
        move(to: max(now.uptime, end))
        report(.clock)
    }

    private mutating func move(to uptime: Int64) { now = EngineTime(uptime: uptime, wall: from + uptime) }

    mutating func report(_ input: EngineInput) {
        engine.handle(input, at: now)
        while let effect = engine.pollEffect() { take(effect) }
    }

    private mutating func take(_ effect: EngineEffect) {
        switch effect {
        case .record(let entry):
            if case .began(let trigger, _, _) = entry.event {
                order.append(entry.runID)
                runs[entry.runID] = Simulation.Run(at: entry.at, trigger: trigger, commands: [], end: nil, entries: [])
            }
            if case .ended(let end) = entry.event { runs[entry.runID]?.end = end }
            runs[entry.runID]?.entries.append(entry)
        case .send(let request):
            runs[request.runID]?.commands.append(Simulation.Command(at: now.wall, action: request.action))
            engine.handle(.commandEnded(runID: request.runID, commandID: request.commandID, .succeeded), at: now)
        case .state, .alarm, .change, .sunless: break
        }
    }
}
