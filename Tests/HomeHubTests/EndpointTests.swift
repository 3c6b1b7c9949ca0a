import Foundation
import HomeFakes
import HomeTypes
import Testing
import Transport

@testable import HomeHub

/// Devices with several parts: a loudspeaker that is a dimmable light as well.
@Suite struct EndpointTests {
    private typealias OnOff = Matter.OnOffTrait
    private let backend = FakeBackend("speaker")
    private let owner = Caller(principal: "owner")

    private struct Unexpected: Error {}

    private func makeHub(connectivity: SourceConnectivity = .online) async -> HomeHub {
        let hub = HomeHub(devices: [], drivers: [], signalling: FakeLiveView().services)
        var device = DeviceDescription(id: "speaker", name: "Speaker")
        let traits = TraitCollection([
            OnOff(attributes: .init(onOff: false)), Matter.LevelControlTrait(attributes: .init(currentLevel: 10)),
        ])
        var vendor = ExampleVendor.OnOffTrait.Attributes()
        vendor.onOff = "dim"
        device.endpoints = [
            EndpointDescription(
                id: 0, types: [RootNodeDeviceType.self],
                traits: TraitCollection([Matter.BasicInformationTrait(attributes: .init(vendorName: "Example"))]),
                connectivity: connectivity),
            EndpointDescription(id: 1, types: [SpeakerDeviceType.self], traits: traits, connectivity: connectivity),
            EndpointDescription(
                id: 2, types: [DimmableLightDeviceType.self],
                traits: TraitCollection(traits.all + [ExampleVendor.OnOffTrait(attributes: vendor)]),
                connectivity: connectivity),
        ]
        await hub.setDevices([device], drivers: [backend], of: .mqtt)
        return hub
    }

    private func call(
        _ command: String, endpoint: UInt16? = nil, trait: String = "OnOff", device: String = "speaker"
    ) -> CommandCall {
        CommandCall(deviceID: device, endpoint: endpoint, trait: trait, command: command, caller: owner)
    }

    private func onOff(_ hub: HomeHub, _ endpoint: UInt16) async throws -> Bool? {
        try await (hub.trait("OnOff", of: "speaker", endpoint: endpoint) as? OnOff)?.onOff
    }

    @Test func `the first type that is not a helper is the primary one`() async throws {
        let device = try await makeHub().device("speaker")
        #expect(device.type == "SpeakerDeviceType")
        #expect(device.typeIdentifier == SpeakerDeviceType.identifier)
        #expect(device.primaryEndpoint?.id == 1)
        #expect(device.endpoints.map(\.id) == [0, 1, 2])
        #expect(device.source == nil && device.activeDetections == nil)
    }

    @Test func `parts with the same traits keep their states apart`() async throws {
        let hub = await makeHub()
        await hub.apply(
            .report(endpoint: 2, TraitCollection([OnOff(attributes: .init(onOff: true))])), deviceID: "speaker")
        #expect(try await onOff(hub, 1) == false)
        #expect(try await onOff(hub, 2) == true)
        // A vendor's trait of the same name is another trait.
        let vendor = try await hub.trait("ExampleVendor.OnOff", of: "speaker") as? ExampleVendor.OnOffTrait
        #expect(vendor?.onOff == "dim")
    }

    @Test func `a command without an endpoint goes to the primary type's`() async throws {
        let hub = await makeHub()
        _ = try await hub.send(call("on"), body: Data("{}".utf8))
        _ = try await hub.send(call("on", endpoint: 2), body: Data("{}".utf8))
        #expect(backend.commands.withLock { $0 } == ["1 OnOff.on", "2 OnOff.on"])
        for (endpoint, code) in [(3, HomeError.Code.notFound), (0, .notFound)] {
            do {
                _ = try await hub.send(call("on", endpoint: UInt16(endpoint)), body: Data("{}".utf8))
                Issue.record("endpoint \(endpoint) has taken a command")
            } catch {
                #expect(error.code == code)
            }
        }
    }

    @Test func `a trait on several other endpoints has to be named with one`() async throws {
        let hub = await makeHub()
        let chime = TraitCollection([Google.ChimeTrait()])
        let parts = (3...4).map {
            EndpointDescription(id: UInt16($0), types: [ChimeDeviceType.self], traits: chime, connectivity: .online)
        }
        let speaker = EndpointDescription(id: 1, types: [SpeakerDeviceType.self], connectivity: .online)
        await hub.apply(.endpoints([speaker] + parts), deviceID: "speaker")
        do {
            _ = try await hub.trait("Chime", of: "speaker")
            Issue.record("an endpoint was chosen")
        } catch {
            #expect(error.code == .invalidArgument)
            #expect(error.message.contains("3, 4"))
        }
        #expect(try await hub.trait("Chime", of: "speaker", endpoint: 4) is Google.ChimeTrait)
    }

