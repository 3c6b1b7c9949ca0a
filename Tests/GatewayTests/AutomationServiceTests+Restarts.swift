import Automation
import AutomationGraph
import HomeHub
import HomeTypes
import Testing

@testable import Gateway

/// Restarts, and disks that fail.
extension AutomationServiceTests {
    @Test func `a disk that does not answer at the start loses nothing that was kept`() async throws {
        let rig = try await AutomationServiceRig()
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

    @Test func `a run goes on after a restart, and its delay ends at its time`() async throws {
        let rig = try await AutomationServiceRig()
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

    @Test func `a run that goes on waits for a device that is found again after the gateway`() async throws {
        let rig = try await AutomationServiceRig()
        let late = try VirtualDevice(
            id: "late", name: "late", types: [OnOffLightDeviceType.self], store: MemorySharedStore())
        await rig.add(late)
        let first = rig.makeService()
        let definition = definition([action("other", "on"), .delay(.seconds(60)), action("late", "on")])
        await first.define(definition)
        await first.start()
        try await rig.turn("sensor", "on")
        for await element in await first.liveRuns(after: 0) where element.run.end == nil { break }
        while try await rig.isOn("other") != true { await Task.yield() }
        await first.stop()
        await rig.removeAdded()
        rig.pass(milliseconds: 61_000)
        var settings = AutomationService.Settings()
        // Only the device ends the wait.
        settings.longestWaitForDevices = .seconds(3_600)
        let second = rig.makeService(settings)
        await second.define(definition)
        let starting = Task { await second.start() }
        while await !second.isWaiting { await Task.yield() }
        await rig.add(late)
        await starting.value
        let run = try await rig.ended(second)
        #expect(run.end == .completed && commands(run).count == 2)
        #expect(try await rig.isOn("late") == true)
        await second.stop()
    }

    @Test func `at the start a change sends its command although the lamp's connection is reported after it`()
        async throws
    {
        let rig = try await AutomationServiceRig()
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
        let rig = try await AutomationServiceRig()
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
}

extension AutomationService {
    /// Takes reports of the home as those that came while it waited at its start.
    fileprivate func takeAtStart(_ devices: [DeviceSnapshot]) {
        for device in devices { inbox.take(.device(device)) }
        handleInbox(atStart: true)
    }
}
