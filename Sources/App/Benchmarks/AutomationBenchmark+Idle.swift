import Automation
import AutomationGraph
import DatagramPort
import HomeTypes
import Transport

/// What starts nothing, and what it does to other automations.
extension AutomationBenchmark {
    /// What an engine gets and starts nothing, by its kind. Each kind has two inputs, which come in turns.
    private static func idleInputs(_ automations: Int) -> [(kind: String, inputs: [EngineInput])] {
        let number = automations / 2
        func event(_ trait: String, _ event: String, _ fields: [String: JSONObject.Value] = [:]) -> [EngineInput] {
            let found = EngineInput.event(
                ObservedEvent(entityID: "door-\(number)", endpoint: 1, trait: trait, event: event, fields: fields))
            return [found, found]
        }
        return [
            ("an event of another device", [press("window"), press("window")]),
            ("another event of a watched device", event("CameraMotion", "Motion", ["phase": .text("started")])),
            ("a wrong parameter", event("CameraPerson", "Person", ["phase": .text("momentary")])),
            (
                "another attribute of a watched device",
                [1, 2].map { change("switch-\(number)", isOn: false, level: $0) }
            ),
            ("a change of another device", [false, true].map { change("window", isOn: $0) }),
        ]
    }

    func idle(_ engine: inout Engine, _ automations: Int) -> [IdleMeasurement] {
        let now = EngineTime(uptime: 1_000_000_000, wall: 1_000_000_000)
        // The switch is off from here on.
        engine.handle(Self.change("switch-\(automations / 2)", isOn: false), at: now)
        engine.handle(Self.change("window", isOn: false), at: now)
        while engine.pollEffect() != nil {}
        return Self.idleInputs(automations).map { kind, inputs in
            let rounds = 50_000
            engine.handle(inputs[1], at: now)
            let start = ProcessorClock.thread
            for _ in 0..<rounds { for input in inputs { engine.handle(input, at: now) } }
            let time = Double(ProcessorClock.thread - start) / Double(2 * rounds)
            // The state is the engine's own here: a copy of it would be made at the first change, and counted.
            let count = HeapUse.allocations {
                for _ in 0..<1_000 { for input in inputs { engine.handle(input, at: now) } }
            }
            return IdleMeasurement(kind: kind, nanoseconds: time, allocations: count.map { Double($0) / 2_000 })
        }
    }

    /// A condition with a time of day, a text and a number.
    func condition() throws -> IdleMeasurement {
        func field(_ name: String) -> GraphExpression { .field(name, of: .reference("n1")) }
        func time(_ hours: Int64) -> GraphExpression {
            .constant(.object(["hours": .integer(hours), "minutes": .integer(0)]))
        }
        let program = try ExpressionProgram(
            .operation(
                .and,
                [
                    .operation(.between, [field("currentTime"), time(22), time(6)]),
                    .operation(.equals, [field("presenceState"), .constant(.text("presenceStateVacant"))]),
                    .operation(.not, [.operation(.lessThan, [field("level"), .constant(.number(12.5))])]),
                ]))
        let values: [RuntimeValue?] = [.time(23 * 3_600_000_000_000), .text("presenceStateVacant"), .integer(13)]
        var count = 0
        let rounds = 100_000
        let start = ProcessorClock.thread
        for _ in 0..<rounds where program.evaluate(values) == .holds { count += 1 }
        let spent = Double(ProcessorClock.thread - start) / Double(rounds)
        guard count == rounds else { throw BenchmarkFailure("the condition does not hold") }
        let allocations = HeapUse.allocations { for _ in 0..<1_000 { _ = program.evaluate(values) } }
        return IdleMeasurement(
            kind: "a condition of three comparisons", nanoseconds: spent,
            allocations: allocations.map { Double($0) / 1_000 })
    }

    /// How long an event takes to its command behind 1,000 changes of a device whose own automation is paused.
    func flood(_ engine: inout Engine, _ automations: Int, events: Int) throws -> [Double] {
        let flooding = "flood"
        var definition = Self.definition(0)
        definition.id = flooding
        definition.graph = Self.starting(with: flooding)
        var now = EngineTime(uptime: 2_000_000_000, wall: 2_000_000_000)
        engine.handle(.define(definition), at: now)
        while engine.pollEffect() != nil {}
        let press = Self.press("door-\(automations / 2)")
        var times: [Double] = []
        for _ in 0..<events {
            now = EngineTime(uptime: now.uptime + 1_000, wall: now.wall + 1_000)
            let start = MonotonicClock.now
            for number in 0..<1_000 { engine.handle(Self.change(flooding, isOn: number % 2 == 0), at: now) }
            engine.handle(press, at: now)
            var requests: [CommandRequest] = []
            while let effect = engine.pollEffect() {
                guard case .send(let request) = effect else { continue }
                if request.automationID != flooding {
                    times.append(Double((MonotonicClock.now - start).wholeNanoseconds) / 1e3)
                }
                requests.append(request)
            }
            for request in requests {
                engine.handle(
                    .commandEnded(runID: request.runID, commandID: request.commandID, .succeeded), at: now)
            }
            while engine.pollEffect() != nil {}
        }
        guard times.count == events else { throw BenchmarkFailure("an event behind a flood started no run") }
        engine.handle(.remove(automationID: flooding), at: now)
        while engine.pollEffect() != nil {}
        return times
    }
}
