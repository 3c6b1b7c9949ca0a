import Automation
import AutomationGraph
import HomeHub
import HomeTypes
import Testing

@testable import Gateway

/// Automations on a home with virtual lamps, in virtual time.
@Suite(.timeLimit(.minutes(10))) struct AutomationServiceTests {
    /// When the sensor changes: the nodes.
    func definition(owner: String = "owner", _ nodes: [GraphNode]) -> AutomationDefinition {
        let starter = GraphNode.attributeStarter(
            GraphReader(id: "n1", GraphTrait(.device("sensor"), deviceType: "OnOffLightDeviceType", trait: "OnOff")))
        return AutomationDefinition(id: "a1", structureID: "s1", owner: owner, graph: Graph([starter] + nodes))
    }

    func action(_ device: String, _ command: String) -> GraphNode {
        .action(
            GraphAction(
                GraphTrait(.device(device), deviceType: "OnOffLightDeviceType", trait: "OnOff"),
                .command(command, parameters: [:])))
    }

    func commands(_ run: RunRecord) -> [Automation.CommandOutcome] {
        (run.entries ?? []).compactMap { if case .sent(_, let outcome, _) = $0.event { outcome } else { nil } }
    }

    @Test func `a change of one device sends a command to another, and the run is kept`() async throws {
        let rig = try await AutomationServiceRig()
        let service = rig.makeService()
        await service.define(definition([action("lamp", "on")]))
        await service.start()
        try await rig.turn("sensor", "on")
        let run = try await rig.ended(service)
        #expect(run.end == .completed && run.trigger.kind == .attribute)
        #expect(commands(run) == [.succeeded])
        #expect(try await rig.isOn("lamp") == true)
        #expect(try await service.runs(of: "a1").runs.map(\.id) == [run.id])
        await service.stop()
    }

    @Test func `the owner hears that an automation is paused, and that this is over when it is deleted`() async throws {
        let rig = try await AutomationServiceRig()
        let service = rig.makeService()
        await service.define(definition(owner: rig.appID, []))
        await service.start()
        var events = try await rig.hub.changes(
            principal: rig.appID, access: Access([.init([.automate], structureID: "s1")])
        ).makeAsyncIterator()
        func next() async -> HomeAlarm? {
            while let event = await events.next() { if case .alarm(let alarm)? = event.change { return alarm } }
            return nil
        }
        for count in 0..<40 { try await rig.turn("sensor", count.isMultiple(of: 2) ? "on" : "off") }
        let raised = await next()
        #expect(raised?.state == .raised && raised?.automationID == "a1" && raised?.owner == rig.appID)
        await service.undefine("a1")
        let cleared = await next()
        #expect(cleared?.state == .cleared && cleared?.automationID == "a1")
        await service.stop()
    }

    @Test func `a person who runs an automation too often gets a refusal`() async throws {
        let rig = try await AutomationServiceRig()
        let service = rig.makeService()
        await service.define(definition([.condition(GraphCondition(.constant(.bool(false)))), action("lamp", "on")]))
        await service.start()
        for _ in 0..<20 { try await service.execute("a1", principal: "owner") }
        let error = await #expect(throws: HomeError.self) { try await service.execute("a1", principal: "owner") }
        #expect(error?.code == .resourceExhausted, "\(String(describing: error))")
        rig.pass(milliseconds: 10_000)
        try await service.execute("a1", principal: "owner")
        await service.stop()
    }

    @Test func `nothing is left of a deleted automation`() async throws {
        let rig = try await AutomationServiceRig()
        let service = rig.makeService()
        await service.define(definition([action("lamp", "on")]))
        await service.start()
        try await rig.turn("sensor", "on")
        _ = try await rig.ended(service)
        await service.adopt([.removed(id: "a1")])
        await service.stop()
        #expect(rig.store.rows(after: 0, limit: 99).isEmpty && rig.store.changes(of: "a1").isEmpty)
        #expect(try rig.store.states().isEmpty)
    }

    @Test func `an automation that is only not understood any more keeps its history`() async throws {
        let rig = try await AutomationServiceRig()
        let service = rig.makeService()
        await service.define(definition([action("lamp", "on")]))
        await service.start()
        try await rig.turn("sensor", "on")
        _ = try await rig.ended(service)
        await service.adopt([.suspended(id: "a1")])
        #expect(try await service.runs(of: "a1").runs.count == 1)
        await service.stop()
    }

    @Test func `an automation that was not understood for a while goes on with its count`() async throws {
        let rig = try await AutomationServiceRig()
        var once = definition([action("lamp", "on")])
        once.maxExecutionCount = 1
        let first = rig.makeService()
        await first.define(once)
        await first.start()
        try await first.execute("a1", principal: "owner")
        _ = try await rig.ended(first)
        await first.adopt([.suspended(id: "a1")])
        await first.adopt([.defined(once)])
        let error = await #expect(throws: HomeError.self) { try await first.execute("a1", principal: "owner") }
        #expect(error?.code == .failedPrecondition && error?.message.contains("1 time") == true)
        await first.adopt([.suspended(id: "a1")])
        await first.stop()

        // The next start does not understand it either, until somebody changes it.
        let second = rig.makeService()
        await second.start()
        await second.adopt([.defined(once)])
        let state = await second.state(of: "a1")
        #expect(state.executionCount == 1)
        await second.adopt([.removed(id: "a1")])
        await second.stop()
        let states = try rig.store.states()
        #expect(states.isEmpty)
    }

    @Test func `an automation that has run as often as it may cannot be run by hand`() async throws {
        let rig = try await AutomationServiceRig()
        let service = rig.makeService()
        var once = definition([action("lamp", "on")])
        once.maxExecutionCount = 1
        await service.define(once)
        await service.start()
        try await service.execute("a1", principal: "owner")
        _ = try await rig.ended(service)
        let error = await #expect(throws: HomeError.self) { try await service.execute("a1", principal: "owner") }
        #expect(error?.code == .failedPrecondition && error?.message.contains("1 time") == true)
        await service.stop()
    }

    @Test func `a person can run, and stop, only what is there to run or stop`() async throws {
        let rig = try await AutomationServiceRig()
        let service = rig.makeService()
        await service.define(definition([.delay(.seconds(60)), action("lamp", "on")]))
        await service.start()
        await #expect(throws: HomeError.self) { try await service.execute("a2", principal: "owner") }
        await #expect(throws: HomeError.self) { try await service.stopRun(of: "a1", principal: "owner") }
        try await service.execute("a1", principal: "owner")
        await #expect(throws: HomeError.self) { try await service.execute("a1", principal: "owner") }
        try await service.stopRun(of: "a1", principal: "owner")
        #expect(try await rig.ended(service).end == .stopped)
        await service.stop()
    }

    @Test func `a device that nobody names costs no turn`() async throws {
        let rig = try await AutomationServiceRig()
        let service = rig.makeService()
        await service.define(definition([action("lamp", "on")]))
        #expect(service.inbox.watches(deviceID: "sensor") && service.inbox.watches(deviceID: "lamp"))
        #expect(!service.inbox.watches(deviceID: "other"))
        await service.undefine("a1")
        #expect(!service.inbox.watches(deviceID: "sensor"))
    }

    @Test func `the devices of a run are watched until it ends, also when its automation is edited`() async throws {
        let rig = try await AutomationServiceRig()
        let service = rig.makeService()
        await service.define(definition([.delay(.seconds(60)), action("lamp", "on")]))
        await service.start()
        try await service.execute("a1", principal: "owner")
        await service.define(definition([action("other", "on")]))
        await service.define(definition([action("sensor", "on")]))
        #expect(service.inbox.watches(deviceID: "lamp"))
        #expect(!service.inbox.watches(deviceID: "other"))
        rig.pass(milliseconds: 60_000)
        await service.handle(.clock)
        #expect(try await rig.ended(service).end == .completed)
        #expect(!service.inbox.watches(deviceID: "lamp"))
        #expect(service.inbox.watches(deviceID: "sensor"))
        await service.stop()
    }
}
