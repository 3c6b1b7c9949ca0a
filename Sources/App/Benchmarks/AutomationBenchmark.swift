import Automation
import AutomationGraph
import DatagramPort
import Foundation
import HomeHub
import HomeTypes
import Transport

/// How fast the engine of automations is.
public struct AutomationMeasurement: Codable, Hashable, Sendable {
    /// How many automations there are. Each waits for another device.
    public var automations: Int
    /// From an event that starts one of them to its command, without the store, in microseconds: half took less.
    public var p50Microseconds: Double
    /// 99 of 100 took less.
    public var p99Microseconds: Double
    /// The same for a change of an attribute in place of an event.
    public var p50ChangeMicroseconds: Double
    /// 99 of 100 took less.
    public var p99ChangeMicroseconds: Double
    /// An event, with the record of the run written to the disk first.
    public var p50StoredMicroseconds: Double
    /// 99 of 100 took less.
    public var p99StoredMicroseconds: Double
    /// The floor of the record on the disk: a transaction of a bare SQLite file with as many bytes.
    public var p50CommitMicroseconds: Double
    /// 99 of 100 took less.
    public var p99CommitMicroseconds: Double
    /// Whether the program was optimized. Without, nothing else here says much.
    public var isOptimized: Bool
    /// What starts nothing, by its kind.
    public var idle: [IdleMeasurement]
    /// An event while a device that has paused its own automation changes 1,000 times, which all come before it.
    public var p50FloodMicroseconds: Double
    /// 99 of 100 took less.
    public var p99FloodMicroseconds: Double
    /// Bytes of the heap for each automation.
    public var bytesPerAutomation: Int
}

/// What something costs that starts nothing.
public struct IdleMeasurement: Codable, Hashable, Sendable {
    /// What it is, for example `an event of another device`.
    public var kind: String
    /// The processor time of one, in nanoseconds.
    public var nanoseconds: Double
    /// How many heap allocations one makes; nil in a build that cannot count them.
    public var allocations: Double?
}

/// What runs cost that wait for a delay to end.
public struct SleepingRunMeasurement: Codable, Hashable, Sendable {
    /// How many runs wait.
    public var runs: Int
    /// Bytes of the heap for each.
    public var bytesPerRun: Int
    /// From the kept records to an engine that takes events, in milliseconds.
    public var restoreMilliseconds: Double
    /// Bytes of the JSON that is stored of each up to the delay.
    public var storedBytesPerRun: Int
}

/// Measures the engine of automations, with and without the store that keeps its runs. The hub, HTTP and the devices are not
/// a part of it.
public struct AutomationBenchmark: Sendable {
    let folder: String

    /// Measures in a folder, which holds the store's file.
    public init(folder: String) { self.folder = folder }

    static func definition(_ number: Int, delay: Duration? = nil) -> AutomationDefinition {
        let press = GraphTrait(.device("door-\(number)"), trait: "DoorbellPress")
        let lamp = GraphTrait(.device("lamp-\(number)"), deviceType: "OnOffLightDeviceType", trait: "OnOff")
        let switched = GraphTrait(.device("switch-\(number)"), trait: "OnOff")
        let starter = GraphNode.select([
            .eventStarter(GraphEventStarter(id: "n1", press, event: "DoorbellPressed")),
            .eventStarter(
                GraphEventStarter(
                    id: "n3", GraphTrait(.device("door-\(number)"), trait: "CameraPerson"), event: "Person",
                    parameters: ["phase": .text("started")])),
            .attributeStarter(GraphReader(id: "n2", switched)),
        ])
        let action = GraphNode.action(GraphAction(lamp, .command("on", parameters: [:])))
        let nodes = delay.map { [starter, .delay($0), action] } ?? [starter, action]
        return AutomationDefinition(
            id: "a\(number)", structureID: "home", owner: "owner", name: "Light at the door", graph: Graph(nodes))
    }

    /// A graph that the changes of a device start.
    static func starting(with device: String) -> Graph {
        let lamp = GraphTrait(.device("lamp-\(device)"), trait: "OnOff")
        return Graph([
            .attributeStarter(GraphReader(id: "n1", GraphTrait(.device(device), trait: "OnOff"))),
            .action(GraphAction(lamp, .command("on", parameters: [:]))),
        ])
    }