    @Test func `one change is one emission`() async throws {
        let hub = await makeHub()
        var events = try await hub.changes(principal: "owner").makeAsyncIterator()
        // The present state: the structure and the device.
        for _ in 0..<2 { _ = await events.next() }
        let report = DeviceUpdate.report(endpoint: 1, TraitCollection([OnOff(attributes: .init(onOff: true))]))
        backend.echo.withLock { $0 = [report] }
        _ = try await hub.send(call("on"), body: Data("{}".utf8))
        // The device's confirmation, and what it repeats every now and then.
        for _ in 0..<3 { await hub.apply(report, deviceID: "speaker") }
        await hub.apply(
            .report(endpoint: 1, TraitCollection([Matter.LevelControlTrait(attributes: .init(currentLevel: 11))])),
            deviceID: "speaker")
        guard case .device(let first)? = await events.next()?.change else { throw Unexpected() }
        #expect(first.endpoints[1].traits[OnOff.self]?.onOff == true)
        #expect(first.endpoints[1].traits[Matter.LevelControlTrait.self]?.currentLevel == 10)
        guard case .device(let second)? = await events.next()?.change else { throw Unexpected() }
        #expect(second.endpoints[1].traits[Matter.LevelControlTrait.self]?.currentLevel == 11)
    }

    @Test func `connectivity of traits is aggregated to endpoints and the device`() async throws {
        let hub = await makeHub()
        await hub.apply(.traitConnectivity(endpoint: 1, trait: "OnOff", .cloud), deviceID: "speaker")
        var device = try await hub.device("speaker")
        #expect(device.endpoints[1].connectivityState == .partiallyOnline)
        #expect(device.endpoints[1].dataSourceLocality == .mixed)
        #expect(device.endpoints[1].connectivity(ofTrait: "OnOff") == .cloud)
        #expect(device.endpoints[1].connectivity(ofTrait: "LevelControl") == .online)
        #expect(device.endpoints[2].traitConnectivity == nil)
        #expect(device.connectivityState == .partiallyOnline && device.dataSourceLocality == .mixed)
        let read = try JSONDecoder().decode(DeviceSnapshot.self, from: try JSONEncoder().encode(device))
        #expect(read.endpoints[1].connectivity(ofTrait: "OnOff") == .cloud)
        await hub.apply(.traitConnectivity(endpoint: 1, trait: "OnOff", nil), deviceID: "speaker")
        device = try await hub.device("speaker")
        #expect(device.connectivityState == .online && device.endpoints[1].traitConnectivity == nil)
    }

    @Test func `a command to a device of unspecified locality fails at once`() async throws {
        let hub = await makeHub(
            connectivity: .init(connectivityState: .unknown, dataSourceLocality: .unspecified))
        do {
            _ = try await hub.send(call("on"), body: Data("{}".utf8))
            Issue.record("the command was sent")
        } catch {
            #expect(error.code == .unavailable)
        }
        #expect(backend.commands.withLock { $0 }.isEmpty)
    }

    @Test func `attributes that clients may not write stay as they are`() async throws {
        let hub = await makeHub()
        func code(_ trait: String, _ body: String) async -> HomeError.Code? {
            do {
                _ = try await hub.update(trait, of: "speaker", endpoint: 1, body: Data(body.utf8), by: owner)
                return nil
            } catch {
                return error.code
            }
        }
        #expect(await code("OnOff", #"{"onOff":true}"#) == .invalidArgument)
        // The device does not have this one.
        #expect(await code("OnOff", #"{"onTime":7}"#) == .invalidArgument)
        #expect(await code("OnOff", #"[]"#) == .invalidArgument)
        #expect(await code("OnOff", #"{"anAttributeOfTomorrow":1}"#) == nil)
        #expect(try await onOff(hub, 1) == false)
    }

    @Test func `commands of a batch are answered in order, and one that fails stops no other`() async throws {
        let hub = await makeHub()
        let results = try await hub.send([
            (call("on"), Data("{}".utf8)), (call("fly"), Data("{}".utf8)),
            (call("on", device: "nothing"), Data("{}".utf8)), (call("off", endpoint: 2), Data("{}".utf8)),
        ])
        let codes = results.map { result -> HomeError.Code? in
            if case .failure(let error) = result { error.code } else { nil }
        }
        #expect(codes == [nil, .notFound, .notFound, nil])
        #expect(backend.commands.withLock { $0 } == ["1 OnOff.on", "2 OnOff.off"])
    }

    @Test func `an event of a trait reaches the watchers with its fields`() async throws {
        let hub = await makeHub()
        var events = try await hub.changes(principal: "owner").makeAsyncIterator()
        // The present state: the structure and the device.
        for _ in 0..<2 { _ = await events.next() }
        let event = try TraitEvent(Matter.SwitchTrait.InitialPressEvent(newPosition: 1), endpoint: 2)
        await hub.apply(.event(event), deviceID: "speaker")
        guard case .traitEvent("speaker", _, let read)? = await events.next()?.change else { throw Unexpected() }
        #expect(read == event)
    }

    @Test func `devices of one origin leave those of another alone`() async throws {
        let hub = await makeHub()
        await hub.setDevices([.init(id: "door", name: "Door", kind: .camera)], drivers: [FakeCamera("door")])
        #expect(await hub.devices().map(\.id) == ["door", "speaker"])
        await hub.setDevices([], drivers: [], of: .mqtt)
        #expect(await hub.devices().map(\.id) == ["door"])
    }
}
