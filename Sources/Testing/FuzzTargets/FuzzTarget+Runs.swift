import Automation
import AutomationGraph
import Foundation
import HomeTypes

/// The records of runs that a gateway finds at its start.
extension FuzzTarget {
    static let runs = FuzzTarget(
        "runs", "the kept record of a run, from which an engine goes on", maximumLength: 8192,
        dictionary: [
            #""number":1"#, #""strand":1"#, #""event":{"#, #""began":{"_0":{"#,
            #""read":{"reference":"n1","values":{}}"#,
            #""condition":{"holds":true,"operands":{}}"#, #""holding":{"until":2000}"#, #""chose":{"_0":"ifThen"}"#,
            #""forked":{"strands":[1,2]}"#, #""delay":{"until":2000}"#, #""suppressed":{"until":2000}"#,
            #""sending":{"commandID":0}"#, #""deferred":{"commandID":0,"until":2000}"#,
            #""sent":{"commandID":0,"_1":{"succeeded":{}},"milliseconds":1}"#, #""strandEnded":{}"#,
            #""triggeredAgain":{"_0":{"#, #""ended":{"_0":"completed"}"#, #""path":"automationGraph.nodes[1]""#, "\n",
        ],
        seeds: { RecordedRuns.seeds }
    ) { bytes throws(FuzzFailure) in
        let decoder = JSONDecoder()
        var entries: [RunEntry] = []
        for line in bytes.split(separator: UInt8(ascii: "\n")) {
            guard let entry = try? decoder.decode(RunEntry.self, from: Data(line)) else { continue }
            let again = (try? JSONEncoder().encode(entry)).flatMap { try? decoder.decode(RunEntry.self, from: $0) }
            try require(again == entry, "an entry changes when it is written and read")
            entries.append(entry)
        }
        try RecordedRuns.goOn(entries)
    }
}

/// A home with one automation, whose record the input is.
enum RecordedRuns {
    private static let graph: Graph = {
        func onOff(_ device: String) -> GraphTrait { GraphTrait(.device(device), trait: "OnOff") }
        func command(_ device: String, deferral: Duration? = nil) -> GraphNode {
            .action(GraphAction(onOff(device), .command("on", parameters: [:]), deferral: deferral))
        }
        let isOn = GraphExpression.operation(.equals, [.field("onOff", of: .reference("n1")), .constant(.bool(true))])
        return Graph([
            .attributeStarter(GraphReader(id: "n1", onOff("sensor"))), .suppress(.seconds(5)),
            .condition(GraphCondition(isOn, for: .seconds(5))), .stateReader(GraphReader(id: "n2", onOff("lamp"))),
            .ifThen(GraphIf(.init(isOn, [command("lamp")]), elseThen: [.delay(.seconds(5))])),
            .parallel([
                .sequential([command("fan", deferral: .seconds(20)), .delay(.seconds(10)), command("lamp")]),
                .sequential([.condition(GraphCondition(isOn)), command("fan")]),
            ]),
            command("lamp"),
        ])
    }()

    private static let definition = AutomationDefinition(
        id: "a1", structureID: "s1", owner: "app", name: "Light", graph: graph)

    private static func device(_ id: String, isOn: Bool) -> ObservedDevice {
        let state = TraitCollection([Matter.OnOffTrait(attributes: .init(onOff: isOn))])
        return ObservedDevice(
            id: id, name: id, isOnline: id != "fan" || isOn,
            parts: [.init(endpoint: 1, types: ["OnOffLightDeviceType"], traits: state)])
    }

    private static let wall: Int64 = 1_772_452_800_000

    /// What the engine wants done, until it wants nothing more. Each command succeeds.
    private static func drain(
        _ engine: inout Engine, _ now: EngineTime, sent: inout [CommandRequest], kept: inout [RunEntry]
    ) throws(FuzzFailure) {
        var count = 0
        while let effect = engine.pollEffect() {
            count += 1
            try require(count < 10_000, "an engine has effects without end")
            switch effect {
            case .record(let entry): kept.append(entry)
            case .send(let request):
                sent.append(request)
                engine.handle(
                    .commandEnded(runID: request.runID, commandID: request.commandID, .succeeded), at: now)
            case .state, .alarm, .change, .sunless: break
            }
        }
    }

    /// Lets a new engine go on with a record, until nothing waits.
    static func goOn(_ entries: [RunEntry]) throws(FuzzFailure) {
        var engine = Engine { "new" }
        var now = EngineTime(uptime: 1_000, wall: wall)
        engine.restore([definition], states: [:], openRuns: [entries], at: now)
        for id in ["sensor", "lamp"] { engine.handle(.device(device(id, isOn: true)), at: now) }
        engine.handle(.device(device("fan", isOn: false)), at: now)
        var sent: [CommandRequest] = []
        var kept: [RunEntry] = []
        for round in 0..<200 {
            engine.handle(.clock, at: now)
            if round == 20 { engine.handle(.device(device("fan", isOn: true)), at: now) }
            try drain(&engine, now, sent: &sent, kept: &kept)
            guard let next = engine.nextDeadline else { break }
            let step = max(1, next - now.uptime)
            now = EngineTime(uptime: now.uptime + step, wall: now.wall + step)
        }
        try require(engine.runningAutomations.isEmpty, "a run goes on without end")
        let announced: [Int] = entries.compactMap { if case .sending(let id) = $0.event { id } else { nil } }
        for request in sent {
            try require(!announced.contains(request.commandID), "a command is sent again")
            try require(
                sent.count { ($0.runID, $0.commandID) == (request.runID, request.commandID) } == 1,
                "a command is sent twice")
        }
        var numbers: [String: Int] = [:]
        for entry in kept where entry.runID == "r1" {
            if let last = numbers[entry.runID] {
                try require(entry.number == last + 1, "the numbers of a record have a gap")
            }
            numbers[entry.runID] = entry.number
        }
    }

    /// The record of one whole run, and its beginnings.
    static var seeds: [[UInt8]] {
        var engine = Engine { "r1" }
        var now = EngineTime(uptime: 1_000, wall: wall)
        engine.handle(.define(definition), at: now)
        for id in ["sensor", "lamp", "fan"] { engine.handle(.device(device(id, isOn: false)), at: now) }
        engine.handle(.device(device("sensor", isOn: true)), at: now)
        var sent: [CommandRequest] = []
        var kept: [RunEntry] = []
        for _ in 0..<50 {
            // A seed is what a healthy engine writes.
            try? drain(&engine, now, sent: &sent, kept: &kept)
            guard let next = engine.nextDeadline, !engine.runningAutomations.isEmpty else { break }
            let step = max(1, next - now.uptime)
            now = EngineTime(uptime: now.uptime + step, wall: now.wall + step)
            engine.handle(.clock, at: now)
        }
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        let lines = kept.compactMap { try? encoder.encode($0) }.map { Array($0) }
        return [1, 3, lines.count / 2, lines.count - 1, lines.count].map { count in
            Array(lines.prefix(max(0, count)).joined(separator: [UInt8(ascii: "\n")]))
        }
    }
}
