import Automation
import AutomationGraph
import HomeTypes
import Testing

@Suite struct EngineRestartTests {
    /// A graph with every kind of node and flow.
    static let everything: [GraphNode] = [
        Nodes.starter("lamp"), .suppress(.seconds(30)), Nodes.reader("plug", as: "p"),
        Nodes.condition(Nodes.isOn("n1"), for: .seconds(5)),
        .ifThen(GraphIf(.init(Nodes.isOn("p"), [Nodes.command("plug", "off")]), elseThen: [Nodes.command("plug")])),
        .parallel([
            .sequential([Nodes.command("fan"), .delay(.seconds(10)), Nodes.command("fan", "off")]),
            .sequential([
                Nodes.condition(.operation(.not, [Nodes.isOn("n1")])), Nodes.command("lamp", "toggle"),
            ]),
            .sequential([
                .parallel([Nodes.command("lamp"), .sequential([.delay(.seconds(3)), Nodes.command("plug", "toggle")])]),
                .delay(.seconds(7)),
            ]),
            Nodes.command("slow", deferral: .seconds(20)),
        ]),
        Nodes.condition(Nodes.isOn("n1")), .delay(.seconds(5)), Nodes.command("lamp", "off"),
    ]

    /// A home in which the graph can run, with one device that is offline.
    static func home() -> EngineHome {
        var home = EngineHome(everything)
        home.set("slow", isOn: false, isOnline: false)
        return home
    }

    static func play(_ home: inout EngineHome) {
        home.set("lamp", isOn: true)
        for step in 0..<60 {
            if step == 12 { home.set("slow", isOn: false, isOnline: true) }
            home.pass(1_000)
        }
    }

    /// What each promise says about the record of a home, after everything has ended.
    static func check(_ home: EngineHome, _ context: String) {
        var counts: [String: Int] = [:]
        for request in home.sent { counts["\(request.runID)/\(request.commandID)", default: 0] += 1 }
        #expect(counts.values.allSatisfy { $0 == 1 }, "a command was sent twice \(context)")
        for run in home.runs {
            #expect(run.map(\.number) == Array(0..<run.count), "the record has a gap \(context)")
            var announced: Set<Int> = []
            var known: Set<Int> = []
            for entry in run {
                switch entry.event {
                case .sending(let id): #expect(announced.insert(id).inserted, "announced twice \(context)")
                case .sent(let id, _, _): #expect(known.insert(id).inserted, "two outcomes \(context)")
                case .holding(let until): #expect(until > entry.at, "\(context)")
                default: break
                }
            }
            for request in home.sent where request.runID == run.first?.runID {
                #expect(announced.contains(request.commandID), "sent without a record \(context)")
            }
            // A delay ends at its original time: nothing of its strand is earlier, and nothing much later.
            for (number, entry) in run.enumerated() {
                guard case .delay(let until) = entry.event,
                    let next = run[(number + 1)...].first(where: { $0.strand == entry.strand && !$0.isTrigger }),
                    next.event != .ended(.stopped)
                else { continue }
                #expect(next.at >= until, "a delay was cut short \(context)")
            }
        }
        #expect(!home.ends.contains(nil), "a run did not end \(context)")
    }

    @Test func `a run with every kind of node goes on after a restart at each of its effects`() {
        var whole = Self.home()
        Self.play(&whole)
        #expect(whole.ends == [.completed])
        let wanted = Set(whole.commands)
        #expect(wanted.count == 7)
        var count = 0
        while count < 300 {
            var home = Self.home()
            home.effectsLeft = count
            Self.play(&home)
            guard home.isDead else { break }
            home.restart()
            home.pass(80_000)
            Self.check(home, "after \(count) effects")
            // Nothing that the run asks for is lost, except the command whose outcome nobody knows.
            if home.runs.count == 1 {
                let unknown = home.records { if case .sent(_, .unknown, _) = $0 { true } else { false } }.count
                #expect(Set(home.commands).isSubset(of: wanted), "after \(count) effects")
                #expect(home.sent.count + unknown >= whole.sent.count, "after \(count) effects: \(home.commands)")
                #expect(home.ends == [.completed], "after \(count) effects")
            }
            count += 1
        }
        #expect(count > 40 && count < 300)
    }

