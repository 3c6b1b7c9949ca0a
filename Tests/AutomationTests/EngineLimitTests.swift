import Automation
import AutomationGraph
import HomeTypes
import Testing

@Suite struct EngineLimitTests {
    @Test func `an automation runs once at a time, and further triggers are recorded`() {
        var home = EngineHome([Nodes.starter("lamp"), .delay(.seconds(60)), Nodes.command("fan")])
        for number in 0..<300 { home.set("lamp", isOn: number % 2 == 0) }
        #expect(home.runs.count == 1)
        let again = home.records { if case .triggeredAgain = $0 { true } else { false } }
        #expect(again.count == 100)
        home.report(.execute(automationID: "a", principal: "anna"))
        home.pass(60_000)
        #expect(home.commands == ["fan.on"])
        #expect(Set(home.ends.map { $0?.rawValue }) == ["completed", "alreadyRunning"])
    }

    @Test func `an automation runs as often as it may`() {
        var home = EngineHome([Nodes.starter("lamp"), Nodes.command("fan")]) { $0.maxExecutionCount = 2 }
        for number in 0..<4 { home.set("lamp", isOn: number % 2 == 0) }
        #expect(home.commands == ["fan.on", "fan.on"])
        #expect(home.ends == [.completed, .completed, .exhausted, .exhausted])
        #expect(home.states["a"]?.executionCount == 2)
    }

    @Test func `a device that toggles a thousand times a second pauses the automation until a person releases it`() {
        var home = EngineHome([Nodes.starter("lamp"), Nodes.command("fan")])
        for number in 0..<1_000 {
            home.set("lamp", isOn: number % 2 == 0)
            home.pass(1)
        }
        #expect(home.sent.count == 20)
        #expect(home.alarms == [false])
        #expect(home.entries.count < 200)
        #expect(home.ends.last == .loopCut)
        home.pass(60_000)
        home.set("lamp", isOn: true)
        #expect(home.sent.count == 20)
        home.restart()
        #expect(home.alarms == [false, false])
        home.report(.release(automationID: "a", principal: "anna"))
        #expect(home.alarms == [false, false, true])
        home.set("lamp", isOn: false)
        #expect(home.sent.count == 21)
    }

    @Test func `two automations that toggle each other are cut`() {
        var home = EngineHome([Nodes.starter("lamp"), Nodes.command("fan", "toggle")])
        home.define(
            AutomationDefinition(
                id: "b", structureID: "s1", owner: "app",
                graph: Graph([Nodes.starter("fan", as: "f"), Nodes.command("lamp", "toggle")])))
        var isOn = ["lamp": false, "fan": false]
        home.set("lamp", isOn: true)
        isOn["lamp"] = true
        var answered = 0
        while answered < home.sent.count, answered < 100 {
            let target = home.sent[answered].action.target.entity.id
            answered += 1
            home.pass(100)
            isOn[target]?.toggle()
            home.set(target, isOn: isOn[target])
        }
        // Depths 0 to 8 send a command, and what the last one changes starts nothing.
        #expect(home.sent.count == 9)
        #expect(home.ends.last == .loopCut)
        home.pass(60_000)
        isOn["lamp"]?.toggle()
        home.set("lamp", isOn: isOn["lamp"])
        #expect(home.sent.count == 10)
    }

    @Test func `too many runs, and runs that are too long, end`() {
        var limits = EngineLimits()
        limits.runs = 1
        limits.runLength = 30_000
        var home = EngineHome([Nodes.starter("lamp"), .delay(.seconds(60)), Nodes.command("fan")], limits: limits)
        home.define(
            AutomationDefinition(
                id: "b", structureID: "s1", owner: "app", graph: Graph([Nodes.starter("lamp"), Nodes.command("plug")])))
        home.set("lamp", isOn: true)
        #expect(home.ends == [nil, .limitReached])
        home.pass(60_000)
        #expect(home.ends == [.failed, .limitReached])
        #expect(home.sent.isEmpty)
    }

    @Test func `a command that is not answered ends as failed, and the run goes on`() {
        var home = EngineHome([
            Nodes.starter("lamp"), .parallel([Nodes.command("fan"), Nodes.command("plug")]),
            Nodes.command("lamp", "off"),
        ])
        home.answer = { $0.action.target.entity.id == "fan" ? nil : .succeeded }
        home.set("lamp", isOn: true)
        #expect(home.commands == ["fan.on", "plug.on"])
        home.pass(12_000)
        #expect(home.commands == ["fan.on", "plug.on", "lamp.off"])
        #expect(home.ends == [.failed])
        home.answer = { _ in .notAuthorised(message: "no") }
        home.set("lamp", isOn: false)
        #expect(home.ends == [.failed, .notAuthorised])
        home.answer = { $0.commandID == 0 ? .notAuthorised(message: "no") : .succeeded }
        home.set("lamp", isOn: true)
        #expect(home.ends == [.failed, .notAuthorised, .failed])
    }

