import Automation
import AutomationGraph
import HomeTypes
import Testing

/// Runs that follow from runs: through events, through recordings that last, and through covers that move slowly.
@Suite struct EngineLoopTests {
    private static let transport = GraphTrait(.device("door"), trait: "PushAvStreamTransport")

    private static func transportStarter(_ event: String) -> GraphNode {
        .eventStarter(GraphEventStarter(id: "e", transport, event: event))
    }

    private static func record(_ connection: Int64) -> GraphNode {
        .action(
            GraphAction(
                transport, .command("manuallyTriggerTransport", parameters: ["connectionID": .integer(connection)])))
    }

    private static func transportEvent(_ event: String, _ connection: Int64) -> EngineInput {
        .event(
            ObservedEvent(
                entityID: "door", endpoint: 1, trait: "PushAvStreamTransport", event: event,
                fields: ["connectionID": .integer(connection)]))
    }

    @Test func `a recording that starts itself again when it ends is cut, however long it lasts`() {
        var home = EngineHome([Self.transportStarter("PushTransportEnd"), Self.record(1)])
        // Somebody else's recording ends: nothing led to this run.
        home.report(Self.transportEvent("PushTransportEnd", 1))
        // Each command leads to a recording, which ends.
        var recorded = 0
        while recorded < home.sent.count, recorded < 100 {
            recorded += 1
            home.pass(60_000)
            home.report(Self.transportEvent("PushTransportEnd", 1))
        }
        #expect(home.sent.count == 9)
        #expect(home.ends.contains(.loopCut))
    }

    @Test func `the end of another connection, or of a recording that no command began, follows from nothing`() {
        var home = EngineHome([Self.transportStarter("PushTransportEnd"), Self.record(1)])
        for _ in 0..<20 {
            home.pass(60_000)
            home.report(Self.transportEvent("PushTransportEnd", 2))
        }
        #expect(home.sent.count == 20)
        // The first end is that of the command's recording. Motion began the later ones.
        home.report(Self.transportEvent("PushTransportEnd", 1))
        let depths = home.entries.compactMap { if case .began(_, let depth, _) = $0.event { depth } else { nil } }
        #expect(depths.last == 1)
    }

    @Test func `a camera in a busy street records every person`() {
        let person = GraphNode.eventStarter(
            GraphEventStarter(id: "e", GraphTrait(.device("door"), trait: "CameraPerson"), event: "Person"))
        var home = EngineHome([person, Self.record(1)])
        for number in 0..<30 {
            for phase in ["began", "ended"] {
                home.report(
                    .event(
                        ObservedEvent(
                            entityID: "door", endpoint: 1, trait: "CameraPerson", event: "Person",
                            fields: ["phase": .text(phase), "eventSessionId": .text("\(number)")])))
            }
            home.pass(4_000)
        }
        #expect(home.sent.count == 30 && !home.ends.contains(.loopCut))
    }

    @Test func `an end that nobody waits for is over all the same`() {
        var home = EngineHome([.manualStarter, Self.record(1)])
        home.report(.execute(automationID: "a", principal: "anna"))
        home.pass(60_000)
        home.report(Self.transportEvent("PushTransportEnd", 1))
        home.define(
            AutomationDefinition(
                id: "b", structureID: "s1", owner: "app",
                graph: Graph([Self.transportStarter("PushTransportEnd"), Nodes.command("lamp")])))
        home.pass(60_000)
        home.report(Self.transportEvent("PushTransportEnd", 1))
        guard case .began(_, let depth, _) = home.runs.last?.first?.event else {
            Issue.record("no run began")
            return
        }
        #expect(depth == 0)
    }

    @Test func `what a camera hears of its own chime follows from the command, and a finger on the bell never does`() {
        func sound(_ phase: String, _ session: Int) -> EngineInput {
            .event(
                ObservedEvent(
                    entityID: "door", endpoint: 1, trait: "CameraSound", event: "Sound",
                    fields: ["phase": .text(phase), "eventSessionId": .text("\(session)")]))
        }
        let chime = GraphNode.action(
            GraphAction(GraphTrait(.device("door"), trait: "Chime"), .command("playChimeSound", parameters: [:])))
        let ended = GraphNode.eventStarter(
            GraphEventStarter(
                id: "e", GraphTrait(.device("door"), trait: "CameraSound"), event: "Sound",
                parameters: ["phase": .text("ended")]))
        var home = EngineHome([ended, chime])
        home.report(sound("ended", 0))
        var heard = 0
        while heard < home.sent.count, heard < 100 {
            heard += 1
            home.pass(2_000)
            home.report(sound("started", heard))
            home.pass(30_000)
            home.report(sound("ended", heard))
        }
        #expect(home.sent.count == 9)

        var bell = EngineHome([Nodes.event(), chime])
        for _ in 0..<15 {
            bell.report(.event(ObservedEvent(entityID: "door", trait: "DoorbellPress", event: "DoorbellPressed")))
            bell.pass(2_000)
        }
        #expect(bell.sent.count == 15)
    }

    @Test func `a virtual doorbell that an automation presses again and again is cut`() {
        let press = GraphNode.action(
            GraphAction(GraphTrait(.device("door"), trait: "DoorbellPress"), .command("press", parameters: [:])))
        var home = EngineHome([Nodes.event(), .delay(.seconds(5)), press])
        let pressed = EngineInput.event(
            ObservedEvent(entityID: "door", trait: "DoorbellPress", event: "DoorbellPressed"))
        home.report(pressed)
        home.pass(5_000)
        var presses = 0
        while presses < home.sent.count, presses < 100 {
            presses += 1
            home.report(pressed)
            home.pass(5_000)
        }
        #expect(home.sent.count == 9 && home.ends.last == .loopCut)
    }

