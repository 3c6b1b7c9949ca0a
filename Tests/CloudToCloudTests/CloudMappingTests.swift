import Foundation
import HomeTypes
import Testing

@testable import CloudToCloud

@Suite struct CloudMappingTests {
    /// Mappings with every form of the data files.
    static let table: CloudTable = {
        let onOff = """
            [{"trait":"OnOff","exceptTypes":["Speaker"],"states":[{"name":"on","from":"onOff"}],"commands":[\
            {"name":"c.OnOff","when":[{"parameter":"on","is":[true]}],"steps":[{"send":"on"}]},\
            {"name":"c.OnOff","when":[{"parameter":"on","is":[false]}],"steps":[{"send":"off"}]}]}]
            """
        let level = """
            [{"trait":"Brightness","attributes":{"commandOnly":false},\
            "states":[{"name":"brightness","from":"currentLevel","convert":{"scale":[0,254,0,100]}}],"commands":[\
            {"name":"c.Absolute","steps":[{"send":"moveToLevel","parameters":{"level":{"from":"brightness",\
            "convert":{"scale":[0,254,0,100]}},"transitionTime":{"value":0}}}]},\
            {"name":"c.Relative","steps":[{"send":"moveToLevel","parameters":{"level":{"from":"percent",\
            "convert":{"scale":[0,254,0,100]},"addTo":"currentLevel"}}}]}]}]
            """
        let color = """
            [{"trait":"Color","computed":[{"name":"range.minK","from":"maxMireds","convert":{"reciprocal":1000000}}],\
            "states":[{"name":"color.temperatureK","from":"mireds","convert":{"reciprocal":1000000},\
            "when":[{"attribute":"mode","is":["ct"]}]},\
            {"name":"color.value","from":"Level.currentLevel","convert":{"scale":[0,254,0,1],"decimals":3}}],\
            "commands":[{"name":"c.Color","steps":[{"send":"moveTo","parameters":{"mireds":{"from":"color.temperature",\
            "convert":{"reciprocal":1000000}}}},{"send":"Missing.go"}]}]}]
            """
        let lock = """
            [{"trait":"Lock","states":[{"name":"isLocked","from":"lockState",\
            "convert":{"names":[["locked",true]],"otherwise":false}}],"commands":[{"name":"c.Lock",\
            "steps":[{"send":"lockDoor","parameters":{"pinCode":{"from":"challenge.pin",\
            "convert":{"text":"utf8"},"optional":true}}}]}]}]
            """
        let fan = """
            [{"trait":"OnOff","unlessTrait":"OnOff","states":[{"name":"on","from":"fanMode",\
            "convert":{"names":[["off",false],["low",true]]}}],"commands":[{"name":"c.Fan","steps":[{"write":{"fanMode":{\
            "from":"speed","convert":{"names":[["off",false],["low",true]]}}}}]}]}]
            """
        let air = """
            [{"trait":"Sensor","attributes":{"supported":[{"name":"CO2"}]},"states":[{"name":"data","item":{"name":"CO2"},\
            "member":"rawValue","from":"measured","convert":{"factor":0.01}}]}]
            """
        let other = """
            [{"trait":"Sensor","attributes":{"supported":[{"name":"PM"}]},"states":[{"name":"data","item":{"name":"PM"},\
            "member":"rawValue","from":"measured"},{"name":"data","item":{"name":"CO2"},"member":"state","value":"good"}]}]
            """
        // Proof: the texts above are constants; a mistake in them ends the test.
        // swift-format-ignore: NeverUseForceTry
        return try! CloudTable(
            traits: [
                "OnOff": onOff, "Level": level, "Color": color, "Lock": lock, "Fan": fan, "Air": air,
                "Particles": other,
            ], types: ["Light": "t.LIGHT"])
    }()

    func endpoint(_ traits: [String: JSONValue], types: [String] = ["Light"]) -> CloudEndpoint {
        CloudEndpoint(id: "d1", name: "Lamp", types: types, traits: traits, isOnline: true)
    }

