import Automation
import AutomationGraph
import HomeTypes
import Testing

@Suite struct EngineFlowTests {
    @Test func `a change of an attribute starts a run that sends its command`() {
        var home = EngineHome([
            Nodes.starter("lamp"), Nodes.condition(Nodes.isOn("n1")), Nodes.command("fan"),
        ])
        home.set("lamp", isOn: true)
        #expect(home.commands == ["fan.on"])
        #expect(home.ends == [.completed])
        let events = home.entries.map(\.event)
        #expect(home.entries.map(\.number) == Array(0..<events.count))
        guard case .began(let trigger, depth: 0, isLate: false) = events.first else {
            Issue.record("the run does not begin")
            return
        }
        #expect(trigger.values == ["onOff": .bool(true)] && trigger.path == "automationGraph.nodes[0]")
        #expect(
            events.dropFirst() == [
                .read(reference: "n1", values: ["onOff": .bool(true)]),
                .condition(holds: true, operands: ["n1.onOff": .bool(true)], missing: nil),
                .sending(commandID: 0), .sent(commandID: 0, .succeeded, milliseconds: 0), .ended(.completed),
            ])
        home.set("lamp", isOn: false)
        #expect(home.ends == [.completed, .conditionFalse])
        #expect(home.sent.count == 1)
    }

    @Test func `only a real change starts a run`() {
        var home = EngineHome([Nodes.starter("lamp"), Nodes.command("fan")])
        home.set("lamp", isOn: false)
        home.set("lamp", isOn: nil)
        home.set("lamp", isOn: false)
        home.set("lamp", isOn: false, isOnline: false)
        home.set("lamp", isOn: false, isOnline: true)
        home.set("fan", isOn: true)
        #expect(home.runs.isEmpty)
        home.restart()
        #expect(home.runs.isEmpty)
        home.report(.device(EngineHome.device("new", isOn: true)))
        home.set("lamp", isOn: nil)
        home.set("lamp", isOn: true)
        #expect(home.ends == [.completed])
    }

    @Test func `an event starts a run if its fields are as wanted`() {
        var home = EngineHome([Nodes.event("DoorbellPressed", ["priority": .integer(3)]), Nodes.command("fan")])
        func press(_ fields: [String: JSONObject.Value], trait: String = "DoorbellPress") -> EngineInput {
            .event(ObservedEvent(entityID: "door", trait: trait, event: "DoorbellPressed", fields: fields))
        }
        home.report(press([:]))
        home.report(press(["priority": .integer(2)]))
        home.report(press(["priority": .integer(3)], trait: "Other"))
        #expect(home.runs.isEmpty)
        home.report(press(["priority": .number(3), "more": .text("x")]))
        #expect(home.commands == ["fan.on"])
        #expect(home.engine.watches(deviceID: "door", event: "DoorbellPressed", of: "DoorbellPress"))
        #expect(!home.engine.watches(deviceID: "door", event: "Other", of: "DoorbellPress"))
        #expect(home.engine.watches(deviceID: "fan") && !home.engine.watches(deviceID: "plug"))
    }

    @Test func `parallel branches run at the same time, and what follows waits for all`() {
        var home = EngineHome([
            Nodes.starter("lamp"),
            .parallel([
                .sequential([
                    .delay(.seconds(5)), Nodes.command("fan"), .delay(.seconds(5)), Nodes.command("fan", "off"),
                ]),
                .sequential([Nodes.condition(.constant(.bool(false))), Nodes.command("plug", "toggle")]),
                Nodes.command("plug"),
            ]),
            Nodes.command("lamp", "off"),
        ])
        home.set("lamp", isOn: true)
        #expect(home.commands == ["plug.on"])
        home.pass(5_000)
        #expect(home.commands == ["plug.on", "fan.on"])
        home.pass(4_999)
        #expect(home.ends == [nil])
        home.pass(1)
        #expect(home.commands == ["plug.on", "fan.on", "fan.off", "lamp.off"])
        #expect(home.ends == [.completed])
    }

    @Test func `a choice takes the first flow whose condition holds`() {
        let choice = GraphNode.ifThen(
            GraphIf(
                .init(Nodes.isOn("n1"), [Nodes.command("fan")]),
                elseIfThens: [.init(Nodes.isOn("p"), [Nodes.command("fan", "toggle")])],
                elseThen: [Nodes.command("fan", "off")]))
        var home = EngineHome([Nodes.starter("lamp"), Nodes.reader("plug", as: "p"), choice, Nodes.command("plug")])
        home.set("lamp", isOn: true)
        home.set("plug", isOn: true)
        home.set("lamp", isOn: false)
        home.set("plug", isOn: false)
        home.pass(20_000)
        home.set("lamp", isOn: true)
        home.set("lamp", isOn: false)
        let chosen = home.entries.compactMap { if case .chose(let flow) = $0.event { flow } else { nil } }
        #expect(chosen == ["ifThen", "elseIfThens[0]", "ifThen", "elseThen"])
        #expect(
            home.commands.filter { $0.hasPrefix("fan") } == ["fan.on", "fan.toggle", "fan.on", "fan.off"])
    }

    @Test func `a condition with a duration looks at live values`() {
        var home = EngineHome([
            Nodes.starter("lamp"), Nodes.condition(Nodes.isOn("n1"), for: .seconds(60)), Nodes.command("fan"),
        ])
        home.set("lamp", isOn: true)
        home.pass(59_000)
        #expect(home.sent.isEmpty)
        home.set("lamp", isOn: false)
        #expect(home.ends == [.conditionFalse])
        home.set("lamp", isOn: true)
        home.pass(60_000)
        #expect(home.commands == ["fan.on"])
        #expect(home.ends == [.conditionFalse, .completed])
    }

    @Test func `a missing value ends the run and is named`() {
        var home = EngineHome([
            Nodes.starter("lamp"), Nodes.reader("nowhere", as: "x"), Nodes.condition(Nodes.isOn("x")),
            Nodes.command("fan"),
        ])
        home.set("lamp", isOn: true)
        #expect(home.ends == [.conditionFalse])
        #expect(home.entries.map(\.event).contains(.condition(holds: false, operands: [:], missing: "x.onOff")))
    }

    @Test func `each starter of a choice has its own nodes, and a person begins at the manual one`() {
        let graph: [GraphNode] = [
            .select([
                .sequential([Nodes.event(), .suppress(.seconds(60)), Nodes.command("plug")]), Nodes.starter("lamp"),
                .manualStarter,
            ]),
            Nodes.command("fan"),
        ]
        var home = EngineHome(graph)
        home.report(.event(ObservedEvent(entityID: "door", trait: "DoorbellPress", event: "DoorbellPressed")))
        #expect(home.commands == ["plug.on", "fan.on"])
        home.set("lamp", isOn: true)
        #expect(home.ends == [.completed, .suppressed])
        home.report(.execute(automationID: "a", principal: "anna"))
        #expect(home.commands == ["plug.on", "fan.on", "fan.on"])
        home.pass(60_000)
        home.set("lamp", isOn: false)
        #expect(home.commands.count == 4)
        #expect(Engine.isManuallyExecutable(Graph(graph)))
        #expect(Engine.isManuallyExecutable(Graph([Nodes.event(), Nodes.command("fan")])))
        #expect(!Engine.isManuallyExecutable(Graph([Nodes.event()])))
        var without = EngineHome([Nodes.event(), Nodes.command("fan")]) { $0.isActive = false }
        without.report(.execute(automationID: "a", principal: "anna"))
        #expect(without.commands == ["fan.on"])
    }

    @Test func `presence and the time of day can be read`() {
        let presence = GraphTrait(.structure("s1"), trait: "AreaPresenceState")
        let time = GraphNode.stateReader(GraphReader(id: "time", Nodes.clock))
        func at(_ hours: Int64) -> GraphExpression {
            .constant(.object(["hours": .integer(hours), "minutes": .integer(0)]))
        }
        let between = GraphExpression.operation(
            .between, [.field("currentTime", of: .reference("time")), at(11), at(13)])
        let monday = GraphExpression.operation(
            .equals, [.field("dayOfWeek", of: .reference("time")), .constant(.text("monday"))])
        var home = EngineHome([
            .attributeStarter(GraphReader(id: "n1", presence)), time,
            Nodes.condition(.operation(.and, [between, monday])),
            Nodes.command("fan"),
        ])
        func reported(_ state: Google.AreaPresenceStateTrait.PresenceState) -> ObservedStructure {
            EngineHome.structure(traits: [Google.AreaPresenceStateTrait(attributes: .init(presenceState: state))])
        }
        home.set(reported(.presenceStateVacant))
        #expect(home.runs.isEmpty)
        home.set(reported(.presenceStateOccupied))
        #expect(home.ends == [.completed])
        home.pass(3_601_000)
        home.set(reported(.presenceStateVacant))
        #expect(home.ends == [.completed, .conditionFalse])
    }
}
