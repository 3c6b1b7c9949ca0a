import Automation
import AutomationGraph
import HomeTypes
import Testing

/// Starters that wait for the sun where it does not always rise.
@Suite struct EngineSunTests {
    private static func rises(_ parameters: [String: JSONObject.Value] = [:]) -> GraphNode {
        let time = JSONObject.Value.object(["type": .text("sunrise"), "offset": .integer(0)])
        return .eventStarter(
            GraphEventStarter(
                id: "t", Nodes.clock, event: "Scheduled", parameters: ["solarTime": time].merging(parameters) { $1 }))
    }

    /// A place whose sun does not rise from 2026-03-05 to 2026-03-08. The tests begin on 2026-03-02.
    private static let polar = EngineHome.structure(sun: { type, date in
        (20_517...20_520).contains(date.day) || type != .sunrise ? nil : date.day * 86_400 + 6 * 3_600
    })

    private static let day: Int64 = 86_400_000

    @Test func `where the sun does not rise nothing runs, and that is said once`() {
        var home = EngineHome([Self.rises(), Nodes.command("fan")])
        home.set(Self.polar)
        // The home did not know where it was at first.
        #expect(home.sunless == [".nodes[0] 2026-3-2"])
        home.pass(2 * Self.day)
        #expect(home.sent.count == 2 && home.sunless.count == 1)
        home.pass(Self.day)
        #expect(home.sent.count == 2 && home.sunless == [".nodes[0] 2026-3-2", ".nodes[0] 2026-3-5"])
        home.pass(3 * Self.day)
        #expect(home.sent.count == 2 && home.sunless.count == 2)
        home.pass(2 * Self.day)
        #expect(home.sent.count == 4 && home.sunless.count == 2)
    }

    @Test func `a day on which the rule has no moment anyway is not said`() {
        // 2026-03-04 and the days after it: only Wednesdays count, and the next one has a sunrise.
        var home = EngineHome([Self.rises(["daysOfWeek": .list([.text("wednesday")])]), Nodes.command("fan")])
        home.set(Self.polar)
        home.pass(14 * Self.day)
        #expect(home.sent.count == 2 && home.sunless.isEmpty)
        var clock = EngineHome([Nodes.at(8, 0), Nodes.command("fan")])
        clock.set(Self.polar)
        clock.pass(7 * Self.day)
        #expect(clock.sent.count == 7 && clock.sunless.isEmpty)
    }
}