    static func press(_ device: String) -> EngineInput {
        .event(ObservedEvent(entityID: device, endpoint: 1, trait: "DoorbellPress", event: "DoorbellPressed"))
    }

    static func change(_ device: String, isOn: Bool, level: UInt8 = 1) -> EngineInput {
        let traits = TraitCollection([
            Matter.OnOffTrait(attributes: .init(onOff: isOn)),
            Matter.LevelControlTrait(attributes: .init(currentLevel: level)),
        ])
        let part = ObservedDevice.Part(endpoint: 1, types: ["OnOffLightDeviceType"], traits: traits)
        return .device(ObservedDevice(id: device, name: device, parts: [part]))
    }

    #if DEBUG
        private static let isOptimized = false
    #else
        private static let isOptimized = true
    #endif

    /// An engine whose clock is far enough from the last start that nothing is paused.
    static func engine(_ count: Int, delay: Duration? = nil) -> Engine {
        var limits = EngineLimits()
        limits.runs = 20_000
        var engine = Engine(limits: limits) { UUID().uuidString }
        for number in 0..<count {
            engine.handle(.define(definition(number, delay: delay)), at: EngineTime(uptime: 0, wall: 0))
        }
        while engine.pollEffect() != nil {}
        return engine
    }

    /// Starts one of a number of automations again and again.
    public func measure(automations: Int, events: Int) throws -> AutomationMeasurement {
        let heap = HeapUse.bytesInUse
        var engine = Self.engine(automations)
        let bytes = max(0, HeapUse.bytesInUse - heap) / max(1, automations)
        // The first report starts nothing.
        engine.handle(Self.change("switch-\(automations / 2)", isOn: false), at: EngineTime(uptime: 0, wall: 0))
        let (plain, changed) = try unstored(&engine, automations, events: events)
        let (stored, bytesOfRun) = try stored(&engine, automations, events: events)
        let commits = try CommitFloor(path: "\(folder)/floor-\(automations).sqlite").measure(
            bytes: bytesOfRun, count: events)
        let flood = try flood(&engine, automations, events: min(events, 200))
        return AutomationMeasurement(
            automations: automations, p50Microseconds: plain.median ?? 0, p99Microseconds: plain.percentile(0.99) ?? 0,
            p50ChangeMicroseconds: changed.median ?? 0, p99ChangeMicroseconds: changed.percentile(0.99) ?? 0,
            p50StoredMicroseconds: stored.median ?? 0, p99StoredMicroseconds: stored.percentile(0.99) ?? 0,
            p50CommitMicroseconds: commits.median ?? 0, p99CommitMicroseconds: commits.percentile(0.99) ?? 0,
            isOptimized: Self.isOptimized, idle: idle(&engine, automations) + [try condition()],
            p50FloodMicroseconds: flood.median ?? 0,
            p99FloodMicroseconds: flood.percentile(0.99) ?? 0, bytesPerAutomation: bytes)
    }

    /// Runs that are not stored: what the engine itself takes.
    /// - Returns: microseconds from an event to its command, and from a change to its command.
    private func unstored(
        _ engine: inout Engine, _ automations: Int, events: Int
    ) throws -> (events: [Double], changes: [Double]) {
        let press = Self.press("door-\(automations / 2)")
        var (pressed, changed): ([Double], [Double]) = ([], [])
        for number in 0..<2 * events {
            let now = EngineTime(uptime: Int64(number) * 1_000, wall: Int64(number) * 1_000)
            let isPress = number % 2 == 0
            let input = isPress ? press : Self.change("switch-\(automations / 2)", isOn: number % 4 == 1)
            var request: CommandRequest?
            let start = MonotonicClock.now
            engine.handle(input, at: now)
            while request == nil, let effect = engine.pollEffect() {
                if case .send(let found) = effect { request = found }
            }
            let spent = Double((MonotonicClock.now - start).wholeNanoseconds) / 1e3
            if isPress { pressed.append(spent) } else { changed.append(spent) }
            try Self.end(request, &engine, now)
        }
        return (pressed, changed)
    }

