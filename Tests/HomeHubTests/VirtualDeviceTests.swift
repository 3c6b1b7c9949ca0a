import Foundation
import HomeFakes
import HomeTypes
import Testing

@testable import HomeHub

@Suite struct VirtualDeviceTests {
    private let owner = Caller(principal: "owner")

    /// A home of virtual devices over a file.
    private func makeHub(
        _ types: [String: [any DeviceType.Type]], path: String
    ) async throws -> HomeHub {
        let store = try SQLiteSharedStore(path: path)
        let hub = HomeHub(devices: [], drivers: [], signalling: FakeLiveView().services)
        let devices = try types.sorted { $0.key < $1.key }.map { id, types in
            try VirtualDevice(id: id, name: id, types: types, store: store)
        }
        await hub.setDevices(devices.map { $0.description() }, drivers: devices, of: .virtual)
        return hub
    }

    private func withFolder<Value>(_ body: (String) async throws -> Value) async throws -> Value {
        let folder = FileManager.default.temporaryDirectory.appending(path: "gatehouse-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        return try await body(folder.appending(path: "shared.sqlite").path)
    }

    private func send<Sent: Command>(
        _ command: Sent, to device: String, endpoint: UInt16? = nil, _ hub: HomeHub
    ) async throws {
        let call = CommandCall(
            deviceID: device, endpoint: endpoint, trait: Sent.trait.name, command: Sent.name, caller: owner)
        _ = try await hub.send(call, body: try JSONEncoder().encode(command))
    }

    private func trait<Kind: HomeTypes.Trait>(_ type: Kind.Type, of device: String, _ hub: HomeHub) async throws -> Kind
    {
        try #require(try await hub.trait(Kind.name, of: device) as? Kind)
    }

    @Test func `every device type can be declared and has its required traits`() async throws {
        try await withFolder { path in
            let types = Vocabulary.deviceTypes.filter { DeviceKind(rawValue: $0.name) == nil && !$0.isUtilityType }
            let hub = try await makeHub(
                Dictionary(uniqueKeysWithValues: types.map { ($0.name, [$0]) }), path: path)
            let devices = await hub.devices()
            #expect(devices.count == types.count)
            for device in devices {
                #expect(device.type == device.id)
                #expect(device.connectivityState == .online && device.dataSourceLocality == .localPeer)
                let type = try #require(Vocabulary.deviceType(named: device.type))
                for required in type.requiredTraits {
                    let isPresent = device.traits.contains(required)
                    #expect(isPresent, "\(device.type) lacks \(required.name)")
                }
            }
        }
    }

    @Test func `commands from many callers at once leave the home with the state that the device has`() async throws {
        try await withFolder { path in
            let store = try SQLiteSharedStore(path: path)
            let lamp = try VirtualDevice(id: "lamp", name: "Lamp", types: [OnOffLightDeviceType.self], store: store)
            let hub = HomeHub(devices: [], drivers: [], signalling: FakeLiveView().services)
            await hub.setDevices([lamp.description()], drivers: [lamp], of: .virtual)
            for _ in 0..<200 {
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for number in 0..<4 {
                        group.addTask {
                            if number.isMultiple(of: 2) {
                                try await send(Matter.OnOffTrait.on(), to: "lamp", hub)
                            } else {
                                try await send(Matter.OnOffTrait.off(), to: "lamp", hub)
                            }
                        }
                    }
                    try await group.waitForAll()
                }
                let known = try await trait(Matter.OnOffTrait.self, of: "lamp", hub).onOff
                let actual = lamp.description().endpoints[1].traits[Matter.OnOffTrait.self]?.onOff
                try #require(known == actual)
            }
        }
    }

    @Test func `after an upgrade a device lists the commands that this version accepts`() async throws {
        try await withFolder { path in
            let store = try SQLiteSharedStore(path: path)
            // What a version that knew only one command has kept.
            let kept = #"{"1":{"OnOff":{"onOff":true,"acceptedCommandList":[0]}}}"#
            _ = try store.write(VirtualDevice.storedKind, "lamp", kept, expecting: 0)
            let lamp = try VirtualDevice(id: "lamp", name: "Lamp", types: [OnOffLightDeviceType.self], store: store)
            let onOff = try #require(lamp.description().endpoints[1].traits[Matter.OnOffTrait.self])
            #expect(onOff.onOff == true)
            #expect(onOff.attributes.acceptedCommandList?.contains(2) == true)
        }
    }

