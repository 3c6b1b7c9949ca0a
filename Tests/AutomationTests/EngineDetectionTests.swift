import Automation
import AutomationGraph
import HomeTypes
import Testing

/// What cameras see, as starters. Each stay has an event when it begins and one when it ends.
@Suite struct EngineDetectionTests {
    private static func person(_ parameters: [String: JSONObject.Value] = [:]) -> GraphNode {
        .eventStarter(
            GraphEventStarter(
                id: "e", GraphTrait(.device("door"), trait: "CameraPerson"), event: "Person", parameters: parameters))
    }

    private static func seen(_ phase: String, session: String = "1") -> EngineInput {
        .event(
            ObservedEvent(
                entityID: "door", endpoint: 1, trait: "CameraPerson", event: "Person",
                fields: ["phase": .text(phase), "eventSessionId": .text(session)]))
    }

    @Test func `a starter without a phase waits for the beginning of a stay`() {
        var home = EngineHome([Self.person(), Nodes.command("lamp")])
        home.report(Self.seen("started"))
        home.report(Self.seen("ended"))
        #expect(home.commands == ["lamp.on"])
    }

    @Test func `a starter that names the end of a stay waits only for that`() {
        var home = EngineHome([Self.person(["phase": .text("ended")]), Nodes.command("lamp", "off")])
        home.report(Self.seen("started"))
        #expect(home.runs.isEmpty)
        home.report(Self.seen("ended"))
        #expect(home.commands == ["lamp.off"])
        guard case .began(let trigger, _, _) = home.entries.first?.event else {
            Issue.record("no run began")
            return
        }
        #expect(trigger.values["phase"] == .text("ended") && trigger.values["eventSessionId"] == .text("1"))
    }

    @Test func `both ends of a stay start what names both, and a condition can ask which one it was`() {
        let hasEnded = GraphExpression.operation(
            .equals, [.field("phase", of: .reference("e")), .constant(.text("ended"))])
        var home = EngineHome([
            .select([Self.person(["phase": .text("started")]), Self.person(["phase": .text("ended")])]),
            .ifThen(GraphIf(.init(hasEnded, [Nodes.command("lamp", "off")]), elseThen: [Nodes.command("lamp")])),
        ])
        for (phase, session) in [("started", "1"), ("ended", "1"), ("started", "2"), ("unspecified", "2")] {
            home.report(Self.seen(phase, session: session))
        }
        #expect(home.commands == ["lamp.on", "lamp.off", "lamp.on"])
    }

    @Test func `an event of another device, trait or name starts nothing`() {
        var home = EngineHome([Self.person(), Nodes.command("lamp")])
        for (device, trait, event) in [
            ("yard", "CameraPerson", "Person"), ("door", "CameraVehicle", "Person"),
            ("door", "CameraPerson", "Vehicle"),
        ] {
            home.report(
                .event(
                    ObservedEvent(
                        entityID: device, endpoint: 1, trait: trait, event: event,
                        fields: ["phase": .text("started")])))
        }
        #expect(home.runs.isEmpty)
    }
}
