import Automation
import AutomationGraph
import Foundation
import HomeTypes
import Testing

@Suite struct EngineScheduleTests {
    private static func wall(_ text: String) throws -> Int64 {
        Int64(try Date(text, strategy: .iso8601).timeIntervalSince1970) * 1000
    }

    /// The moments that ran, as ISO 8601 has them.
    private static func moments(_ home: EngineHome, _ wanted: RunEnd = .completed) -> [String] {
        home.runs.compactMap { run in
            guard case .began(let trigger, _, _) = run.first?.event, case .ended(wanted) = run.last?.event,
                let moment = trigger.moment
            else { return nil }
            return Date(timeIntervalSince1970: Double(moment)).formatted(.iso8601)
        }
    }

    @Test(arguments: ["2026-01-01T00:00:00Z", "2028-01-01T00:00:00Z"])
    func `a schedule runs once on each day of a year, leap days and both changes of the clock among them`(
        _ start: String
    ) throws {
        let zone = try #require(TimeZone(identifier: "Europe/Berlin"))
        var limits = EngineLimits()
        limits.clockLook = 86_400_000
        var home = EngineHome(limits: limits, now: try Self.wall(start))
        home.set(EngineHome.structure(zone))
        home.define(
            AutomationDefinition(
                id: "b", structureID: "s1", owner: "app", graph: Graph([Nodes.at(2, 30), Nodes.command("fan")])))
        home.pass(365 * 86_400_000)
        let moments = Self.moments(home)
        #expect(moments.count == 365 && Set(moments).count == 365)
        #expect(home.sent.count == 365)
        let isLeap = start.hasPrefix("2028")
        #expect(moments.contains(isLeap ? "2028-02-29T01:30:00Z" : "2026-02-28T01:30:00Z"))
        // Left out on the last Sunday of March, and twice on that of October.
        #expect(moments.contains(isLeap ? "2028-03-26T01:00:00Z" : "2026-03-29T01:00:00Z"))
        #expect(moments.contains(isLeap ? "2028-10-29T00:30:00Z" : "2026-10-25T00:30:00Z"))
        let late = home.records { if case .began(_, _, isLate: true) = $0 { true } else { false } }
        #expect(late.isEmpty)
    }

    @Test func `the sun starts a run where it rises`() {
        let rises = GraphNode.eventStarter(
            GraphEventStarter(
                id: "t", Nodes.clock, event: "Scheduled",
                parameters: ["solarTime": .object(["type": .text("sunrise"), "offset": .integer(-600)])]))
        var home = EngineHome([rises, Nodes.command("fan")])
        home.pass(3_600_000)
        #expect(home.runs.isEmpty)
        home.set(EngineHome.structure(sun: { type, date in type == .sunrise ? date.day * 86_400 + 6 * 3_600 : nil }))
        home.pass(2 * 86_400_000)
        #expect(Self.moments(home) == ["2026-03-03T05:50:00Z", "2026-03-04T05:50:00Z"])
    }

    @Test func `what was missed runs late within the grace, else it is written down, and no burst follows`() throws {
        for (away, runs, missed) in [(14 * 60, 1, 0), (16 * 60, 0, 1)] {
            var home = EngineHome([Nodes.at(13, 0), Nodes.command("fan")])
            home.pass(3_000_000)
            home.now = EngineTime(uptime: 7, wall: try Self.wall("2026-03-02T13:00:00Z") + Int64(away) * 1000)
            home.restart()
            #expect(home.sent.count == runs)
            #expect(Self.moments(home, .missed).count == missed)
            let late = home.records { if case .began(_, _, isLate: true) = $0 { true } else { false } }
            #expect(late.count == 1)
            home.restart()
            home.pass(1_000)
            #expect(home.runs.count == 1)
        }
        var often = EngineHome([Nodes.cron("* * * * *"), Nodes.command("fan")])
        often.now = EngineTime(uptime: 7, wall: often.now.wall + 3 * 86_400_000 + 1)
        often.restart()
        #expect(often.ends == [.missed, .completed])
        guard case .began(let trigger, _, _) = often.entries.first?.event else {
            Issue.record("nothing was missed")
            return
        }
        #expect(trigger.values["missedCount"] == .integer(3 * 1_440 - 1))
    }

