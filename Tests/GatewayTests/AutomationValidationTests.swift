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

/// Automations that are valid when they are made, and what becomes of that when the home changes.
@Suite(.timeLimit(.minutes(10))) struct AutomationValidationTests {
    private func setLamp(_ hub: HomeHub, _ types: [any DeviceType.Type]) async throws {
        let lamp = try VirtualDevice(id: "lamp", name: "Lamp", types: types, store: MemorySharedStore())
        await hub.setDevices([lamp.description()], drivers: [lamp], of: .virtual)
    }

    /// An automation that dims a lamp, with the records that have it.
    private func dimming(_ gateway: TestGateway) async throws -> AutomationRecords.Entry {
        let structure = try #require(await gateway.hub.structures().first?.id)
        let lamp = try await gateway.hub.device("lamp").id
        let action =
            #"{"type":"action","entity":{"device":"\#(lamp)"},"trait":"LevelControl","command":"moveToLevel","#
            + #""parameters":{"level":100}}"#
        let draft = try AutomationDraft(
            json: Data(#"{"automationGraph":{"version":1,"nodes":[{"type":"manualStarter"},\#(action)]}}"#.utf8))
        return try await gateway.api.automations.create(draft, in: structure, by: "owner")
    }

    @Test func `an automation is validated again when its device loses a trait, and when it has it again`() async throws
    {
        let gateway = try TestGateway()
        try await setLamp(gateway.hub, [DimmableLightDeviceType.self])
        let made = try await dimming(gateway)
        #expect(made.issues?.isEmpty == true, "\(String(describing: made.issues))")
        let records = gateway.api.automations
        let watcher = records.watchers.add()
        let follower = Task { await records.followHome() }
        for (types, issues) in [
            ([OnOffLightDeviceType.self], ["UnsupportedEntityTrait"]), ([DimmableLightDeviceType.self], []),
        ] as [([any DeviceType.Type], [String])] {
            try await setLamp(gateway.hub, types)
            for await _ in watcher.signals where watcher.takeChanged().contains(made.record.id) { break }
            let entry = await records.entries[made.record.id]
            #expect(entry?.issues?.map(\.type.name) == issues)
            #expect(entry?.definition?.invalidPaths == (issues.isEmpty ? [] : ["automationGraph.nodes[1]"]))
        }
        follower.cancel()
    }

    @Test func `what a validation has found does not bring back what somebody has changed meanwhile`() async throws {
        let gateway = try TestGateway()
        try await setLamp(gateway.hub, [DimmableLightDeviceType.self])
        let made = try await dimming(gateway)
        let records = gateway.api.automations
        let service = try gateway.api.requireService()
        let owner = Authorization(principal: "owner", access: .everything)
        // A validation reports the automation as it was, and other automations come first in its list.
        let found = AutomationRecords.change(made)
        let draft = try AutomationDraft(json: Data(#"{"isActive":false}"#.utf8))
        let changed = try await records.change(made.record.id, draft, ifVersion: nil, by: owner)
        await service.adopt([AutomationRecords.change(changed)]) { records.newest($0) }
        await service.adopt([found]) { records.newest($0) }
        #expect(await service.definitions[made.record.id]?.isActive == false)
        try await records.delete(made.record.id, ifVersion: nil, by: owner)
        await service.adopt([found]) { records.newest($0) }
        #expect(await service.definitions.isEmpty)
    }

    @Test func `an automation is validated again when its device leaves the home`() async throws {
        let gateway = try TestGateway()
        try await setLamp(gateway.hub, [DimmableLightDeviceType.self])
        let made = try await dimming(gateway)
        let records = gateway.api.automations
        let watcher = records.watchers.add()
        let follower = Task { await records.followHome() }
        await gateway.hub.setDevices([], drivers: [], of: .virtual)
        for await _ in watcher.signals where watcher.takeChanged().contains(made.record.id) { break }
        #expect(await records.entries[made.record.id]?.issues?.map(\.type.name) == ["InvalidEntity"])
        follower.cancel()
    }

    @Test
    func `a device that has been offline for a week is reported within the hour, and not any more once it is back`()
        async throws
    {
        let time = Locked(Date(timeIntervalSince1970: 1_000))
        let hub = HomeHub(
            devices: [], drivers: [], signalling: FakeLiveView().services, now: { time.withLock { $0 } })
        // A camera without a driver is offline.
        let door = DeviceDescription(id: "door", name: "Door", kind: .doorbell)
        await hub.setDevices([door], drivers: [])
        let records = AutomationRecords(
            hub: hub, store: MemorySharedStore(), accessOf: { _ in .everything },
            logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
        let structure = try #require(await hub.structures().first?.id)
        let draft = try AutomationDraft(
            json: Data(
                (#"{"automationGraph":{"version":1,"nodes":[{"type":"eventStarter","id":"n1","#
                    + #""entity":{"device":"door"},"trait":"DoorbellPress","event":"DoorbellPressed"}]}}"#).utf8))
        let id = try await records.create(draft, in: structure, by: "owner").record.id
        func issues() async -> [String] { await records.entries[id]?.issues?.map(\.type.words) ?? [] }
        time.withLock { $0 += 7 * 86_400 - 1 }
        await records.validateAbsences()
        #expect(await issues() == [])
        time.withLock { $0 += 1 }
        await records.validateAbsences()
        #expect(await issues() == ["door has been offline for 7 days; check the device"])
        time.withLock { $0 += 86_400 }
        await records.validateAbsences()
        #expect(await issues() == ["door has been offline for 8 days; check the device"])
        await hub.add(records.shapes)
        _ = records.shapes.takeChanged()
        await hub.setDevices([door], drivers: [FakeCamera("door")])
        let changed = records.shapes.takeChanged()
        #expect(changed == ["door"])
        await records.validate(naming: changed)
        #expect(await issues() == [])
        // Another report of the device is not another return.
        let renamed = DeviceDescription(id: "door", name: "Front door", kind: .doorbell)
        await hub.setDevices([renamed], drivers: [FakeCamera("door")])
        #expect(records.shapes.takeChanged() == [])
    }

    @Test func `changes of state validate nothing`() {
        func lamp(isOn: Bool, _ types: [String] = ["OnOffLightDeviceType"]) -> DeviceSnapshot {
            DeviceSnapshot(
                id: "lamp", name: "Lamp", structureID: "s1",
                endpoints: [
                    EndpointSnapshot(
                        id: 1, types: types,
                        traits: TraitCollection([Matter.OnOffTrait(attributes: .init(onOff: isOn))]),
                        connectivity: SourceConnectivity(connectivityState: .online, dataSourceLocality: .localPeer))
                ])
        }
        let shapes = HomeShapes()
        #expect(!shapes.watches(deviceID: "lamp"))
        shapes.watch(["lamp"])
        #expect(shapes.watches(deviceID: "lamp") && !shapes.watches(deviceID: "fan"))
        shapes.take(.device(lamp(isOn: false)))
        #expect(shapes.takeChanged() == ["lamp"] && shapes.takeChanged().isEmpty)
        shapes.take(.device(lamp(isOn: true)))
        shapes.take(.event(deviceID: "lamp", endpoint: 1, trait: "Switch", name: "InitialPress", fields: [:]))
        #expect(shapes.takeChanged().isEmpty)
        shapes.take(.device(lamp(isOn: true, ["OnOffPluginUnitDeviceType"])))
        #expect(shapes.takeChanged() == ["lamp"])
        shapes.take(.deviceRemoved(id: "lamp"))
        #expect(shapes.takeChanged() == ["lamp"])
        shapes.take(.deviceRemoved(id: "lamp"))
        #expect(shapes.takeChanged().isEmpty)
        var home = StructureSnapshot(id: "s1", name: "Home", timeZone: "UTC")
        shapes.take(.structure(home))
        _ = shapes.takeChanged()
        home.name = "House"
        shapes.take(.structure(home))
        #expect(shapes.takeChanged().isEmpty)
        (home.latitude, home.longitude) = (69.6, 18.9)
        shapes.take(.structure(home))
        #expect(shapes.takeChanged() == ["s1"])
    }
}