    @Test func `a command to a device that is offline fails, or waits for it if the action says so`() {
        var home = EngineHome([
            Nodes.starter("lamp"), Nodes.command("fan"), Nodes.command("plug", deferral: .seconds(60)),
        ])
        home.set("fan", isOn: false, isOnline: false)
        home.set("plug", isOn: false, isOnline: false)
        home.set("lamp", isOn: true)
        #expect(home.sent.isEmpty)
        #expect(home.ends == [nil])
        home.pass(30_000)
        home.set("plug", isOn: false, isOnline: true)
        #expect(home.commands == ["plug.on"])
        #expect(home.ends == [.failed])
        home.set("plug", isOn: false, isOnline: false)
        home.set("lamp", isOn: false)
        home.pass(60_000)
        home.set("plug", isOn: false, isOnline: true)
        #expect(home.commands == ["plug.on"])
        #expect(home.ends == [.failed, .failed])
    }

    @Test func `a device that leaves the home starts nothing and gets nothing, and the rest runs`() {
        var home = EngineHome([
            .select([Nodes.starter("lamp"), Nodes.event()]), Nodes.command("fan"), Nodes.command("plug"),
        ])
        home.report(.deviceRemoved(id: "fan"))
        home.report(.deviceRemoved(id: "lamp"))
        home.report(.event(ObservedEvent(entityID: "door", trait: "DoorbellPress", event: "DoorbellPressed")))
        #expect(home.commands == ["plug.on"])
        #expect(home.ends == [.failed])
    }

    @Test func `what validation found wrong does not run, and the rest does`() {
        var home = EngineHome([
            .select([Nodes.starter("lamp"), Nodes.event()]), Nodes.command("fan"),
            .parallel([
                .sequential([Nodes.condition(.constant(.bool(true))), Nodes.command("lamp")]), Nodes.command("plug"),
            ]),
        ]) {
            $0.invalidPaths = [
                "automationGraph.nodes[0].nodes[0]", "automationGraph.nodes[1]",
                "automationGraph.nodes[2].nodes[0].nodes[0]",
            ]
        }
        home.set("lamp", isOn: true)
        #expect(home.runs.isEmpty)
        home.report(.event(ObservedEvent(entityID: "door", trait: "DoorbellPress", event: "DoorbellPressed")))
        #expect(home.commands == ["plug.on"])
    }

    @Test func `a run by hand begins after the first starter although that is not valid`() {
        let invalid: Set<String> = ["automationGraph.nodes[0]", "automationGraph.nodes[0].nodes[0]"]
        for graph in [
            [Nodes.starter("gone"), Nodes.command("fan")],
            [.select([Nodes.starter("gone"), Nodes.event()]), Nodes.command("fan")],
            [
                .select([.sequential([Nodes.starter("gone"), Nodes.command("fan")]), Nodes.event()])
            ],
        ] {
            var home = EngineHome(graph) {
                $0.invalidPaths = invalid.union(["automationGraph.nodes[0].nodes[0].nodes[0]"])
            }
            #expect(home.engine.refusalOfRun("a", at: home.now) == nil)
            home.report(.execute(automationID: "a", principal: "anna"))
            #expect(home.commands == ["fan.on"])
            #expect(home.ends == [.completed])
        }
        var whole = EngineHome([Nodes.starter("lamp"), Nodes.command("fan")]) { $0.invalidPaths = ["automationGraph"] }
        whole.report(.execute(automationID: "a", principal: "anna"))
        #expect(whole.engine.refusalOfRun("a", at: whole.now) == .nothingToRun && whole.runs.isEmpty)
    }

    @Test func `a person who runs an automation too often is refused, and pauses nothing`() {
        var home = EngineHome([Nodes.starter("lamp"), Nodes.command("fan")])
        for _ in 0..<20 {
            #expect(home.engine.refusalOfRun("a", at: home.now) == nil)
            home.report(.execute(automationID: "a", principal: "anna"))
        }
        #expect(home.engine.refusalOfRun("a", at: home.now) == .startsTooOften)
        home.report(.execute(automationID: "a", principal: "anna"))
        #expect(home.sent.count == 20 && home.alarms.isEmpty && home.ends.last == .limitReached)
        home.pass(10_000)
        #expect(home.engine.refusalOfRun("a", at: home.now) == nil)
    }