    @Test(arguments: [(60, false), (61, true)])
    func `a run that begins more than a minute after its moment is called late`(seconds: Int64, isLate: Bool) throws {
        var home = EngineHome([Nodes.at(13, 0), Nodes.command("fan")])
        home.now.wall = try Self.wall("2026-03-02T13:00:00Z") + seconds * 1000
        home.restart()
        #expect(Self.moments(home) == ["2026-03-02T13:00:00Z"])
        let late = home.records { if case .began(_, _, isLate: true) = $0 { true } else { false } }
        #expect(late.count == (isLate ? 1 : 0))
    }

    /// The clock of a machine without a battery may start far in the future, before it is set.
    @Test(arguments: [(2 * 86_400, 0), (2 * 86_400 + 1, 60)])
    func `a clock that is set back by more than two days was wrong before`(seconds: Int64, runs: Int) throws {
        var home = EngineHome([Nodes.cron("* * * * *"), Nodes.command("fan")])
        home.pass(3_600_000)
        #expect(Self.moments(home).last == "2026-03-02T13:00:00Z")
        home.now.wall -= seconds * 1000
        home.restart()
        home.pass(3_600_000)
        #expect(Self.moments(home).count == 60 + runs)
    }

    @Test func `no kill makes a schedule run twice at one moment`() {
        var kills = 0
        while kills < 100 {
            var home = EngineHome([Nodes.at(13, 0), .delay(.seconds(600)), Nodes.command("fan")])
            home.effectsLeft = kills
            home.pass(3_900_000)
            guard home.isDead else { break }
            home.restart()
            home.pass(3_600_000)
            #expect(Self.moments(home) == ["2026-03-02T13:00:00Z"], "after \(kills) effects")
            #expect(home.sent.count == 1, "after \(kills) effects")
            kills += 1
        }
        #expect((2..<100).contains(kills))
    }

    @Test func `a clock that is set runs no minute twice, also with a restart`() throws {
        for restarts in [false, true] {
            var home = EngineHome([Nodes.cron("* * * * *"), Nodes.command("fan")])
            home.pass(3_600_000)
            #expect(Self.moments(home).count == 60)
            home.now.wall -= 1_800_000
            if restarts { home.restart() } else { home.report(.clock) }
            home.pass(3_600_000)
            let moments = Self.moments(home)
            #expect(Set(moments).count == moments.count)
            #expect(moments.count == 90)
            home.now.wall += 365 * 86_400_000
            home.pass(60_000)
            #expect(Self.moments(home).count <= 93)
            home.now.wall -= 365 * 86_400_000
            home.pass(3_600_000)
            #expect(Self.moments(home).count >= 90 + 59)
        }
    }

    @Test func `a schedule of an automation that is off does not count, nor what came before it was switched on`() {
        var home = EngineHome([Nodes.at(13, 0), Nodes.command("fan")]) { $0.isActive = false }
        home.pass(86_400_000)
        #expect(home.runs.isEmpty)
        home.definitions["a"]?.isActive = true
        if let definition = home.definitions["a"] { home.define(definition) }
        home.pass(1_000)
        #expect(home.runs.isEmpty)
        home.pass(86_400_000)
        #expect(home.ends == [.completed])
    }

    @Test func `an automation that was not run for a while keeps its count, and nothing that was due meanwhile runs`()
        throws
    {
        var home = EngineHome([Nodes.at(12, 10), Nodes.command("fan")])
        home.pass(15 * 60_000)
        let definition = try #require(home.definitions["a"])
        home.report(.remove(automationID: "a"))
        // Its moment of the next day has just passed, within its grace.
        home.pass(86_400_000)
        home.report(.define(definition, kept: home.states["a"]))
        home.pass(60_000)
        #expect(home.commands == ["fan.on"])
        home.pass(86_400_000)
        #expect(home.commands == ["fan.on", "fan.on"])
        #expect(home.states["a"]?.executionCount == 2)
        // An explanation of why it did not run needs to know since when it can.
        #expect(home.changes.map(\.kind) == [.activated, .activated])
    }

    @Test func `a clock that is set back after a restart runs nothing again`() {
        var home = EngineHome([Nodes.cron("* * * * *"), Nodes.command("fan")])
        home.pass(10 * 60_000)
        #expect(home.sent.count == 10)
        home.restart()
        home.pass(2 * 60_000)
        #expect(home.sent.count == 12)
        // Half an hour back: what was decided before the restart and after it does not come again.
        home.now.wall -= 30 * 60_000
        home.pass(30 * 60_000)
        #expect(home.sent.count == 12)
        home.pass(3 * 60_000)
        #expect(home.sent.count == 15)
        #expect(Set(Self.moments(home)).count == 15)
    }
}
