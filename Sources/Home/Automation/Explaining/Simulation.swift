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

    /// What was found out.
    public struct Outcome: Sendable, Hashable {
        /// The runs, oldest first.
        public var runs: [Run]
        /// Whether later runs may be missing, because a limit was reached.
        public var isCut: Bool
    }

    /// The maximum number of runs that are reported. Later ones are left out.
    public static let runLimit = 1_000
    /// The maximum number of looks at schedules and deadlines. A month of a rule for every minute stays below it. A graph
    /// with hundreds of such rules would keep a processor busy for hours.
    public static let lookLimit = 100_000

    /// Finds out when an automation would have run.
    ///
    /// Each command counts as done at once and changes nothing: the devices do what was recorded.
    /// - Parameters:
    ///   - definition: the automation. It is treated as active.
    ///   - present: the devices and structures as they were at the start.
    ///   - happenings: what happened afterwards, in the order of time.
    ///   - from: the start, in milliseconds since 1970.
    ///   - to: the end, in milliseconds since 1970.
    ///   - lookLimit: the maximum number of looks at schedules and deadlines.
    public static func outcome(
        of definition: AutomationDefinition, present: [EngineInput], happenings: [Happening], from: Int64, to: Int64,
        lookLimit: Int = Simulation.lookLimit
    ) -> Outcome {
        guard from < to else { return Outcome(runs: [], isCut: false) }
        var definition = definition
        definition.isActive = true
        var player = Player(of: definition, from: from, looks: lookLimit)
        for input in present { player.report(input) }
        player.report(.define(definition))
        for happening in happenings where (from...to).contains(happening.at) {
            player.pass(to: happening.at)
            guard !player.isCut else { return player.outcome }
            player.report(happening.input)
        }
        player.pass(to: to)
        return player.outcome
    }
}

/// An engine in virtual time whose commands do nothing.
private struct Player {
    private var engine: Engine
    private let from: Int64
    private var now: EngineTime
    private var runs: [String: Simulation.Run] = [:]
    private var order: [String] = []
    /// How many schedules a look reads, and how many looks are left.
    private let schedules: Int
    private var looks: Int

    init(of definition: AutomationDefinition, from: Int64, looks: Int) {
        self.from = from
        self.looks = looks
        let starters = Program(definition.graph, invalidPaths: definition.invalidPaths).starters
        schedules = starters.count { if case .schedule = $0.kind { true } else { false } }
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

    /// Whether a limit was reached.
    var isCut: Bool { runs.count >= Simulation.runLimit || looks <= 0 }

    var outcome: Simulation.Outcome {
        Simulation.Outcome(runs: order.prefix(Simulation.runLimit).compactMap { runs[$0] }, isCut: isCut)
    }

    /// Lets time pass until then, or until a limit is reached.
    mutating func pass(to wall: Int64) {
        let end = wall - from
        while let deadline = engine.nextDeadline, deadline <= end {
            guard !isCut else { return }
            looks -= max(1, schedules)
            move(to: max(now.uptime, deadline))
            report(.clock)
        }
        guard !isCut else { return }
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