    @Test func `a person learns why an automation cannot be run`() {
        var limits = EngineLimits()
        limits.runs = 1
        var home = EngineHome([Nodes.starter("lamp"), .delay(.seconds(60))], limits: limits)
        home.define(
            AutomationDefinition(
                id: "b", structureID: "s1", owner: "app", maxExecutionCount: 1,
                graph: Graph([.manualStarter, Nodes.command("fan")])))
        #expect(home.engine.refusalOfRun("b", at: home.now) == nil)
        home.report(.execute(automationID: "a", principal: "anna"))
        #expect(home.engine.refusalOfRun("a", at: home.now) == .running)
        #expect(home.engine.refusalOfRun("b", at: home.now) == .tooManyRuns)
        home.report(.stop(automationID: "a", principal: "anna"))
        home.report(.execute(automationID: "b", principal: "anna"))
        #expect(home.engine.refusalOfRun("b", at: home.now) == .exhausted)
        #expect(home.engine.refusalOfRun("c", at: home.now) == .nothingToRun)
    }

    @Test func `a new graph counts from the next run on, and stopping works`() {
        var home = EngineHome([Nodes.starter("lamp"), .delay(.seconds(60)), Nodes.command("fan")])
        home.set("lamp", isOn: true)
        var definition =
            home.definitions["a"] ?? AutomationDefinition(id: "a", structureID: "", owner: "", graph: Graph())
        definition.graph = Graph([Nodes.starter("lamp"), .delay(.seconds(60)), Nodes.command("plug")])
        home.define(definition)
        home.pass(60_000)
        #expect(home.commands == ["fan.on"])
        home.set("lamp", isOn: false)
        #expect(home.engine.runningAutomations == ["a"])
        home.report(.stop(automationID: "a", principal: "anna"))
        #expect(home.ends == [.completed, .stopped])
        home.set("lamp", isOn: true)
        definition.isActive = false
        home.define(definition)
        #expect(home.ends == [.completed, .stopped, .stopped])
        home.set("lamp", isOn: false)
        #expect(home.runs.count == 3)
        definition.isActive = true
        home.define(definition)
        home.set("lamp", isOn: true)
        home.report(.remove(automationID: "a"))
        home.pass(120_000)
        #expect(home.ends == [.completed, .stopped, .stopped, .stopped])
        #expect(home.engine.runningAutomations.isEmpty && !home.engine.watches(deviceID: "lamp"))
        #expect(home.commands == ["fan.on"])
    }

    @Test func `a run hears of its devices until it ends, also of those that a new graph no longer names`() {
        let later = Graph([Nodes.starter("lamp"), Nodes.command("fan")])
        var deferred = EngineHome([Nodes.starter("lamp"), Nodes.command("plug", deferral: .seconds(60))])
        deferred.set("plug", isOn: false, isOnline: false)
        deferred.set("lamp", isOn: true)
        deferred.replace(later)
        // A second edit changes nothing for the run.
        deferred.replace(Graph([Nodes.starter("lamp"), Nodes.command("lamp", "off")]))
        #expect(deferred.engine.watches(deviceID: "plug"))
        var removed = deferred
        deferred.pass(30_000)
        deferred.set("plug", isOn: false, isOnline: true)
        #expect(deferred.commands == ["plug.on"])
        #expect(deferred.ends == [.completed])
        #expect(!deferred.engine.watches(deviceID: "plug"))

        removed.report(.deviceRemoved(id: "plug"))
        #expect(removed.ends == [.failed])

        var held = EngineHome([
            Nodes.starter("lamp"), Nodes.reader("plug", as: "p"), Nodes.condition(Nodes.isOn("p"), for: .seconds(60)),
            Nodes.command("fan", "off"),
        ])
        held.set("plug", isOn: true)
        held.set("lamp", isOn: true)
        held.replace(later)
        var stopped = held
        held.pass(30_000)
        held.set("plug", isOn: false)
        held.set("plug", isOn: true)
        #expect(held.ends == [.conditionFalse])
        held.pass(60_000)
        #expect(held.sent.isEmpty && !held.engine.watches(deviceID: "plug"))

        stopped.report(.remove(automationID: "a"))
        #expect(stopped.ends == [.stopped])
        #expect(!stopped.engine.watches(deviceID: "plug") && !stopped.engine.watches(deviceID: "lamp"))
    }
}

extension EngineHome {
    /// Gives the automation another graph.
    fileprivate mutating func replace(_ graph: Graph) {
        guard var definition = definitions["a"] else { return }
        definition.graph = graph
        define(definition)
    }
}