    @Test func `a light is switched, dimmed and coloured`() async throws {
        try await withFolder { path in
            let hub = try await makeHub(["lamp": [ExtendedColorLightDeviceType.self]], path: path)
            try await send(Matter.OnOffTrait.on(), to: "lamp", hub)
            #expect(try await trait(Matter.OnOffTrait.self, of: "lamp", hub).onOff == true)
            try await send(Matter.OnOffTrait.toggle(), to: "lamp", hub)
            #expect(try await trait(Matter.OnOffTrait.self, of: "lamp", hub).onOff == false)
            // A lamp that is off ignores a level, unless the command switches it on.
            try await send(Matter.LevelControlTrait.moveToLevel(level: 100, transitionTime: nil), to: "lamp", hub)
            #expect(try await trait(Matter.LevelControlTrait.self, of: "lamp", hub).currentLevel == 254)
            try await send(
                Matter.LevelControlTrait.moveToLevelWithOnOff(level: 100, transitionTime: nil), to: "lamp", hub)
            #expect(try await trait(Matter.LevelControlTrait.self, of: "lamp", hub).currentLevel == 100)
            #expect(try await trait(Matter.OnOffTrait.self, of: "lamp", hub).onOff == true)
            try await send(
                Matter.ColorControlTrait.moveToColorTemperature(colorTemperatureMireds: 60_000, transitionTime: 0),
                to: "lamp", hub)
            let color = try await trait(Matter.ColorControlTrait.self, of: "lamp", hub)
            #expect(color.colorTemperatureMireds == 500 && color.colorMode == .colorTemperatureMireds)
        }
    }

    @Test func `a value outside the limits changes nothing`() async throws {
        try await withFolder { path in
            let hub = try await makeHub(
                ["blind": [WindowCoveringDeviceType.self], "heating": [ThermostatDeviceType.self]], path: path)
            func code(_ body: () async throws -> Void) async -> HomeError.Code? {
                do { try await body() } catch { return (error as? HomeError)?.code }
                return nil
            }
            let moved = await code {
                try await send(
                    Matter.WindowCoveringTrait.goToLiftPercentage(liftPercent100thsValue: 10_001), to: "blind", hub)
            }
            #expect(moved == .outOfRange || moved == .invalidArgument)
            #expect(
                try await trait(Matter.WindowCoveringTrait.self, of: "blind", hub).currentPositionLiftPercent100ths == 0
            )
            let body = Data(#"{"occupiedHeatingSetpoint":9000,"systemMode":"heat"}"#.utf8)
            let heated = await code { _ = try await hub.update("Thermostat", of: "heating", body: body, by: owner) }
            #expect(heated == .outOfRange)
            let thermostat = try await trait(Matter.ThermostatTrait.self, of: "heating", hub)
            #expect(thermostat.occupiedHeatingSetpoint == 2_000 && thermostat.systemMode == .off)
            try await send(Matter.ThermostatTrait.setpointRaiseLower(mode: .heat, amount: 10), to: "heating", hub)
            #expect(try await trait(Matter.ThermostatTrait.self, of: "heating", hub).occupiedHeatingSetpoint == 2_100)
        }
    }

    @Test func `the state survives a restart`() async throws {
        try await withFolder { path in
            let types: [String: [any DeviceType.Type]] = [
                "speaker": [SpeakerDeviceType.self, DimmableLightDeviceType.self], "lock": [DoorLockDeviceType.self],
            ]
            do {
                let hub = try await makeHub(types, path: path)
                try await send(Matter.OnOffTrait.on(), to: "speaker", endpoint: 2, hub)
                try await send(Matter.DoorLockTrait.unlockDoor { $0.setPinCode(Data("1234".utf8)) }, to: "lock", hub)
            }
            let hub = try await makeHub(types, path: path)
            #expect(try await (hub.trait("OnOff", of: "speaker", endpoint: 1) as? Matter.OnOffTrait)?.onOff == false)
            #expect(try await (hub.trait("OnOff", of: "speaker", endpoint: 2) as? Matter.OnOffTrait)?.onOff == true)
            #expect(try await trait(Matter.DoorLockTrait.self, of: "lock", hub).lockState == .unlocked)
        }
    }

    @Test func `a sensor shows what somebody reports for it`() async throws {
        try await withFolder { path in
            let hub = try await makeHub(["outside": [TemperatureSensorDeviceType.self]], path: path)
            let name = Matter.TemperatureMeasurementTrait.name
            #expect(try await trait(Matter.TemperatureMeasurementTrait.self, of: "outside", hub).measuredValue == nil)
            let body = Data(#"{"measuredValue":2150}"#.utf8)
            await #expect(throws: HomeError.self) {
                _ = try await hub.update(name, of: "outside", body: body, by: owner)
            }
            _ = try await hub.simulate(name, of: "outside", body: body, by: owner)
            #expect(
                try await trait(Matter.TemperatureMeasurementTrait.self, of: "outside", hub).measuredValue == 2_150)
        }
    }

    @Test func `a device lists the commands that it accepts, and refuses the others`() async throws {
        try await withFolder { path in
            let hub = try await makeHub(["lamp": [DimmableLightDeviceType.self]], path: path)
            let level = try await trait(Matter.LevelControlTrait.self, of: "lamp", hub)
            #expect(level.supportsMoveToLevelCommand && !level.supportsMoveToClosestFrequencyCommand)
            do {
                try await send(Matter.LevelControlTrait.moveToClosestFrequency(frequency: 1), to: "lamp", hub)
                Issue.record("it was accepted")
            } catch {
                #expect((error as? HomeError)?.code == .unimplemented)
            }
        }
    }
}