    static let lamp: [String: JSONValue] = [
        "OnOff": .object(["onOff": .bool(true)]), "Level": .object(["currentLevel": .number(127)]),
        "Color": .object(["mireds": .number(250), "mode": .string("ct"), "maxMireds": .number(500)]),
    ]

    @Test func `states are converted, and written where their names lead`() {
        let states = endpoint(Self.lamp).cloudStates(Self.table)
        #expect(states[path: "on"] == .bool(true))
        #expect(states[path: "brightness"] == .number(50))
        #expect(states[path: "color.temperatureK"] == .number(4_000))
        #expect(states[path: "color.value"] == .number(0.5))
        #expect(states[path: "online"] == .bool(true))
    }

    @Test func `what is null, unsupported or against its condition is left out`() {
        let states = endpoint([
            "OnOff": .object(["onOff": .null]), "Color": .object(["mireds": .number(250), "mode": .string("hs")]),
        ]).cloudStates(Self.table)
        #expect(states == .object(["online": .bool(true)]))
    }

    @Test func `an endpoint that cannot be reached says only that`() {
        var lamp = endpoint(Self.lamp)
        lamp.isOnline = false
        #expect(lamp.cloudStates(Self.table) == .object(["online": .bool(false)]))
    }

    @Test func `mappings depend on the type and on other traits`() {
        let speaker = endpoint(Self.lamp, types: ["Speaker"])
        #expect(speaker.cloudTraits(Self.table) == ["Color", "Brightness"])
        let fan = endpoint(["Fan": .object(["fanMode": .string("low")])])
        #expect(fan.cloudStates(Self.table)[path: "on"] == .bool(true))
        let both = endpoint(["Fan": .object(["fanMode": .string("low")]), "OnOff": .object(["onOff": .bool(false)])])
        #expect(both.cloudStates(Self.table)[path: "on"] == .bool(false))
    }