    @Test func `an action that waits for a device longer than another one gets its command`() {
        var home = EngineHome([
            Nodes.starter("lamp"),
            .parallel([
                Nodes.command("slow", deferral: .seconds(60)), Nodes.command("slow", "off", deferral: .seconds(600)),
            ]),
        ])
        home.set("slow", isOn: false, isOnline: false)
        home.set("lamp", isOn: true)
        home.pass(300_000)
        #expect(home.commands.isEmpty)
        home.set("slow", isOn: false, isOnline: true)
        home.pass(1_000)
        #expect(home.commands == ["slow.off"])
        // The other action has given up.
        #expect(home.ends == [.failed])
    }

    @Test func `five hundred kills at seeded moments break no promise`() {
        var seed: UInt64 = 12
        func random(_ range: Range<Int>) -> Int {
            seed = seed &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return range.lowerBound + Int(seed >> 33) % range.count
        }
        var unknown = 0
        var runs = 0
        for round in 0..<50 {
            var home = Self.home()
            home.define(
                AutomationDefinition(
                    id: "b", structureID: "s1", owner: "app",
                    graph: Graph([Nodes.cron("* * * * *"), Nodes.command("fan")])))
            var isOn = false
            for _ in 0..<10 {
                home.effectsLeft = random(0..<25)
                for _ in 0..<12 {
                    isOn.toggle()
                    home.set("lamp", isOn: isOn)
                    home.pass(Int64(random(1..<9_000)))
                }
                home.restart()
            }
            home.set("slow", isOn: false)
            home.pass(120_000)
            home.report(.stop(automationID: "a", principal: "anna"))
            Self.check(home, "in round \(round)")
            var moments: Set<Int> = []
            for run in home.runs {
                guard case .began(let trigger, _, _) = run.first?.event, let moment = trigger.moment,
                    case .ended(let end) = run.last?.event, end != .missed
                else { continue }
                #expect(moments.insert(moment).inserted, "a minute ran twice in round \(round)")
            }
            runs += home.runs.count
            unknown += home.records { if case .sent(_, .unknown, _) = $0 { true } else { false } }.count
        }
        #expect(runs > 500 && unknown > 10)
    }

    @Test func `a delay ends at its original time, whatever the clock does meanwhile`() {
        for (away, step, rest) in [
            (20_000, 0, 40_000), (100_000, 0, 0), (20_000, -3_600_000, 60_000), (20_000, 3_600_000, 0),
        ] {
            var home = EngineHome([Nodes.starter("lamp"), .delay(.seconds(60)), Nodes.command("fan")])
            home.set("lamp", isOn: true)
            home.now = EngineTime(uptime: 5_000, wall: home.now.wall + Int64(away + step))
            home.restart()
            home.pass(Int64(max(0, rest - 1)))
            #expect(home.sent.isEmpty == (rest > 0), "away \(away), step \(step)")
            home.pass(1)
            #expect(home.commands == ["fan.on"], "away \(away), step \(step)")
        }
        var home = EngineHome([Nodes.starter("lamp"), .delay(.seconds(60)), Nodes.command("fan")])
        home.set("lamp", isOn: true)
        home.now.wall += 365 * 86_400_000
        home.pass(59_999)
        #expect(home.sent.isEmpty)
        home.pass(1)
        #expect(home.commands == ["fan.on"])
    }

    @Test func `the duration of a condition begins again, and with values that come later`() {
        var home = EngineHome([
            Nodes.starter("lamp"), Nodes.condition(Nodes.isOn("n1"), for: .seconds(60)), Nodes.command("fan"),
        ])
        home.set("lamp", isOn: true)
        home.pass(50_000)
        home.restart()
        home.pass(59_999)
        #expect(home.sent.isEmpty)
        home.pass(1)
        #expect(home.commands == ["fan.on"])

        home.set("lamp", isOn: false)
        home.set("lamp", isOn: true)
        home.devices["lamp"] = nil
        home.restart()
        home.pass(30_000)
        home.set("lamp", isOn: true)
        home.pass(59_999)
        #expect(home.sent.count == 1)
        home.pass(1)
        #expect(home.sent.count == 2)

        home.set("lamp", isOn: false)
        home.set("lamp", isOn: true)
        home.devices["lamp"] = EngineHome.device("lamp", isOn: false)
        home.restart()
        #expect(home.ends.last == .conditionFalse)
    }

