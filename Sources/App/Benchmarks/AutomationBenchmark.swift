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
    /// An event that starts nothing, in nanoseconds.
    public var idleNanoseconds: Double
    /// How many heap allocations an event that starts nothing makes; nil in a build that cannot count them.
    public var idleAllocations: Double?
    /// Bytes of the heap for each automation.
    public var bytesPerAutomation: Int
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
    private let folder: String

    /// Measures in a folder, which holds the store's file.
    public init(folder: String) { self.folder = folder }

    private static func definition(_ number: Int, delay: Duration? = nil) -> AutomationDefinition {
        let press = GraphTrait(.device("door-\(number)"), trait: "DoorbellPress")
        let lamp = GraphTrait(.device("lamp-\(number)"), deviceType: "OnOffLightDeviceType", trait: "OnOff")
        let switched = GraphTrait(.device("switch-\(number)"), trait: "OnOff")
        let starter = GraphNode.select([
            .eventStarter(GraphEventStarter(id: "n1", press, event: "DoorbellPressed")),
            .attributeStarter(GraphReader(id: "n2", switched)),
        ])
        let action = GraphNode.action(GraphAction(lamp, .command("on", parameters: [:])))
        let nodes = delay.map { [starter, .delay($0), action] } ?? [starter, action]
        return AutomationDefinition(
            id: "a\(number)", structureID: "home", owner: "owner", name: "Light at the door", graph: Graph(nodes))
    }

    private static func press(_ device: String) -> EngineInput {
        .event(ObservedEvent(entityID: device, endpoint: 1, trait: "DoorbellPress", event: "DoorbellPressed"))
    }

    private static func change(_ device: String, isOn: Bool) -> EngineInput {
        let traits = TraitCollection([Matter.OnOffTrait(attributes: .init(onOff: isOn))])
        let part = ObservedDevice.Part(endpoint: 1, types: ["OnOffLightDeviceType"], traits: traits)
        return .device(ObservedDevice(id: device, name: device, parts: [part]))
    }

    /// An engine whose clock is far enough from the last start that nothing is paused.
    private static func engine(_ count: Int, delay: Duration? = nil) -> Engine {
        var limits = EngineLimits()
        limits.runs = 20_000
        limits.starts = .max
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
        let store = try SQLiteRunStore(path: "\(folder)/automations-\(automations).sqlite")
        let press = Self.press("door-\(automations / 2)")
        // The first report starts nothing.
        let device = "switch-\(automations / 2)"
        engine.handle(Self.change(device, isOn: false), at: EngineTime(uptime: 0, wall: 0))
        var (plain, changed, stored): ([Double], [Double], [Double]) = ([], [], [])
        for number in 0..<2 * events {
            let now = EngineTime(uptime: Int64(number) * 1_000, wall: Int64(number) * 1_000)
            let isPress = number % 2 == 0
            let input = isPress ? press : Self.change(device, isOn: number % 4 == 1)
            let start = MonotonicClock.now
            engine.handle(input, at: now)
            var rows: [RunRow] = []
            var request: CommandRequest?
            var spent = 0.0
            while let effect = engine.pollEffect() {
                switch effect {
                case .record(let entry): rows.append(try Self.row(entry))
                case .send(let found):
                    spent = Double((MonotonicClock.now - start).wholeNanoseconds) / 1e3
                    request = found
                case .state, .alarm, .change, .sunless: break
                }
            }
            try store.append(rows, states: [:])
            if isPress { stored.append(Double((MonotonicClock.now - start).wholeNanoseconds) / 1e3) }
            if isPress { plain.append(spent) } else { changed.append(spent) }
            guard let request else { throw BenchmarkFailure("an event started no run") }
            engine.handle(
                .commandEnded(runID: request.runID, commandID: request.commandID, .succeeded), at: now)
            while engine.pollEffect() != nil {}
        }
        let (idle, allocations) = idle(&engine)
        return AutomationMeasurement(
            automations: automations, p50Microseconds: plain.median ?? 0, p99Microseconds: plain.percentile(0.99) ?? 0,
            p50ChangeMicroseconds: changed.median ?? 0, p99ChangeMicroseconds: changed.percentile(0.99) ?? 0,
            p50StoredMicroseconds: stored.median ?? 0, p99StoredMicroseconds: stored.percentile(0.99) ?? 0,
            idleNanoseconds: idle, idleAllocations: allocations, bytesPerAutomation: bytes)
    }

    /// Events of a device that no automation names.
    private func idle(_ engine: inout Engine) -> (nanoseconds: Double, allocations: Double?) {
        let other = Self.press("window")
        let now = EngineTime(uptime: 1_000_000_000, wall: 1_000_000_000)
        let rounds = 100_000
        let start = ProcessorClock.thread
        for _ in 0..<rounds { engine.handle(other, at: now) }
        let time = Double(ProcessorClock.thread - start) / Double(rounds)
        var copy = engine
        let count = HeapUse.allocations { for _ in 0..<1_000 { copy.handle(other, at: now) } }
        return (time, count.map { Double($0) / 1_000 })
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