    /// Runs with their records on the disk before the command is sent.
    /// - Returns: microseconds from an event to its command, and the bytes of the records of a run.
    private func stored(
        _ engine: inout Engine, _ automations: Int, events: Int
    ) throws -> (events: [Double], bytesOfRun: Int) {
        let store = try SQLiteRunStore(path: "\(folder)/automations-\(automations).sqlite")
        let press = Self.press("door-\(automations / 2)")
        var times: [Double] = []
        var bytes = 0
        for number in 0..<events {
            // Behind the runs that were not stored.
            let moment = Int64(2 * events + number) * 1_000
            let now = EngineTime(uptime: moment, wall: moment)
            var rows: [RunRow] = []
            var request: CommandRequest?
            let start = MonotonicClock.now
            engine.handle(press, at: now)
            while let effect = engine.pollEffect() {
                switch effect {
                case .record(let entry): rows.append(try Self.row(entry))
                case .send(let found): request = found
                case .state, .alarm, .change, .sunless: break
                }
            }
            try store.append(rows, states: [:])
            times.append(Double((MonotonicClock.now - start).wholeNanoseconds) / 1e3)
            bytes += rows.reduce(0) { $0 + $1.data.utf8.count }
            try Self.end(request, &engine, now)
        }
        return (times, bytes / max(1, events))
    }

    private static func end(_ request: CommandRequest?, _ engine: inout Engine, _ now: EngineTime) throws {
        guard let request else { throw BenchmarkFailure("an event started no run") }
        engine.handle(.commandEnded(runID: request.runID, commandID: request.commandID, .succeeded), at: now)
        while engine.pollEffect() != nil {}
    }

    /// Lets runs wait for a delay, and continues them from their records.
    public func sleeping(_ runs: Int) throws -> SleepingRunMeasurement {
        let path = "\(folder)/sleeping.sqlite"
        let store = try SQLiteRunStore(path: path)
        var engine = Self.engine(runs, delay: .seconds(3_600))
        let heap = HeapUse.bytesInUse
        var storedBytes = 0
        var rows: [RunRow] = []
        for number in 0..<runs {
            engine.handle(Self.press("door-\(number)"), at: EngineTime(uptime: 1_000, wall: 1_000))
            while let effect = engine.pollEffect() {
                if case .record(let entry) = effect { rows.append(try Self.row(entry)) }
            }
            guard rows.count >= 1_000 || number == runs - 1 else { continue }
            storedBytes += rows.reduce(0) { $0 + $1.data.utf8.count }
            try store.append(rows, states: [:])
            rows = []
        }
        // The cache of the store is part of it, and small beside the runs.
        let bytes = withExtendedLifetime(engine) { max(0, HeapUse.bytesInUse - heap) / max(1, runs) }
        let definitions = (0..<runs).map { Self.definition($0, delay: .seconds(3_600)) }
        let start = MonotonicClock.now
        var limits = EngineLimits()
        limits.runs = 20_000
        var next = Engine(limits: limits) { UUID().uuidString }
        let kept = try store.openRuns().map { try $0.map(Self.entry) }
        next.restore(definitions, states: [:], openRuns: kept, at: EngineTime(uptime: 2_000, wall: 2_000))
        next.handle(.clock, at: EngineTime(uptime: 2_000, wall: 2_000))
        let time = Double((MonotonicClock.now - start).wholeNanoseconds) / 1e6
        guard next.runningAutomations.count == runs else { throw BenchmarkFailure("not every run goes on") }
        return SleepingRunMeasurement(
            runs: runs, bytesPerRun: bytes, restoreMilliseconds: time,
            storedBytesPerRun: storedBytes / max(1, runs))
    }

    private static func row(_ entry: RunEntry) throws -> RunRow {
        var isEnd = false
        if case .ended = entry.event { isEnd = true }
        return RunRow(
            row: 0, automationID: entry.automationID, runID: entry.runID, number: entry.number, at: entry.at,
            data: String(decoding: try JSONEncoder().encode(entry), as: UTF8.self), isEnd: isEnd)
    }

    private static func entry(_ row: RunRow) throws -> RunEntry {
        try JSONDecoder().decode(RunEntry.self, from: Data(row.data.utf8))
    }
}
