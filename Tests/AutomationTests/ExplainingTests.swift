import Automation
import AutomationGraph
import HomeTypes
import Testing

@Suite struct ExplainingTests {
    private static let graph: [GraphNode] = [
        Nodes.starter("lamp"), Nodes.condition(Nodes.isOn("n1")), Nodes.command("fan"),
    ]

    private static func name(_ id: String) -> String { id.prefix(1).uppercased() + id.dropFirst() }

    private static func explain(_ home: EngineHome, _ at: Int64) -> String {
        guard let definition = home.definitions["a"] else { return "" }
        return Explanation.text(at: at, definition: definition, runs: home.runs, names: name)
    }

    @Test func `an explanation says why an automation ran, and what became of its commands`() {
        var home = EngineHome(Self.graph) { $0.name = "Air" }
        home.answer = { _ in .failed(code: "unavailable", message: "it is offline") }
        home.set("lamp", isOn: true)
        #expect(
            Self.explain(home, home.now.wall)
                == "Air began at 2026-03-02 12:00:00 UTC because onOff of Lamp became true. The condition holds "
                + "(n1.onOff was true). The command on to Fan failed (unavailable): it is offline. It ended with a "
                + "failure: a command failed, or the run took too long.")
    }

    @Test func `an explanation says why an automation did not run`() {
        var home = EngineHome(Self.graph) { $0.name = "Air" }
        #expect(
            Self.explain(home, home.now.wall)
                == "Air did not run at 2026-03-02 12:00:00 UTC: none of its starters fired. There is no record of an "
                + "earlier run.")
        home.set("lamp", isOn: true)
        home.set("lamp", isOn: false)
        #expect(Self.explain(home, home.now.wall).contains("It ended because a condition did not hold."))
        home.definitions["a"]?.isActive = false
        home.pass(3_600_000)
        let later = Self.explain(home, home.now.wall)
        #expect(
            later.hasPrefix("Air did not run at 2026-03-02 13:00:00 UTC: none of its starters fired. It is switched"))
        #expect(later.contains("Before that, at 2026-03-02 12:00:00 UTC: Air began"))
    }

    @Test func `every end, entry and trigger has words`() {
        for end in RunEnd.allCases { #expect(!RunText.text(of: end).isEmpty) }
        var home = EngineRestartTests.home()
        EngineRestartTests.play(&home)
        let definition = home.definitions["a"]
        for entry in home.entries {
            let text = RunText.text(of: entry, definition: definition, names: Self.name)
            #expect(text.hasSuffix(".") && text.first?.isUppercase == true, "\(text)")
        }
        let texts = home.entries.map { RunText.text(of: $0, definition: definition, names: Self.name) }
        #expect(
            texts.contains("The device is offline. The command on to Slow waits for it until 2026-03-02 12:00:25 UTC."))
        #expect(
            RunText.text(of: Trigger(.manual, path: "", principal: "anna"), names: Self.name) == "because Anna ran it")
        #expect(
            RunText.text(of: Trigger(.schedule, path: "", moment: 0), names: Self.name)
                == "because its schedule said so at 1970-01-01 00:00:00 UTC")
    }

    @Test func `a simulation says when an automation would have run and what it would have sent`() {
        let start = EngineHome.start
        let definition = AutomationDefinition(
            id: "draft", structureID: "s1", owner: "app", isActive: false,
            graph: Graph([
                .select([Nodes.starter("lamp"), Nodes.at(13, 0)]), .delay(.seconds(10)), Nodes.command("fan"),
            ]))
        let runs = Simulation.runs(
            of: definition,
            present: [.structure(EngineHome.structure()), .device(EngineHome.device("lamp", isOn: false))],
            happenings: [
                .init(at: start + 1_000, .device(EngineHome.device("lamp", isOn: false))),
                .init(at: start + 60_000, .device(EngineHome.device("lamp", isOn: true))),
            ], from: start, to: start + 2 * 86_400_000)
        #expect(runs.map(\.at) == [start + 60_000, start + 3_600_000, start + 90_000_000])
        #expect(runs.map(\.end) == [.completed, .completed, .completed])
        #expect(runs.first?.commands.map(\.at) == [start + 70_000])
        #expect(runs.map(\.trigger.kind) == [.attribute, .schedule, .schedule])
    }

    @Test func `a simulation of a device that toggles without end is bounded`() {
        let start = EngineHome.start
        let definition = AutomationDefinition(
            id: "draft", structureID: "s1", owner: "app", graph: Graph([Nodes.starter("lamp"), Nodes.command("fan")]))
        let happenings = (0..<5_000).map { number in
            Simulation.Happening(
                at: start + Int64(number) * 1_000, .device(EngineHome.device("lamp", isOn: number % 2 == 0)))
        }
        let runs = Simulation.runs(
            of: definition, present: [], happenings: happenings, from: start, to: start + 86_400_000)
        #expect(runs.count == Simulation.runLimit)
    }
}
