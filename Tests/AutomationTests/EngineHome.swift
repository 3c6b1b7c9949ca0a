import Automation
import AutomationGraph
import Foundation
import HomeTypes
import Synchronization

/// A home in virtual time around an engine: it keeps what the engine wants kept, answers its commands, and can be killed.
struct EngineHome {
    private(set) var engine: Engine
    /// Both clocks start here.
    var now: EngineTime
    /// The definitions that the gateway keeps.
    var definitions: [String: AutomationDefinition] = [:]
    /// What survives a restart.
    private(set) var entries: [RunEntry] = []
    private(set) var states: [String: AutomationState] = [:]
    /// The commands that were sent, whatever became of them.
    private(set) var sent: [CommandRequest] = []
    private(set) var alarms: [Bool] = []
    private(set) var changes: [AutomationChange] = []
    /// The starters that wait for a sun that does not come, each with the day on which that was said.
    private(set) var sunless: [String] = []
    /// What devices answer; nil for nothing.
    var answer: (CommandRequest) -> CommandOutcome? = { _ in .succeeded }
    /// The devices and structures as they are.
    var devices: [String: ObservedDevice] = [:]
    var structures: [String: ObservedStructure] = [:]
    /// After how many effects the gateway is killed; nil for never.
    var effectsLeft: Int?
    /// Whether it was killed, and how often.
    private(set) var isDead = false
    let limits: EngineLimits
    private let names: Names

    /// 2026-03-02, a Monday, at 12:00 UTC.
    static let start: Int64 = 1_772_452_800_000

    final class Names: Sendable {
        private let count = Mutex(0)
        func next() -> String {
            count.withLock { count in
                count += 1
                return "r\(count)"
            }
        }
    }

    init(
        _ graph: [GraphNode] = [], limits: EngineLimits = EngineLimits(), now: Int64 = Self.start,
        change: (inout AutomationDefinition) -> Void = { _ in }
    ) {
        let names = Names()
        self.names = names
        self.limits = limits
        self.now = EngineTime(uptime: 1_000_000, wall: now)
        engine = Engine(limits: limits) { names.next() }
        structures["s1"] = Self.structure()
        report(.structure(Self.structure()))
        for id in ["lamp", "fan", "plug"] { set(id, isOn: false) }
        var definition = AutomationDefinition(id: "a", structureID: "s1", owner: "app", graph: Graph(graph))
        change(&definition)
        define(definition)
    }

    static func structure(
        _ zone: TimeZone = .gmt, traits: [any Trait] = [],
        sun: @escaping @Sendable (Google.TimeTrait.SolarTimeType, CivilDate) -> Int? = { _, _ in nil }
    ) -> ObservedStructure {
        ObservedStructure(
            id: "s1", traits: TraitCollection(traits), place: SchedulePlace(WallClock(zone), sun: sun))
    }

    static func device(_ id: String, isOn: Bool?, isOnline: Bool = true) -> ObservedDevice {
        ObservedDevice(
            id: id, name: id, isOnline: isOnline,
            parts: [
                .init(
                    endpoint: 1, types: ["DimmableLightDeviceType"],
                    traits: TraitCollection([
                        Matter.OnOffTrait(attributes: .init(onOff: isOn)),
                        Matter.LevelControlTrait(attributes: .init(currentLevel: 10)),
                    ]))
            ])
    }

    mutating func define(_ definition: AutomationDefinition) {
        definitions[definition.id] = definition
        report(.define(definition))
    }

    mutating func set(_ id: String, isOn: Bool?, isOnline: Bool = true) {
        let device = Self.device(id, isOn: isOn, isOnline: isOnline)
        devices[id] = device
        report(.device(device))
    }

    mutating func set(_ structure: ObservedStructure) {
        structures[structure.id] = structure
        report(.structure(structure))
    }

    mutating func report(_ input: EngineInput) {
        guard !isDead else { return }
        engine.handle(input, at: now)
        drain()
    }

    /// Does what the engine wants, in its order.
    private mutating func drain() {
        var count = 0
        while !isDead, let effect = engine.pollEffect() {
            count += 1
            precondition(count < 1_000_000, "the engine has effects without end")
            if effectsLeft == 0 {
                isDead = true
                return
            }
            effectsLeft = effectsLeft.map { $0 - 1 }
            switch effect {
            case .record(let entry): entries.append(entry)
            case .state(let id, let state): states[id] = state
            case .alarm(_, let isOver): alarms.append(isOver)
            case .change(let change): changes.append(change)
            case .sunless(_, let path):
                let date = CivilDate(day: Int(now.wall / 86_400_000)).parts
                sunless.append("\(path.dropFirst(15)) \(date.year)-\(date.month)-\(date.day)")
            case .send(let request):
                sent.append(request)
                if let outcome = answer(request) {
                    engine.handle(
                        .commandEnded(runID: request.runID, commandID: request.commandID, outcome), at: now)
                }
            }
        }
    }

