import Automation
import AutomationGraph
import Foundation
import HomeTypes
import Testing

@Suite struct ExplainingTests {
    private static let graph: [GraphNode] = [
        Nodes.starter("lamp"), Nodes.condition(Nodes.isOn("n1")), Nodes.command("fan"),
    ]

    private static let words = RunText(clock: WallClock(.gmt)) { $0.prefix(1).uppercased() + $0.dropFirst() }

    private static func explain(
        _ home: EngineHome, _ at: Int64, createdAt: Int64? = nil, _ words: RunText = words
    ) -> String {
        guard let definition = home.definitions["a"] else { return "" }
        let explanation = Explanation(
            of: definition, createdAt: createdAt, runs: home.runs, changes: home.changes, words: words)
        return explanation.text(at: at)
    }

    @Test func `an explanation says why an automation ran, and what became of its commands`() {
        var home = EngineHome(Self.graph) { $0.name = "Air" }
        home.answer = { _ in .failed(code: "unavailable", message: "it is offline") }
        home.set("lamp", isOn: true)
        #expect(
            Self.explain(home, home.now.wall)
                == "Air began at 2026-03-02 12:00:00 because onOff of Lamp became true. The condition holds "
                + "(n1.onOff was true). The command on to Fan failed (unavailable): it is offline. It ended with a "
                + "failure: a command failed, or the run took too long.")
    }

    @Test func `an explanation says why an automation did not run`() {
        var home = EngineHome(Self.graph) { $0.name = "Air" }
        #expect(
            Self.explain(home, home.now.wall)
                == "Air did not run at 2026-03-02 12:00:00: none of its starters fired. There is no record of an "
                + "earlier run.")
        home.set("lamp", isOn: true)
        home.set("lamp", isOn: false)
        #expect(Self.explain(home, home.now.wall).contains("It ended because a condition did not hold."))
        home.pass(3_600_000)
        let later = Self.explain(home, home.now.wall)
        #expect(later.hasPrefix("Air did not run at 2026-03-02 13:00:00: none of its starters fired. Before"))
        #expect(later.contains("Before that, at 2026-03-02 12:00:00: Air began"))
    }

    @Test func `an explanation says what the automation was at that moment, and not what it is now`() throws {
        var home = EngineHome(Self.graph) { $0.name = "Air" }
        let start = home.now.wall
        func at(_ minutes: Int64) -> String { Self.explain(home, start + minutes * 60_000, createdAt: start - 60_000) }
        var definition = try #require(home.definitions["a"])
        func passTo(_ minutes: Int64) { home.pass(start + minutes * 60_000 - home.now.wall) }
        passTo(10)
        definition.isActive = false
        home.define(definition)
        passTo(20)
        definition.isActive = true
        home.define(definition)
        passTo(30)
        for number in 0..<21 { home.set("lamp", isOn: number % 2 == 0) }
        passTo(40)
        home.report(.release(automationID: "a", principal: "anna"))
        passTo(60)
        #expect(at(-2) == "Air did not run at 2026-03-02 11:58:00: it was created at 2026-03-02 11:59:00.")
        #expect(at(5).hasPrefix("Air did not run at 2026-03-02 12:05:00: none of its starters fired."))
        #expect(
            at(15).hasPrefix(
                "Air did not run at 2026-03-02 12:15:00. It was switched off since 2026-03-02 12:10:00, so its "
                    + "starters did not start it."))
        #expect(at(25).hasPrefix("Air did not run at 2026-03-02 12:25:00: none of its starters fired."))
        #expect(
            at(35).hasPrefix(
                "Air did not run at 2026-03-02 12:35:00. It was paused since 2026-03-02 12:30:00, because it had "
                    + "started too often."))
        #expect(at(50).hasPrefix("Air did not run at 2026-03-02 12:50:00: none of its starters fired."))
        // A restart keeps what was written, and makes nothing up.
        home.restart()
        #expect(at(15).contains("It was switched off since") && at(50).contains("none of its starters fired"))
        #expect(home.changes.map(\.kind) == [.activated, .deactivated, .activated, .paused, .released])
        #expect(home.changes.last?.principal == "anna")
    }

    @Test func `an explanation shows the times of the home's clock`() throws {
        var home = EngineHome(Self.graph) { $0.name = "Air" }
        home.set("lamp", isOn: true)
        let kathmandu = WallClock(try #require(TimeZone(identifier: "Asia/Kathmandu")))
        let text = Self.explain(home, home.now.wall, RunText(clock: kathmandu) { $0 })
        #expect(text.hasPrefix("Air began at 2026-03-02 17:45:00 because"))
    }

    @Test func `a record says what was sent after the automation has got another graph`() throws {
        var home = EngineHome(Self.graph) { $0.name = "Air" }
        home.set("lamp", isOn: true)
        var definition = try #require(home.definitions["a"])
        definition.graph = Graph([
            Nodes.starter("lamp"), Nodes.condition(Nodes.isOn("n1")), Nodes.command("plug", "off"),
        ])
        home.define(definition)
        #expect(Self.explain(home, home.now.wall).contains("The command on to Fan succeeded"))
        let run = try #require(home.runs.first)
        #expect(run.first?.graph != nil && run.first?.graph != Engine.hash(of: definition.graph))
        let actions = SentActions(run)
        let sent = try #require(run.first { if case .sent = $0.event { true } else { false } })
        #expect(actions.action(of: sent)?.target.entity == .device("fan"))
    }

    @Test func `a record says which command failed without being sent, or waited`() throws {
        var home = EngineHome([
            Nodes.starter("lamp"), Nodes.command("fan"), Nodes.command("plug", "off", deferral: .seconds(60)),
        ])
        home.set("fan", isOn: false, isOnline: false)
        home.set("plug", isOn: false, isOnline: false)
        home.set("lamp", isOn: true)
        home.pass(60_000)
        let run = try #require(home.runs.first)
        let texts = run.map { Self.words.text(of: $0, SentActions(run)) }
        #expect(texts.contains { $0.hasPrefix("The command on to Fan failed (unavailable)") })
        #expect(texts.contains { $0.contains("The command off to Plug waits for it until") })
        #expect(texts.contains { $0.hasPrefix("The command off to Plug failed (unavailable)") })
    }

    @Test func `the record of an earlier version is read, and what it lacks is left out`() throws {
        let old =
            #"{"at":1,"automationID":"a","event":{"sending":{"commandID":0}},"number":1,"path":"p","runID":"r","strand":0}"#
        let entry = try JSONDecoder().decode(RunEntry.self, from: Data(old.utf8))
        #expect(entry.action == nil && Self.words.text(of: entry, SentActions([entry])) == "Sends a command.")
        var home = EngineHome([Nodes.starter("lamp"), Nodes.command("plug", deferral: .milliseconds(1_500))])
        home.set("plug", isOn: false, isOnline: false)
        home.set("lamp", isOn: true)
        for entry in home.entries {
            #expect(try JSONDecoder().decode(RunEntry.self, from: JSONEncoder().encode(entry)) == entry)
        }
    }

    @Test func `every end, entry and trigger has words`() {
        for end in RunEnd.allCases { #expect(!RunText.text(of: end).isEmpty) }
        var home = EngineRestartTests.home()
        EngineRestartTests.play(&home)
        let actions = SentActions(home.entries)
        for entry in home.entries {
            let text = Self.words.text(of: entry, actions)
            #expect(text.hasSuffix(".") && text.first?.isUppercase == true, "\(text)")
        }
        let texts = home.entries.map { Self.words.text(of: $0, actions) }
        #expect(
            texts.contains("The device is offline. The command on to Slow waits for it until 2026-03-02 12:00:25."))
        #expect(Self.words.text(of: Trigger(.manual, path: "", principal: "anna")) == "because Anna ran it")
        #expect(
            Self.words.text(of: Trigger(.schedule, path: "", moment: 0))
                == "because its schedule said so at 1970-01-01 00:00:00")
    }

    @Test func `a simulation says when an automation would have run and what it would have sent`() {
        let start = EngineHome.start
        let definition = AutomationDefinition(
            id: "draft", structureID: "s1", owner: "app", isActive: false,
            graph: Graph([
                .select([Nodes.starter("lamp"), Nodes.at(13, 0)]), .delay(.seconds(10)), Nodes.command("fan"),
            ]))
        let outcome = Simulation.outcome(
            of: definition,
            present: [.structure(EngineHome.structure()), .device(EngineHome.device("lamp", isOn: false))],
            happenings: [
                .init(at: start + 1_000, .device(EngineHome.device("lamp", isOn: false))),
                .init(at: start + 60_000, .device(EngineHome.device("lamp", isOn: true))),
            ], from: start, to: start + 2 * 86_400_000)
        let runs = outcome.runs
        #expect(!outcome.isCut)
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
        let outcome = Simulation.outcome(
            of: definition, present: [], happenings: happenings, from: start, to: start + 86_400_000)
        #expect(outcome.runs.count == Simulation.runLimit && outcome.isCut)
    }

    @Test(arguments: [(1, false), (50, true)])
    func `a simulation of many schedules is cut, although they start one run`(count: Int, isCut: Bool) {
        let start = EngineHome.start
        // The run lasts longer than the simulation, so the number of runs does not limit it.
        let definition = AutomationDefinition(
            id: "draft", structureID: "s1", owner: "app",
            graph: Graph([
                .select((0..<count).map { _ in Nodes.cron("* * * * *") }), .delay(.seconds(86_400)),
                Nodes.command("fan"),
            ]))
        let outcome = Simulation.outcome(
            of: definition, present: [.structure(EngineHome.structure())], happenings: [], from: start,
            to: start + 600_000, lookLimit: 250)
        #expect(outcome.runs.count == 1 && outcome.isCut == isCut)
    }
}
