import Automation
import AutomationGraph
import Foundation
import HomeTypes
import Testing

/// The flows that the guide "Automations" prints, in virtual time. The tests of the snippets make the same graphs with the
/// Swift library and create them in a running gateway.
@Suite struct EngineSnippetTests {
    /// E4: all blinds open at eight.
    private static let blinds: String = {
        let actions = ["lamp", "fan", "plug"].map { device in
            #"{"type":"action","entity":{"device":"\#(device)"},"deviceType":"WindowCoveringDeviceType","#
                + #""trait":"WindowCovering","command":"upOrOpen"}"#
        }
        return #"{"version":1,"nodes":[{"type":"eventStarter","id":"n1","entity":{"structure":"s1"},"trait":"Time","#
            + #""event":"Scheduled","parameters":{"clockTime":{"hours":8,"minutes":0}}},{"type":"parallel","nodes":["#
            + actions.joined(separator: ",") + "]}]}"
    }()

    private static func time(_ wall: Int64) -> String {
        Date(timeIntervalSince1970: Double(wall) / 1_000).formatted(.iso8601)
    }

    @Test func `all blinds open at eight by the wall clock, through a change of the clock`() throws {
        let zone = try #require(TimeZone(identifier: "America/New_York"))
        // 2026-03-07 05:00 UTC: midnight before the night in which the clock goes on.
        var home = EngineHome(try Graph(json: Self.blinds).nodes, now: 1_772_859_600_000) { $0.isActive = false }
        home.set(EngineHome.structure(zone))
        var definition = try #require(home.definitions["a"])
        definition.isActive = true
        home.define(definition)
        home.pass(3 * 86_400_000)
        let began = home.records { if case .began = $0 { true } else { false } }.map { Self.time($0.at) }
        #expect(began == ["2026-03-07T13:00:00Z", "2026-03-08T12:00:00Z", "2026-03-09T12:00:00Z"])
        #expect(
            home.commands
                == Array(repeating: ["lamp.upOrOpen", "fan.upOrOpen", "plug.upOrOpen"], count: 3).flatMap { $0 })
        #expect(home.ends == [.completed, .completed, .completed])
    }

    /// E5: the chosen lights blink when somebody comes home.
    private static func blinking(_ lights: [String]) -> [GraphNode] {
        let presence = GraphTrait(.structure("s1"), trait: "AreaPresenceState")
        let isOccupied = GraphExpression.operation(
            .equals, [.field("presenceState", of: .reference("n1")), .constant(.text("presenceStateOccupied"))])
        let branches = lights.map { light in
            let toggle = Nodes.command(light, "toggle")
            let pause = GraphNode.delay(.seconds(1))
            return GraphNode.sequential([toggle, pause, toggle, pause, toggle, pause, toggle])
        }
        return [
            .attributeStarter(GraphReader(id: "n1", presence)), Nodes.condition(isOccupied), .parallel(branches),
        ]
    }

    private static func structure(_ state: Google.AreaPresenceStateTrait.PresenceState) -> ObservedStructure {
        EngineHome.structure(traits: [Google.AreaPresenceStateTrait(attributes: .init(presenceState: state))])
    }

    @Test func `several lights blink at the same time, each in its own order`() {
        var home = EngineHome(Self.blinking(["lamp", "fan", "plug"]))
        home.set(Self.structure(.presenceStateVacant))
        home.set(Self.structure(.presenceStateOccupied))
        for second in 0..<4 {
            #expect(home.commands.count == 3 * (second + 1))
            #expect(Set(home.commands.suffix(3)) == ["lamp.toggle", "fan.toggle", "plug.toggle"], "second \(second)")
            home.pass(1_000)
        }
        #expect(home.ends == [.completed] && home.commands.count == 12)
        // A light that does not answer holds up only its own branch.
        home.answer = { $0.action.target.entity.id == "fan" ? nil : .succeeded }
        home.set(Self.structure(.presenceStateVacant))
        home.set(Self.structure(.presenceStateOccupied))
        home.pass(3_000)
        let blinks = home.commands.dropFirst(12)
        #expect(blinks.count { $0 == "lamp.toggle" } == 4 && blinks.count { $0 == "plug.toggle" } == 4)
        #expect(blinks.count { $0 == "fan.toggle" } == 1)
        // Leaving starts nothing but a look.
        #expect(home.ends == [.completed, .conditionFalse, nil])
    }
}
