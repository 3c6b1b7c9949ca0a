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
        /// The commands that arrived at the lamps, in their order.
        let calls = Locked<[CommandCall]>([])
        private let lamps: [ObservedLamp]
        let time = Locked(EngineTime(uptime: 1_000, wall: 1_700_000_000_000))
        /// A principal of the API, with the rights that the test gives it.
        let appID: String

        init() async throws {
            let hub = HomeHub(devices: [], drivers: [], signalling: FakeLiveView().services)
            self.hub = hub
            lamps = try ["sensor", "lamp", "other"].map { [calls] id in
                let lamp = try VirtualDevice(
                    id: id, name: id, types: [OnOffLightDeviceType.self], store: MemorySharedStore())
                return ObservedLamp(lamp) { call in if id != "sensor" { calls.withLock { $0.append(call) } } }
            }
            await hub.setDevices(lamps.map { $0.device.description() }, drivers: lamps, of: .virtual)
            registry = TokenRegistry(file: TokenStore(tokens: [("owner", TestGateway.token)]))
            let record = TokenRecord(
                id: "t1", name: "app", access: Access([.init([.read, .control, .automate])]), createdAt: Date(),
                createdBy: "owner", secrets: [])
            appID = record.id
            try await registry.add(record)
        }

        func add(_ device: VirtualDevice) async {
            await hub.setDevices(
                lamps.map { $0.device.description() } + [device.description()], drivers: lamps + [device], of: .virtual)
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

    @Test func `the time that a command has waited for its place is a part of its deadline`() async throws {
        let rig = try await Rig()
        let service = try await waitingForAPlace(rig)
        rig.pass(milliseconds: 6_000)
        await service.freePlace()
        _ = try await rig.ended(service)
        let remaining = try #require(rig.calls.withLock { $0.last }?.caller.remainingSeconds)
        #expect(remaining <= 4 && remaining > 0)
        await service.stop()
    }

    @Test func `nothing is sent any more once the service has stopped, and the next start sends it once`() async throws
    {
        let rig = try await Rig()
        let first = rig.makeService()
        let definition = definition([action("lamp", "on"), action("other", "on")])
        await first.define(definition)
        await first.start()
        await first.executeAndStop("a1")
        #expect(rig.calls.withLock { $0.isEmpty })
        let kept = try #require(rig.store.openRuns().first)
        #expect(!kept.contains { $0.data.contains("\"sending\"") })
        let second = rig.makeService()
        await second.define(definition)
        await second.start()
        let run = try await rig.ended(second)
        #expect(run.end == .completed && commands(run) == [.succeeded, .succeeded])
        #expect(rig.calls.withLock { $0.map(\.deviceID) } == ["lamp", "other"])
        await second.stop()
    }

    @Test func `a command that waits for its place when the service stops is recorded as not sent`() async throws {
        let rig = try await Rig()
        let service = try await waitingForAPlace(rig)
        await service.freePlaceQuietly()
        await service.stop()
        #expect(rig.calls.withLock { $0.isEmpty })
        let run = try #require(rig.store.runs(of: "a1", before: nil, limit: 1).first)
        let rows = rig.store.entries(ofRun: run.first.runID)
        #expect(rows.contains { $0.data.contains("the gateway was stopped before it was sent") })
    }

    @Test func `a stopped run keeps its end although its command is not sent`() throws {
        func record(_ run: String, _ number: Int, _ event: RunEntry.Event) -> EngineEffect {
            .record(RunEntry(automationID: "a", runID: run, number: number, at: 0, event: event))
        }
        let manual = RunEntry.Event.began(Trigger(.manual, path: ""), depth: 0, isLate: false)
        let stopped = [
            record("x1", 0, manual), record("x1", 1, .sending(commandID: 0)), record("x1", 2, .ended(.stopped)),
        ]
        let open = [record("x2", 0, manual), record("x2", 1, .sending(commandID: 0)), record("x2", 2, .strandEnded)]
        #expect(AutomationService.withoutSending(stopped + open) == stopped + open.prefix(1))
    }

    @Test func `a person who runs an automation too often is told so`() async throws {
        let rig = try await Rig()
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
        let rig = try await Rig()
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
        let rig = try await Rig()
        let service = rig.makeService()
        await service.define(definition([action("lamp", "on")]))
        await service.start()
        try await rig.turn("sensor", "on")
        _ = try await rig.ended(service)
        await service.adopt([.suspended(id: "a1")])
        #expect(try await service.runs(of: "a1").runs.count == 1)
        await service.stop()
    }

    @Test func `a gate opens only with the right to unlock`() async throws {
        let rig = try await Rig()
        let gate = try VirtualDevice(
            id: "gate", name: "Gate", types: [GarageDoorDeviceType.self], store: MemorySharedStore())
        await rig.add(gate)
        func ends(owner: String) async throws -> [RunEnd?] {
            let service = rig.makeService()
            let target = GraphTrait(.device("gate"), deviceType: "WindowCoveringDeviceType", trait: "WindowCovering")
            for command in ["upOrOpen", "downOrClose"] {
                let nodes: [GraphNode] = [
                    .manualStarter, .action(GraphAction(target, .command(command, parameters: [:]))),
                ]
                await service.define(
                    AutomationDefinition(
                        id: owner + command, structureID: "s1", owner: owner, graph: Graph(nodes)))
            }
            await service.start()
            var ends: [RunEnd?] = []
            for command in ["upOrOpen", "downOrClose"] {
                try await service.execute(owner + command, principal: "owner")
                ends.append(try await rig.ended(service, owner + command).end)
            }
            await service.stop()
            return ends
        }
        #expect(try await ends(owner: "app") == [.notAuthorised, .completed])
        #expect(try await ends(owner: "owner") == [.completed, .completed])
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

    @Test func `changes that are too many bytes, or come when others have waited too long, are read again`() {
        let time = Locked(Instant(nanoseconds: 0))
        let inbox = AutomationInbox(now: { time.withLock { $0 } })
        let report = HomeObservation.event(
            deviceID: "sensor", endpoint: 1, trait: "Switch", name: "InitialPress",
            fields: ["text": .text(String(repeating: "x", count: 65_536))])
        var count = 0
        while inbox.dropped == 0, count < 1_000 {
            inbox.take(report)
            count += 1
        }
        // 16 MiB in pieces of a little more than 64 KiB.
        #expect((230...256).contains(count))
        var batch = inbox.drain()
        #expect(batch.items.count == count - 1 && batch.missed == ["sensor"])
        #expect(inbox.drain().missed.isEmpty)

        inbox.take(.deviceRemoved(id: "lamp"))
        time.withLock { $0 += .seconds(59) }
        inbox.take(.deviceRemoved(id: "lamp"))
        time.withLock { $0 += .seconds(1) }
        inbox.take(.deviceRemoved(id: "other"))
        batch = inbox.drain()
        #expect(batch.items.count == 2 && batch.missed == ["other"] && inbox.dropped == 2)
        inbox.take(.deviceRemoved(id: "other"))
        #expect(inbox.drain().items.count == 1)
    }
}

extension AutomationService {
    /// Runs an automation and stops in one step, so that its command is wanted and not written yet.
    fileprivate func executeAndStop(_ id: String) async {
        engine.handle(.execute(automationID: id, principal: "owner"), at: now())
        drain()
        await stop()
    }

    /// Gives the first place to nobody.
    fileprivate func freePlaceQuietly() { runningCommands[CommandKey(runID: "x0", commandID: 0)] = nil }

    /// Takes the first place, as a command does that is on its way.
    fileprivate func takePlace() { runningCommands[CommandKey(runID: "x0", commandID: 0)] = [] }

    /// Gives that place to the next command.
    fileprivate func freePlace() {
        runningCommands[CommandKey(runID: "x0", commandID: 0)] = nil
        sendNext()
    }

    /// Takes reports of the home as those that came while it waited at its start.
    fileprivate func takeAtStart(_ devices: [DeviceSnapshot]) {
        for device in devices { inbox.take(.device(device)) }
        handleInbox(atStart: true)
    }
}