    @Test func `two automations that send a cover up and down are cut, however slowly it moves`() {
        func cover(_ position: UInt16, isMoving: Bool) -> ObservedDevice {
            let state = Matter.WindowCoveringTrait(
                attributes: .init(
                    operationalStatus: isMoving ? .init(rawValue: 1) : [], currentPositionLiftPercent100ths: position))
            return ObservedDevice(
                id: "gate", name: "gate",
                parts: [.init(endpoint: 1, types: ["WindowCoveringDeviceType"], traits: TraitCollection([state]))])
        }
        let gate = GraphTrait(.device("gate"), trait: "WindowCovering")
        func automation(_ id: String, _ position: Int64, _ command: String) -> AutomationDefinition {
            let isThere = GraphExpression.operation(
                .equals,
                [.field("currentPositionLiftPercent100ths", of: .reference("n1")), .constant(.integer(position))])
            let nodes: [GraphNode] = [
                .attributeStarter(GraphReader(id: "n1", gate)), Nodes.condition(isThere),
                .action(GraphAction(gate, .command(command, parameters: [:]))),
            ]
            return AutomationDefinition(id: id, structureID: "s1", owner: "app", graph: Graph(nodes))
        }
        var home = EngineHome()
        home.define(automation("up", 10_000, "upOrOpen"))
        home.define(automation("down", 0, "downOrClose"))
        home.report(.device(cover(5_000, isMoving: false)))
        home.report(.device(cover(10_000, isMoving: false)))
        for _ in 0..<30 {
            guard case .command(let command, _)? = home.sent.last?.action.behaviour else { break }
            home.pass(1_000)
            home.report(.device(cover(5_000, isMoving: true)))
            home.pass(40_000)
            home.report(.device(cover(command == "upOrOpen" ? 0 : 10_000, isMoving: false)))
        }
        #expect(home.sent.count == 9)
        #expect(home.ends.contains(.loopCut))
    }

    @Test func `what a cover reports while it stands still does not prolong the consequences of a command`() {
        func cover(_ level: UInt8, isOn: Bool) -> EngineInput {
            .device(
                ObservedDevice(
                    id: "gate", name: "gate",
                    parts: [
                        .init(
                            endpoint: 1, types: ["WindowCoveringDeviceType"],
                            traits: TraitCollection([
                                Matter.WindowCoveringTrait(attributes: .init(operationalStatus: [])),
                                Matter.OnOffTrait(attributes: .init(onOff: isOn)),
                                Matter.LevelControlTrait(attributes: .init(currentLevel: level)),
                            ]))
                    ]))
        }
        let starter = GraphNode.attributeStarter(GraphReader(id: "n1", GraphTrait(.device("gate"), trait: "OnOff")))
        let open = GraphNode.action(
            GraphAction(GraphTrait(.device("gate"), trait: "WindowCovering"), .command("upOrOpen", parameters: [:])))
        var home = EngineHome([starter, open])
        home.report(cover(0, isOn: false))
        var level: UInt8 = 0
        for minute in 1...15 {
            let isOn = !minute.isMultiple(of: 2)
            home.report(cover(level, isOn: isOn))
            for _ in 0..<12 {
                home.pass(5_000)
                level += 1
                home.report(cover(level, isOn: isOn))
            }
        }
        #expect(home.sent.count == 15 && !home.ends.contains(.loopCut))
    }

    @Test func `the stop of a cover follows from a command that is answered only after the cover has begun to move`() {
        func cover(isMoving: Bool) -> EngineInput {
            let state = Matter.WindowCoveringTrait(
                attributes: .init(operationalStatus: isMoving ? .init(rawValue: 1) : []))
            return .device(
                ObservedDevice(
                    id: "gate", name: "gate",
                    parts: [.init(endpoint: 1, types: ["WindowCoveringDeviceType"], traits: TraitCollection([state]))]))
        }
        let gate = GraphTrait(.device("gate"), trait: "WindowCovering")
        var home = EngineHome([.manualStarter, .action(GraphAction(gate, .command("upOrOpen", parameters: [:])))])
        home.define(
            AutomationDefinition(
                id: "b", structureID: "s1", owner: "app",
                graph: Graph([.attributeStarter(GraphReader(id: "n1", gate)), Nodes.command("lamp")])))
        home.answer = { $0.action.target.entity.id == "gate" ? nil : .succeeded }
        home.report(cover(isMoving: false))
        home.report(.execute(automationID: "a", principal: "anna"))
        home.pass(1_000)
        home.report(cover(isMoving: true))
        guard let command = home.sent.first else {
            Issue.record("no command was sent")
            return
        }
        home.report(.commandEnded(runID: command.runID, commandID: command.commandID, .succeeded))
        home.pass(40_000)
        home.report(cover(isMoving: false))
        let depths = home.entries.compactMap { if case .began(_, let depth, _) = $0.event { depth } else { nil } }
        #expect(depths == [0, 1, 1])
    }

    @Test func `what a starter changes itself does not make the other starters of the same change its consequence`() {
        var home = EngineHome([Nodes.starter("lamp"), Nodes.command("lamp", "off")])
        home.define(
            AutomationDefinition(
                id: "b", structureID: "s1", owner: "app", graph: Graph([Nodes.starter("lamp"), Nodes.command("fan")])))
        home.set("lamp", isOn: true)
        let depths = home.entries.compactMap { if case .began(_, let depth, _) = $0.event { depth } else { nil } }
        #expect(depths == [0, 0])
    }
}
