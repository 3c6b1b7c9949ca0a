import CloudToCloud
import ExampleOrganization
import Foundation
import HomeFakes
import HomeHub
import HomeTypes
import Testing

/// The fulfilment over virtual devices: what the cloud sends, and what it sees afterwards.
@Suite struct CloudFulfilmentTests {
    /// One command of EXECUTE for a virtual device.
    struct Row: Sendable, CustomTestStringConvertible {
        var type: any DeviceType.Type
        var command: String
        var parameters: String
        /// States that EXECUTE and a later QUERY show, by their paths, as JSON.
        var expected: [String: String]

        var testDescription: String { "\(type.name) \(command) \(parameters)" }

        init(_ type: any DeviceType.Type, _ command: String, _ parameters: String, _ expected: [String: String]) {
            self.type = type
            self.command = "action.devices.commands.\(command)"
            self.parameters = parameters
            self.expected = expected
        }
    }

    static let rows: [Row] = [
        Row(OnOffLightDeviceType.self, "OnOff", #"{"on":true}"#, ["on": "true"]),
        Row(OnOffLightDeviceType.self, "OnOff", #"{"on":false}"#, ["on": "false"]),
        Row(OnOffPluginUnitDeviceType.self, "OnOff", #"{"on":true}"#, ["on": "true"]),
        Row(FanDeviceType.self, "OnOff", #"{"on":true}"#, ["on": "true"]),
        Row(DimmableLightDeviceType.self, "BrightnessAbsolute", #"{"brightness":40}"#, ["brightness": "40"]),
        Row(ColorTemperatureLightDeviceType.self, "BrightnessAbsolute", #"{"brightness":1}"#, ["brightness": "1"]),
        Row(
            ExtendedColorLightDeviceType.self, "ColorAbsolute", #"{"color":{"temperature":4000}}"#,
            ["color.temperatureK": "4000"]),
        Row(SpeakerDeviceType.self, "setVolume", #"{"volumeLevel":30}"#, ["currentVolume": "30"]),
        Row(SpeakerDeviceType.self, "mute", #"{"mute":true}"#, ["isMuted": "true"]),
        Row(FanDeviceType.self, "SetFanSpeed", #"{"fanSpeedPercent":60}"#, ["currentFanSpeedPercent": "60"]),
        Row(DoorLockDeviceType.self, "LockUnlock", #"{"lock":true}"#, ["isLocked": "true"]),
        Row(DoorLockDeviceType.self, "LockUnlock", #"{"lock":false}"#, ["isLocked": "false"]),
        Row(WindowCoveringDeviceType.self, "OpenClose", #"{"openPercent":0}"#, ["openPercent": "0"]),
        Row(WindowCoveringDeviceType.self, "OpenClose", #"{"openPercent":30}"#, ["openPercent": "30"]),
        Row(
            ThermostatDeviceType.self, "ThermostatSetMode", #"{"thermostatMode":"heat"}"#,
            ["thermostatMode": #""heat""#]),
    ]

    /// A home of one virtual device.
    func home(_ types: [any DeviceType.Type]) async throws -> HomeHub {
        let hub = HomeHub(devices: [], drivers: [], signalling: FakeLiveView().services)
        let device = try VirtualDevice(id: "d1", name: "Thing", types: types, store: MemorySharedStore())
        await hub.setDevices([device.description()], drivers: [device], of: .virtual)
        return hub
    }

    func ask(
        _ hub: HomeHub, _ intent: String, _ payload: String, access: Access = .everything
    ) async throws -> JSONValue {
        let text = #"{"requestId":"r","inputs":[{"intent":"action.devices.\#(intent)","payload":\#(payload)}]}"#
        let fulfilment = CloudFulfilment(
            hub, caller: Caller(principal: "cloud", access: access), willReportState: false
        ) { device in .object(["stream": .string(device)]) }
        return await fulfilment.answer(try CloudRequest(json: Data(text.utf8)), user: "u")
    }

    func execute(
        _ hub: HomeHub, _ command: String, _ parameters: String, on id: String = "d1", access: Access = .everything
    ) async throws -> JSONValue {
        let answer = try await ask(
            hub, "EXECUTE",
            #"{"commands":[{"devices":[{"id":"\#(id)"}],"execution":[{"command":"\#(command)","params":\#(parameters)}]}]}"#,
            access: access)
        guard case .array(let commands)? = answer[path: "payload.commands"], let first = commands.first else {
            return .null
        }
        return first
    }

    func json(_ text: String) throws -> JSONValue { try JSONDecoder().decode(JSONValue.self, from: Data(text.utf8)) }

    @Test(arguments: rows) func `EXECUTE does what it says, and QUERY shows it`(row: Row) async throws {
        let hub = try await home([row.type])
        let result = try await execute(hub, row.command, row.parameters)
        #expect(result[path: "status"] == .string("SUCCESS"), "\(result)")
        let query = try await ask(hub, "QUERY", #"{"devices":[{"id":"d1"}]}"#)
        for (path, text) in row.expected {
            let expected = try json(text)
            #expect(result[path: "states.\(path)"] == expected, "\(result)")
            #expect(query[path: "payload.devices.d1.\(path)"] == expected, "\(query)")
        }
    }

    @Test func `every type of the cloud is listed with traits and attributes, and answers QUERY`() async throws {
        for name in CloudTable.standard.types.keys.sorted() {
            let type = try #require(Vocabulary.deviceType(named: name))
            guard DeviceKind(rawValue: name) == nil else { continue }
            let hub = try await home([type])
            let endpoints = await hub.devices().flatMap { CloudEndpoint.all(of: $0) }
            // Without a trait that the cloud knows, the device is not listed.
            guard let endpoint = endpoints.first else { continue }
            let entry = try #require(endpoint.cloudDevice(willReportState: false))
            #expect(entry[path: "type"]?.string?.hasPrefix("action.devices.types.") == true)
            let query = try await ask(hub, "QUERY", #"{"devices":[{"id":"d1"}]}"#)
            #expect(query[path: "payload.devices.d1.status"] == .string("SUCCESS"), "\(name): \(query)")
        }
    }

    @Test func `each endpoint with a type is a device, and EXECUTE follows it`() async throws {
        let hub = try await home([SpeakerDeviceType.self, DimmableLightDeviceType.self])
        let sync = try await ask(hub, "SYNC", "{}")
        guard case .array(let devices)? = sync[path: "payload.devices"] else {
            Issue.record("SYNC has no list of devices")
            return
        }
        #expect(devices.map { $0[path: "id"]?.string } == ["d1", "d1-2"])
        #expect(
            devices.map { $0[path: "type"]?.string } == ["action.devices.types.SPEAKER", "action.devices.types.LIGHT"])
        #expect(devices.map { $0[path: "name.name"]?.string } == ["Thing", "Thing dimmable light"])
        // Both have the other one and the device in the home as other ids, and the same Matter device.
        #expect(devices[0][path: "otherDeviceIds"] == (try json(#"[{"deviceId":"d1"},{"deviceId":"d1-2"}]"#)))
        #expect(devices[1][path: "otherDeviceIds"] == (try json(#"[{"deviceId":"d1"}]"#)))
        #expect(devices.map { $0[path: "matterUniqueId"]?.string } == ["d1", "d1"])
        #expect(devices[1][path: "deviceInfo.model"] == .string("Virtual device"))
        #expect(devices[1][path: "matterOriginalVendorId"] == .string("0xfff1"))

        let volume = try await execute(hub, "action.devices.commands.setVolume", #"{"volumeLevel":20}"#)
        #expect(volume[path: "states.currentVolume"] == .number(20), "\(volume)")
        let brightness = try await execute(
            hub, "action.devices.commands.BrightnessAbsolute", #"{"brightness":70}"#, on: "d1-2")
        #expect(brightness[path: "states.brightness"] == .number(70), "\(brightness)")
        let query = try await ask(hub, "QUERY", #"{"devices":[{"id":"d1"},{"id":"d1-2"},{"id":"d1-3"},{"id":"d2-2"}]}"#)
        #expect(query[path: "payload.devices.d1.currentVolume"] == .number(20))
        #expect(query[path: "payload.devices.d1-2.brightness"] == .number(70))
        for id in ["d1-3", "d2-2"] {
            #expect(query[path: "payload.devices.\(id).errorCode"] == .string("deviceNotFound"))
        }
        // The loudspeaker has no brightness, though the device has.
        let wrong = try await execute(hub, "action.devices.commands.BrightnessAbsolute", #"{"brightness":70}"#)
        #expect(wrong[path: "errorCode"] == .string("functionNotSupported"))
    }

    @Test(arguments: [
        ("action.devices.commands.Fly", "{}", "functionNotSupported"),
        ("action.devices.commands.OnOff", "{}", "functionNotSupported"),
        ("action.devices.commands.OnOff", #"{"on":"yes"}"#, "functionNotSupported"),
        ("action.devices.commands.BrightnessAbsolute", "{}", "valueOutOfRange"),
        ("action.devices.commands.BrightnessAbsolute", #"{"brightness":"bright"}"#, "valueOutOfRange"),
    ])
    func `a command that makes no sense changes nothing`(command: String, parameters: String, code: String) async throws
    {
        let hub = try await home([DimmableLightDeviceType.self])
        let before = try await ask(hub, "QUERY", #"{"devices":[{"id":"d1"}]}"#)
        let result = try await execute(hub, command, parameters)
        #expect(result[path: "errorCode"] == .string(code))
        #expect(try await ask(hub, "QUERY", #"{"devices":[{"id":"d1"}]}"#) == before)
    }

    @Test func `an account that may only read controls nothing, and one without the device does not find it`()
        async throws
    {
        let hub = try await home([OnOffLightDeviceType.self])
        let on = (command: "action.devices.commands.OnOff", parameters: #"{"on":true}"#)
        let reader = Access([.init([.read], deviceID: "d1")])
        let result = try await execute(hub, on.command, on.parameters, access: reader)
        #expect(result[path: "errorCode"] == .string("authFailure"))
        let other = Access([.init([.read, .control], deviceID: "d2")])
        let hidden = try await execute(hub, on.command, on.parameters, access: other)
        #expect(hidden[path: "errorCode"] == .string("deviceNotFound"))
        let sync = try await ask(hub, "SYNC", "{}", access: other)
        #expect(sync[path: "payload.devices"] == .array([]))
    }

    @Test func `a vendor's traits are mapped once they are registered`() async throws {
        ExampleOrganization.register()
        let table = CloudTable.standard
        #expect(table.types["SpinnerDeviceType"] == "action.devices.types.FAN")
        #expect(table.types["OnOffLightDeviceType"] == "action.devices.types.LIGHT")
        let spinner = CloudEndpoint(
            id: "s", name: "Spinner", types: ["SpinnerDeviceType"],
            traits: ["ExampleOrganization.Spinner": .object(["rpm": .number(6_000)])], isOnline: true)
        #expect(spinner.cloudStates()[path: "currentFanSpeedPercent"] == .number(50))
        #expect(
            try spinner.actions(
                for: "action.devices.commands.SetFanSpeed", .object(["fanSpeedPercent": .number(25)]))
                == [
                    .send(
                        trait: "ExampleOrganization.Spinner", command: "spin",
                        parameters: .object(["rpm": .number(3_000)]))
                ])
    }
}
