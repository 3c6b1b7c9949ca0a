import Automation
import AutomationGraph
import Foundation
import HomeFakes
import HomeHub
import HomeTypes
import Logging
import Testing
import Transport

@testable import Gateway

/// Automations on a home with virtual lamps, in virtual time.
@Suite(.timeLimit(.minutes(5))) struct AutomationServiceTests {
    /// A home, its store, and a clock that the test turns.
    private final class Rig: Sendable {
        let hub: HomeHub
        let registry: TokenRegistry
        let store = MemoryRunStore()
        let time = Locked(EngineTime(uptime: 1_000, wall: 1_700_000_000_000))
        /// A principal of the API, with the rights that the test gives it.
        let appID: String

        init() async throws {
            let hub = HomeHub(devices: [], drivers: [], signalling: FakeLiveView().services)
            self.hub = hub
            let lamps = try ["sensor", "lamp", "other"].map {
                try VirtualDevice(id: $0, name: $0, types: [OnOffLightDeviceType.self], store: MemorySharedStore())
            }
            await hub.setDevices(lamps.map { $0.description() }, drivers: lamps, of: .virtual)
            registry = TokenRegistry(file: TokenStore(tokens: [("owner", TestGateway.token)]))
            let record = TokenRecord(
                id: "t1", name: "app", access: Access([.init([.read, .control, .automate])]), createdAt: Date(),
                createdBy: "owner", secrets: [])
            appID = record.id
            try await registry.add(record)
        }

        func makeService(_ settings: AutomationService.Settings = .init()) -> AutomationService {
            AutomationService(
                hub: hub, registry: registry, store: store, settings: settings,
                logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() },
                now: { [time] in time.withLock { $0 } })
        }

        func turn(_ device: String, _ command: String) async throws {
            let call = CommandCall(
                deviceID: device, trait: "OnOff", command: command, caller: Caller(principal: "owner"))
            _ = try await hub.send(call, body: Data("{}".utf8))
        }

        func isOn(_ device: String) async throws -> Bool? {
            try await hub.device(device).traits[Matter.OnOffTrait.self]?.onOff
        }

        func pass(milliseconds: Int64) {
            time.withLock {
                $0.uptime += milliseconds
                $0.wall += milliseconds
            }
        }

        /// The newest run when it has ended.
        func ended(_ service: AutomationService, _ id: String = "a1") async throws -> RunRecord {
            for await element in await service.liveRuns(after: 0)
            where element.run.automationID == id && element.run.end != nil {
                return try await service.run(element.run.id)
            }
            throw HomeError.internal("the service ended first")
        }
    }

    /// When the sensor changes: the nodes.
    private func definition(owner: String = "owner", _ nodes: [GraphNode]) -> AutomationDefinition {
        let starter = GraphNode.attributeStarter(
            GraphReader(id: "n1", GraphTrait(.device("sensor"), deviceType: "OnOffLightDeviceType", trait: "OnOff")))
        return AutomationDefinition(id: "a1", structureID: "s1", owner: owner, graph: Graph([starter] + nodes))
    }

    private func action(_ device: String, _ command: String) -> GraphNode {
        .action(
            GraphAction(
                GraphTrait(.device(device), deviceType: "OnOffLightDeviceType", trait: "OnOff"),
                .command(command, parameters: [:])))
    }

    private func commands(_ run: RunRecord) -> [Automation.CommandOutcome] {
        (run.entries ?? []).compactMap { if case .sent(_, let outcome, _) = $0.event { outcome } else { nil } }
    }

    @Test func `a change of one device sends a command to another, and the run is kept`() async throws {
        let rig = try await Rig()
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
        let rig = try await Rig()
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

    @Test func `a command that has waited too long for a place is not sent`() async throws {
        let rig = try await Rig()
        let service = try await waitingForAPlace(rig)
        rig.pass(milliseconds: 9_999)
        await service.sendNext()
        #expect(await service.waitingCommands.count == 1)
        rig.pass(milliseconds: 20_000)
        await service.freePlace()
        #expect(await service.waitingCommands.isEmpty)
        #expect(await service.counts.commands == 0)
        #expect(try await rig.isOn("lamp") == false)
        await service.stop()
    }

    @Test func `a command that waits for a place is not sent after its run was stopped`() async throws {
        let rig = try await Rig()
        let service = try await waitingForAPlace(rig)
        try await service.stopRun(of: "a1", principal: "owner")
        await service.freePlace()
        #expect(await service.waitingCommands.isEmpty)
        #expect(await service.counts.commands == 0)
        await service.stop()
        #expect(try await rig.isOn("lamp") == false)
    }

    /// A service whose run has a command that waits, because somebody else's has the only place.
    private func waitingForAPlace(_ rig: Rig) async throws -> AutomationService {
        var settings = AutomationService.Settings()
        settings.commands = 1
        let service = rig.makeService(settings)
        await service.define(definition([action("lamp", "on")]))
        await service.start()
        await service.takePlace()
        try await rig.turn("sensor", "on")
        while await service.waitingCommands.isEmpty { await Task.yield() }
        return service
    }

    @Test func `a disk that does not answer at the start loses nothing that was kept`() async throws {
        let rig = try await Rig()
        var once = definition([action("lamp", "on")])
        once.maxExecutionCount = 1
        let first = rig.makeService()
        await first.define(once)
        await first.start()
        try await rig.turn("sensor", "on")
        _ = try await rig.ended(first)
        await first.stop()

        rig.store.failReading(StoreFailure(path: "automations.sqlite", reason: "disk I/O error"))
        let changes = try await rig.hub.changes(principal: "owner")
        var settings = AutomationService.Settings()
        settings.pauseBeforeReading = .milliseconds(1)
        let second = rig.makeService(settings)
        await second.define(once)
        await second.start()
        for await event in changes {
            guard case .alarm(let alarm)? = event.change, alarm.kind == .automationStorageFailing else { continue }
            #expect(alarm.state == .raised && alarm.reason.contains("disk I/O error"))
            break
        }
        let error = await #expect(throws: HomeError.self) { try await second.stopRun(of: "a1", principal: "owner") }
        #expect(error?.code == .unavailable)
        rig.store.failReading(nil)
        for await event in changes {
            guard case .alarm(let alarm)? = event.change, alarm.kind == .automationStorageFailing else { continue }
            #expect(alarm.state == .cleared)
            break
        }
        while await !second.isStarted { await Task.yield() }
        #expect(await second.state(of: "a1").executionCount == 1)
        await second.stop()
    }

    @Test func `an automation that has run as often as it may cannot be run by hand`() async throws {
        let rig = try await Rig()
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

    @Test func `a right that was taken away stops the command, and the run says so`() async throws {
        let rig = try await Rig()
        let service = rig.makeService()
        await service.define(definition(owner: "app", [action("lamp", "on")]))
        await service.start()
        try await rig.registry.revoke(rig.appID)
        try await rig.turn("sensor", "on")
        let run = try await rig.ended(service)
        #expect(run.end == .notAuthorised)
        guard case .notAuthorised? = commands(run).first else {
            Issue.record("the command was not refused: \(commands(run))")
            return
        }
        #expect(try await rig.isOn("lamp") == false)
        await service.stop()
    }

    @Test func `an owner without the scope automate sends nothing any more`() async throws {
        let rig = try await Rig()
        let record = TokenRecord(
            id: "t2", name: "hand", access: Access([.init([.read, .control])]), createdAt: Date(), createdBy: "owner",
            secrets: [])
        try await rig.registry.add(record)
        let service = rig.makeService()
        await service.define(definition(owner: "hand", [action("lamp", "on")]))
        await service.start()
        try await rig.turn("sensor", "on")
        let run = try await rig.ended(service)
        #expect(run.end == .notAuthorised)
        #expect(try await rig.isOn("lamp") == false)
        await service.stop()
    }

    @Test func `a run goes on after a restart, and its delay ends at its time`() async throws {
        let rig = try await Rig()
        let first = rig.makeService()
        let definition = definition([action("other", "on"), .delay(.seconds(60)), action("lamp", "on")])
        await first.define(definition)
        await first.start()
        try await rig.turn("sensor", "on")
        for await element in await first.liveRuns(after: 0) where element.run.end == nil { break }
        while try await rig.isOn("other") != true { await Task.yield() }
        await first.stop()
        #expect(rig.store.openRuns().count == 1)
        rig.pass(milliseconds: 61_000)
        let second = rig.makeService()
        await second.define(definition)
        await second.start()
        let run = try await rig.ended(second)
        #expect(run.end == .completed && commands(run).count == 2)
        #expect(try await rig.isOn("lamp") == true)
        await second.stop()
    }

    @Test func `at the start a change sends its command although the lamp's connection is reported after it`()
        async throws
    {
        let rig = try await Rig()
        let service = rig.makeService()
        await service.define(definition([action("lamp", "on")]))
        await service.start()
        let lamp = try await rig.hub.device("lamp")
        var away = lamp
        away.connectivityState = .offline
        var sensor = try await rig.hub.device("sensor")
        for index in sensor.endpoints.indices where sensor.endpoints[index].traits.contains(Matter.OnOffTrait.self) {
            sensor.endpoints[index].traits.set(Matter.OnOffTrait(attributes: .init(onOff: true)))
        }
        await service.takeAtStart([away, sensor, lamp])
        let run = try await rig.ended(service)
        #expect(run.end == .completed && commands(run) == [.succeeded])
        await service.stop()
    }

    @Test func `nothing is sent while the disk is full, an alarm says so, and runs go on afterwards`() async throws {
        let rig = try await Rig()
        let service = rig.makeService()
        await service.define(definition([action("lamp", "on")]))
        await service.start()
        let changes = try await rig.hub.changes(principal: "owner")
        rig.store.fail(StoreFailure(path: "automations.sqlite", reason: "the disk is full"))
        try await rig.turn("sensor", "on")
        for await event in changes {
            guard case .alarm(let alarm)? = event.change, alarm.kind == .automationStorageFailing else { continue }
            #expect(alarm.state == .raised && alarm.reason.contains("the disk is full"))
            break
        }
        #expect(try await rig.isOn("lamp") == false)
        rig.store.fail(nil)
        try await rig.turn("sensor", "off")
        // The first run could not send; it is recorded as soon as there is room.
        let run = try await rig.ended(service)
        #expect(run.end == .failed)
        await service.stop()
    }

    @Test func `a person can run, and stop, only what is there to run or stop`() async throws {
        let rig = try await Rig()
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
        let rig = try await Rig()
        let service = rig.makeService()
        await service.define(definition([action("lamp", "on")]))
        #expect(service.inbox.watches(deviceID: "sensor") && service.inbox.watches(deviceID: "lamp"))
        #expect(!service.inbox.watches(deviceID: "other"))
        await service.undefine("a1")
        #expect(!service.inbox.watches(deviceID: "sensor"))
    }

    @Test func `changes that are too many are read again`() {
        let inbox = AutomationInbox()
        for _ in 0..<AutomationInbox.capacity + 5 { inbox.take(.deviceRemoved(id: "sensor")) }
        let batch = inbox.drain()
        #expect(batch.items.count == AutomationInbox.capacity && batch.missed == ["sensor"])
        #expect(inbox.dropped == 5)
    }
}

extension AutomationService {
    /// Takes the first place, as a command does that is on its way.
    fileprivate func takePlace() { runningCommands.insert(CommandKey(runID: "x0", commandID: 0)) }

    /// Gives that place to the next command.
    fileprivate func freePlace() {
        runningCommands.remove(CommandKey(runID: "x0", commandID: 0))
        sendNext()
    }

    /// Takes reports of the home as those that came while it waited at its start.
    fileprivate func takeAtStart(_ devices: [DeviceSnapshot]) {
        for device in devices { inbox.take(.device(device)) }
        handleInbox(atStart: true)
    }
}