    @Test func `a condition whose device does not come back ends after its duration, also one that reads the time`() {
        var home = EngineHome([
            Nodes.starter("lamp"), .stateReader(GraphReader(id: "time", Nodes.clock)),
            Nodes.condition(
                .operation(
                    .and,
                    [
                        Nodes.isOn("n1"),
                        .operation(
                            .equals, [.field("dayOfWeek", of: .reference("time")), .constant(.text("monday"))]),
                    ]),
                for: .seconds(100)),
            Nodes.command("fan"),
        ])
        home.set("lamp", isOn: true)
        home.devices["lamp"] = nil
        var late = home
        home.restart()
        home.pass(99_999)
        #expect(home.ends == [nil])
        home.pass(1)
        #expect(home.ends == [.conditionFalse])

        late.restart()
        late.pass(90_000)
        late.set("lamp", isOn: true)
        late.pass(99_999)
        #expect(late.sent.isEmpty)
        late.pass(1)
        #expect(late.commands == ["fan.on"])
    }

    @Test func `a suppression still applies, and a command of unknown outcome is not repeated`() {
        var home = EngineHome([Nodes.starter("lamp"), .suppress(.seconds(60)), Nodes.command("fan")])
        home.answer = { _ in nil }
        home.set("lamp", isOn: true)
        home.pass(5_000)
        home.restart()
        #expect(home.commands == ["fan.on"])
        #expect(home.entries.map(\.event).contains(.sent(commandID: 0, .unknown, milliseconds: 0)))
        #expect(home.ends == [.completed])
        home.set("lamp", isOn: false)
        #expect(home.ends == [.completed, .suppressed])
        home.pass(55_001)
        home.set("lamp", isOn: true)
        #expect(home.commands == ["fan.on", "fan.on"])
    }

    @Test func `a run whose graph was replaced or deleted while the gateway was down ends`() {
        var home = EngineHome([Nodes.starter("lamp"), .delay(.seconds(60)), Nodes.command("fan")])
        home.set("lamp", isOn: true)
        var other = home
        home.definitions["a"]?.graph = Graph([Nodes.starter("lamp"), .delay(.seconds(60)), Nodes.command("plug")])
        home.restart()
        #expect(home.ends == [.interrupted])
        home.pass(60_000)
        #expect(home.sent.isEmpty)
        other.definitions = [:]
        other.restart()
        #expect(other.ends == [.stopped])
    }

    @Test func `a record that does not fit ends its run`() {
        var home = EngineHome([Nodes.starter("lamp"), .delay(.seconds(60)), Nodes.command("fan")])
        home.set("lamp", isOn: true)
        let entries = home.entries
        let definition = AutomationDefinition(
            id: "a", structureID: "s1", owner: "app", graph: home.definitions["a"]?.graph ?? Graph())
        var seed: UInt64 = 3
        func random(_ count: Int) -> Int {
            seed = seed &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Int(seed >> 33) % count
        }
        let events: [RunEntry.Event] = [
            .strandEnded, .forked(strands: [1, 2]), .forked(strands: [.max]), .chose("x"), .holding(until: .min),
            .delay(until: .max), .suppressed(until: .max), .sending(commandID: 9), .deferred(commandID: 1, until: .min),
            .sent(commandID: 3, .unknown, milliseconds: -1), .condition(holds: true, operands: [:], missing: nil),
        ]
        let paths = ["", "automationGraph.nodes[1]", "automationGraph.nodes[2]", "automationGraph.nodes[0]", "x"]
        for _ in 0..<2_000 {
            var record = entries
            for _ in 0...random(3) {
                record.append(
                    RunEntry(
                        automationID: "a", runID: "r1", number: record.count, at: Int64.random(in: 0...100),
                        strand: random(3), path: paths[random(paths.count)], event: events[random(events.count)]))
            }
            var engine = Engine { "new" }
            engine.restore([definition], states: [:], openRuns: [record], at: home.now)
            engine.handle(.clock, at: home.now)
            var count = 0
            while engine.pollEffect() != nil, count < 100 { count += 1 }
            #expect(count < 100)
        }
    }
}

extension RunEntry {
    fileprivate var isTrigger: Bool { if case .triggeredAgain = event { true } else { false } }
}