    @Test func `several traits fill one list, item by item`() {
        let sensor = endpoint([
            "Air": .object(["measured": .number(80_000)]), "Particles": .object(["measured": .number(7)]),
        ])
        #expect(
            sensor.cloudStates(Self.table)[path: "data"]
                == .array([
                    .object(["name": .string("CO2"), "rawValue": .number(800), "state": .string("good")]),
                    .object(["name": .string("PM"), "rawValue": .number(7)]),
                ]))
        #expect(
            sensor.cloudAttributes(Self.table)[path: "supported"]
                == .array([.object(["name": .string("CO2")]), .object(["name": .string("PM")])]))
    }

    @Test func `commands become ours, with their values converted back`() throws {
        let lamp = endpoint(Self.lamp)
        func actions(_ name: String, _ parameters: [String: JSONValue], _ challenge: JSONValue = .null) throws
            -> [CloudAction]
        {
            try lamp.actions(for: name, .object(parameters), challenge: challenge, table: Self.table)
        }
        #expect(
            try actions("c.OnOff", ["on": .bool(false)])
                == [.send(trait: "OnOff", command: "off", parameters: .object([:]))])
        #expect(
            try actions("c.Absolute", ["brightness": .number(50)])
                == [
                    .send(
                        trait: "Level", command: "moveToLevel",
                        parameters: .object(["level": .number(127), "transitionTime": .number(0)]))
                ])
        // A difference is kept in the range of the conversion.
        #expect(
            try actions("c.Relative", ["percent": .number(-90)])
                == [.send(trait: "Level", command: "moveToLevel", parameters: .object(["level": .number(0)]))])
        // The step of a trait that the endpoint does not have is left out.
        #expect(
            try actions("c.Color", ["color": .object(["temperature": .number(2_000)])])
                == [.send(trait: "Color", command: "moveTo", parameters: .object(["mireds": .number(500)]))])
        let lock = endpoint(["Lock": .object(["lockState": .string("unlocked")])])
        #expect(
            try lock.actions(
                for: "c.Lock", .object([:]), challenge: .object(["pin": .string("1234")]), table: Self.table)
                == [.send(trait: "Lock", command: "lockDoor", parameters: .object(["pinCode": .string("MTIzNA==")]))])
        #expect(
            try lock.actions(for: "c.Lock", .object([:]), table: Self.table)
                == [.send(trait: "Lock", command: "lockDoor", parameters: .object([:]))])
        #expect(lock.cloudStates(Self.table)[path: "isLocked"] == .bool(false))
        let fan = endpoint(["Fan": .object(["fanMode": .string("off")])])
        #expect(
            try fan.actions(for: "c.Fan", .object(["speed": .bool(true)]), table: Self.table)
                == [.write(trait: "Fan", attributes: .object(["fanMode": .string("low")]))])
    }

    @Test func `a display gets a stream if it plays WebRTC, or does not say what it plays`() throws {
        let camera = endpoint(["WebRtcLiveView": .object([:])], types: ["GoogleCameraDeviceType"])
        let name = "action.devices.commands.GetCameraStream"
        func actions(_ protocols: [String]) throws -> [CloudAction] {
            try camera.actions(
                for: name, .object(["SupportedStreamProtocols": .array(protocols.map { .string($0) })]))
        }
        #expect(try camera.actions(for: name, .object([:])) == [.cameraStream])
        #expect(try actions(["hls", "webrtc"]) == [.cameraStream])
        #expect { try actions(["hls", "progressive_mp4"]) } throws: { ($0 as? HomeError)?.code == .unimplemented }
    }

    @Test func `what cannot be done says why`() {
        let lamp = endpoint(["Level": .object([:]), "Fan": .object([:])])
        func code(_ name: String, _ parameters: [String: JSONValue]) -> HomeError.Code? {
            do {
                _ = try lamp.actions(for: name, .object(parameters), table: Self.table)
                return nil
            } catch {
                return error.code
            }
        }
        #expect(code("c.Nothing", [:]) == .unimplemented)
        #expect(code("c.Absolute", [:]) == .invalidArgument)
        #expect(code("c.Absolute", ["brightness": .string("x")]) == .outOfRange)
        #expect(code("c.Relative", ["percent": .number(5)]) == .failedPrecondition)
        #expect(code("c.Fan", ["speed": .string("warp")]) == .outOfRange)
    }

    @Test func `SYNC names the device, and identifies it for Matter`() throws {
        var traits = Self.lamp
        traits["BasicInformation"] = .object([
            "vendorName": .string("Maker"), "productName": .string("Lamp 2"), "vendorID": .number(0xFFF1),
            "productID": .number(0x34), "uniqueID": .string("matter-1"), "softwareVersionString": .string("1.2"),
        ])
        var lamp = endpoint(traits)
        lamp.roomName = "Hall"
        let entry = try #require(lamp.cloudDevice(willReportState: true, table: Self.table))
        #expect(entry[path: "type"] == .string("t.LIGHT"))
        #expect(entry[path: "traits"] == .array([.string("Color"), .string("Brightness"), .string("OnOff")]))
        #expect(entry[path: "matterOriginalVendorId"] == .string("0xfff1"))
        #expect(entry[path: "matterOriginalProductId"] == .string("0x0034"))
        #expect(entry[path: "matterUniqueId"] == .string("matter-1"))
        #expect(entry[path: "otherDeviceIds"] == .array([.object(["deviceId": .string("d1")])]))
        #expect(entry[path: "deviceInfo.model"] == .string("Lamp 2"))
        #expect(entry[path: "attributes.range.minK"] == .number(2_000))
        #expect(entry[path: "roomHint"] == .string("Hall"))
        #expect(entry[path: "willReportState"] == .bool(true))
        // A device of a type that the cloud does not have is not listed.
        #expect(endpoint(Self.lamp, types: ["Root"]).cloudDevice(willReportState: true, table: Self.table) == nil)
    }

    @Test func `the mappings of the vocabulary can be read`() throws {
        #expect(throws: Never.self) {
            try CloudTable(traits: CloudMappings.traits, types: CloudMappings.types)
        }
    }
}