    /// Lets time pass, with a look at each deadline.
    mutating func pass(_ milliseconds: Int64) {
        let end = now.uptime + milliseconds
        while !isDead {
            if let deadline = engine.nextDeadline, deadline <= end {
                let step = max(0, deadline - now.uptime)
                now = EngineTime(uptime: now.uptime + step, wall: now.wall + step)
                report(.clock)
                if let next = engine.nextDeadline, next <= now.uptime, next == deadline { break }
                continue
            }
            let rest = end - now.uptime
            now = EngineTime(uptime: end, wall: now.wall + rest)
            report(.clock)
            return
        }
        if isDead {
            let rest = max(0, end - now.uptime)
            now = EngineTime(uptime: end, wall: now.wall + rest)
        }
    }

    /// Starts the gateway again with what was kept.
    mutating func restart() {
        isDead = false
        effectsLeft = nil
        let names = names
        engine = Engine(limits: limits) { names.next() }
        engine.restore(
            definitions.values.sorted { $0.id < $1.id }, states: states, openRuns: openRuns, at: now)
        for structure in structures.values { report(.structure(structure)) }
        for id in devices.keys.sorted() { if let device = devices[id] { report(.device(device)) } }
        report(.clock)
    }

    /// The entries of the runs that have not ended.
    var openRuns: [[RunEntry]] {
        runs.filter { if case .ended = $0.last?.event { false } else { true } }
    }

    /// The entries of each run, in the order of the runs.
    var runs: [[RunEntry]] {
        var order: [String] = []
        var found: [String: [RunEntry]] = [:]
        for entry in entries {
            if found[entry.runID] == nil { order.append(entry.runID) }
            found[entry.runID, default: []].append(entry)
        }
        return order.compactMap { found[$0] }
    }

    /// How the runs ended; nil for one that goes on.
    var ends: [RunEnd?] {
        runs.map { run in if case .ended(let end) = run.last?.event { end } else { nil } }
    }

    /// What was sent to whom, for example `lamp.on`.
    var commands: [String] {
        sent.map { request in
            guard case .command(let name, _) = request.action.behaviour else { return "update" }
            return "\(request.action.target.entity.id).\(name)"
        }
    }

    func records(_ wanted: (RunEntry.Event) -> Bool) -> [RunEntry] { entries.filter { wanted($0.event) } }
}

/// Short names for nodes.
enum Nodes {
    static func onOff(_ id: String) -> GraphTrait {
        GraphTrait(.device(id), deviceType: "OnOffLightDeviceType", trait: "OnOff")
    }
    static func starter(_ id: String, as name: String = "n1") -> GraphNode {
        .attributeStarter(GraphReader(id: name, onOff(id)))
    }
    static func reader(_ id: String, as name: String) -> GraphNode { .stateReader(GraphReader(id: name, onOff(id))) }
    static func isOn(_ name: String) -> GraphExpression {
        .operation(.equals, [.field("onOff", of: .reference(name)), .constant(.bool(true))])
    }
    static func condition(_ expression: GraphExpression, for duration: Duration? = nil) -> GraphNode {
        .condition(GraphCondition(expression, for: duration))
    }
    static func command(_ id: String, _ name: String = "on", deferral: Duration? = nil) -> GraphNode {
        .action(GraphAction(onOff(id), .command(name, parameters: [:]), deferral: deferral))
    }
    static func event(_ event: String = "DoorbellPressed", _ parameters: [String: JSONObject.Value] = [:]) -> GraphNode
    {
        .eventStarter(
            GraphEventStarter(
                id: "e", GraphTrait(.device("door"), trait: "DoorbellPress"), event: event, parameters: parameters))
    }
    static let clock = GraphTrait(.structure("s1"), trait: "Time")
    static func at(_ hours: Int64, _ minutes: Int64) -> GraphNode {
        .eventStarter(
            GraphEventStarter(
                id: "t", clock, event: "Scheduled",
                parameters: ["clockTime": .object(["hours": .integer(hours), "minutes": .integer(minutes)])]))
    }
    static func cron(_ text: String) -> GraphNode {
        .eventStarter(
            GraphEventStarter(
                id: "t", clock, event: "RecurringClockTimeScheduled", parameters: ["cronExpression": .text(text)]))
    }
}
