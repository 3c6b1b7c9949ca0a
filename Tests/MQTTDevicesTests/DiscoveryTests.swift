import Foundation
import HomeTypes
import Testing
import Transport

@testable import MQTTDevices

/// Descriptions as Tasmota, ESPHome and others publish them for Home Assistant.
@Suite struct DiscoveryTests {
    static let espLight = """
        {"schema":"json","brightness":true,"color_mode":true,"supported_color_modes":["rgb","color_temp"],
        "min_mireds":153,"max_mireds":500,"name":"Ceiling","stat_t":"esp/light/ceiling/state",
        "cmd_t":"esp/light/ceiling/command","avty_t":"esp/status","uniq_id":"ESPlightceiling",
        "dev":{"ids":"a4cf12","name":"esp","sw":"2024.6.0","mdl":"nodemcuv2","mf":"espressif"}}
        """
    static let tasmotaSwitch = """
        {"name":null,"~":"tele/plug/","stat_t":"stat/plug/RESULT","val_tpl":"{{value_json.POWER}}","cmd_t":"cmnd/plug/POWER",
        "pl_off":"OFF","pl_on":"ON","avty_t":"~LWT","pl_avail":"Online","pl_not_avail":"Offline","uniq_id":"3B2A1C_RL_1",
        "dev":{"ids":["3B2A1C"],"name":"Plug","mf":"Sonoff","mdl":"Basic","sw":"13.4.0(tasmota)"}}
        """

    @Test func `a light with colours becomes an extended colour light`() throws {
        var table = HomeOnTable()
        table.receive("homeassistant/light/esp/ceiling/config", Self.espLight, isRetained: true)
        #expect(table.takeReports().isEmpty, "its other parts may follow")
        #expect(table.subscriptions.isSuperset(of: ["esp/light/ceiling/state", "esp/status"]))
        table.settle()
        let device = try #require(table.devices.first)
        #expect(device.key == "a4cf12")
        #expect(device.name == "esp")
        #expect(device.product.vendorName == "espressif")
        #expect(device.product.softwareVersion == "2024.6.0")
        #expect(device.endpoints.map(\.types) == [["ExtendedColorLightDeviceType"]])
        #expect(device.endpoints[0].isReachable == nil, "it has not said yet that it is there")

        table.receive("esp/status", "online", isRetained: true)
        #expect(table.takeReports().last == .reachability(key: "a4cf12", endpoint: 1, isReachable: true))
        table.receive(
            "esp/light/ceiling/state",
            #"{"state":"ON","color_mode":"rgb","brightness":128,"color":{"r":255,"g":0,"b":0}}"#)
        let values = table.values("a4cf12")
        #expect(values["OnOff", "onOff"] == true)
        #expect(values["LevelControl", "currentLevel"] == 127)
        #expect(values["ColorControl", "currentHue"] == 0)
        #expect(values["ColorControl", "currentSaturation"] == 254)
        table.receive("esp/light/ceiling/state", #"{"state":"ON","color_mode":"color_temp","color_temp":250}"#)
        #expect(table.values("a4cf12")["ColorControl", "colorTemperatureMireds"] == 250)
        #expect(table.values("a4cf12")["ColorControl", "colorMode"] == "colorTemperatureMireds")
    }

    @Test func `commands of a light become its messages`() throws {
        var table = HomeOnTable()
        table.receive("homeassistant/light/esp/ceiling/config", Self.espLight)
        table.settle()
        #expect(try table.perform("a4cf12", "OnOff", "on") == [#"esp/light/ceiling/command {"state":"ON"}"#])
        #expect(
            try table.perform("a4cf12", "LevelControl", "moveToLevelWithOnOff", ["level": 127, "transitionTime": 20])
                == [#"esp/light/ceiling/command {"brightness":128,"state":"ON","transition":2}"#])
        #expect(
            try table.perform("a4cf12", "ColorControl", "moveToHueAndSaturation", ["hue": 85, "saturation": 254])
                == [#"esp/light/ceiling/command {"color":{"b":2,"g":255,"r":0},"state":"ON"}"#])
        #expect(
            try table.perform("a4cf12", "ColorControl", "moveToColorTemperature", ["colorTemperatureMireds": 900])
                == [#"esp/light/ceiling/command {"color_temp":500,"state":"ON"}"#])
        #expect(throws: HomeError.self) { try table.perform("a4cf12", "OnOff", "toggle") }
        table.receive("esp/light/ceiling/state", #"{"state":"OFF"}"#)
        #expect(try table.perform("a4cf12", "OnOff", "toggle") == [#"esp/light/ceiling/command {"state":"ON"}"#])
        let error = #expect(throws: HomeError.self) {
            try table.perform("a4cf12", "LevelControl", "moveToLevelWithOnOff", ["level": 300])
        }
        #expect(error?.code == .outOfRange)
        #expect(table.values("a4cf12")["OnOff", "onOff"] == false, "only the light says what it does")
    }

    @Test func `a socket reports and is switched by its own words`() throws {
        var table = HomeOnTable()
        table.receive("homeassistant/switch/3B2A1C_RL_1/config", Self.tasmotaSwitch)
        table.settle()
        #expect(table.subscriptions.contains("tele/plug/LWT"))
        #expect(table.devices.first?.endpoints.map(\.types) == [["OnOffPluginUnitDeviceType"]])
        table.receive("stat/plug/RESULT", #"{"POWER":"ON"}"#)
        #expect(table.values("3B2A1C")["OnOff", "onOff"] == true)
        table.receive("stat/plug/RESULT", #"{"Wifi":{"RSSI":70}}"#)
        #expect(table.home.counts.unreadable == 0, "a message about something else is not a problem")
        #expect(try table.perform("3B2A1C", "OnOff", "off") == ["cmnd/plug/POWER OFF"])
        table.receive("tele/plug/LWT", "Offline")
        let error = #expect(throws: HomeError.self) { try table.perform("3B2A1C", "OnOff", "on") }
        #expect(error?.code == .unavailable)
    }

    @Test func `the entities of one device become its parts, the most important one first`() throws {
        var table = HomeOnTable()
        let device = #""dev":{"ids":["x1"],"name":"Hall"}"#
        table.receive(
            "homeassistant/sensor/x1/t/config",
            #"{"dev_cla":"temperature","stat_t":"x/s","val_tpl":"{{value_json.t}}","uniq_id":"x1t",\#(device)}"#)
        table.receive(
            "homeassistant/sensor/x1/b/config",
            #"{"dev_cla":"battery","stat_t":"x/s","val_tpl":"{{value_json.b}}","uniq_id":"x1b",\#(device)}"#)
        table.receive(
            "homeassistant/binary_sensor/x1/m/config",
            #"{"dev_cla":"motion","stat_t":"x/s","val_tpl":"{{value_json.m}}","pl_on":true,"pl_off":false,"uniq_id":"x1m",\#(device)}"#
        )
        table.receive(
            "homeassistant/switch/x1/r/config",
            #"{"stat_t":"x/s","cmd_t":"x/set","val_tpl":"{{value_json.r}}","uniq_id":"x1r",\#(device)}"#)
        table.receive(
            "homeassistant/sensor/x1/p/config", #"{"dev_cla":"pressure","stat_t":"x/s","uniq_id":"x1p",\#(device)}"#)
        table.settle()
        let found = try #require(table.devices.first)
        #expect(table.devices.count == 1)
        #expect(
            found.endpoints.map(\.types) == [
                ["OnOffPluginUnitDeviceType"], ["MotionSensorDeviceType"], ["TemperatureSensorDeviceType"],
            ])
        #expect(found.endpoints[0].values.traits["ExtendedPowerSource"] != nil)
        #expect(table.home.counts.ignored == ["sensor (pressure)": 1])
        table.receive("x/s", #"{"t":-3.25,"b":50,"m":true,"r":"OFF"}"#)
        #expect(table.values("x1", 3)["TemperatureMeasurement", "measuredValue"] == -325)
        #expect(table.values("x1", 1)["ExtendedPowerSource", "batPercentRemaining"] == 100)
        #expect(table.values("x1", 2)["OccupancySensing", "occupancy"] == 1)
        #expect(table.values("x1", 1)["OnOff", "onOff"] == false)
    }

    @Test func `a message for a whole device describes all of its parts`() throws {
        var table = HomeOnTable()
        let message = """
            {"dev":{"ids":"0AFFD2","name":"Kitchen","mf":"Bla","mdl":"xya","sw":"1.0","sn":"ea334450945afc","hw":"1.0rev2"},
            "o":{"name":"bla2mqtt","sw":"2.1"},"state_topic":"sensorBedroom/state","qos":2,
            "cmps":{"t":{"p":"sensor","device_class":"temperature","unit_of_measurement":"°F",
            "value_template":"{{ value_json.temperature}}","unique_id":"temp01ae_t"},
            "h":{"p":"sensor","device_class":"humidity","value_template":"{{ value_json.humidity}}","unique_id":"temp01ae_h"},
            "gone":{"p":"sensor"}}}
            """
        table.receive("homeassistant/device/0AFFD2/config", message)
        table.settle()
        let device = try #require(table.devices.first)
        #expect(device.endpoints.count == 2)
        #expect(device.product.serialNumber == "ea334450945afc")
        table.receive("sensorBedroom/state", #"{"temperature":68,"humidity":43.5}"#)
        #expect(table.values("0AFFD2", 1)["TemperatureMeasurement", "measuredValue"] == 2_000)
        #expect(table.values("0AFFD2", 2)["RelativeHumidityMeasurement", "measuredValue"] == 4_350)
        #expect(table.home.counts.refused.isEmpty)
    }

    @Test func `one change is reported once, however often it is sent`() {
        var table = HomeOnTable()
        table.receive("homeassistant/switch/a/config", Self.tasmotaSwitch)
        table.settle()
        _ = table.takeReports()
        for _ in 0..<3 { table.receive("stat/plug/RESULT", #"{"POWER":"ON"}"#) }
        table.receive("stat/plug/RESULT", #"{"POWER":"ON"}"#, isRetained: true)
        #expect(table.takeReports() == [.values(key: "3B2A1C", endpoint: 1, TraitValues("OnOff", ["onOff": true]))])
        for _ in 0..<3 { table.receive("homeassistant/switch/a/config", Self.tasmotaSwitch) }
        table.settle()
        #expect(table.takeReports().isEmpty)
    }

    @Test func `a device stays the same through rediscovery and new names, and leaves with its description`() throws {
        var table = HomeOnTable()
        table.receive("homeassistant/switch/a/config", Self.tasmotaSwitch)
        table.settle()
        table.receive("stat/plug/RESULT", #"{"POWER":"ON"}"#)
        table.receive(
            "homeassistant/switch/a/config",
            Self.tasmotaSwitch.replacingOccurrences(of: "plug", with: "socket").replacingOccurrences(
                of: "Plug", with: "Socket"))
        table.settle()
        #expect(table.devices.map(\.key) == ["3B2A1C"])
        #expect(table.devices.first?.name == "Socket")
        #expect(table.values("3B2A1C")["OnOff", "onOff"] == true, "what is known stays")
        #expect(!table.subscriptions.contains("stat/plug/RESULT"))
        #expect(table.subscriptions.contains("stat/socket/RESULT"))
        table.receive("homeassistant/switch/a/config", "")
        table.settle()
        #expect(table.takeReports().last == .removed(key: "3B2A1C"))
        #expect(table.subscriptions == table.home.allSubscriptions)
        table.receive("stat/socket/RESULT", #"{"POWER":"OFF"}"#)
        #expect(table.takeReports().isEmpty, "a late message does nothing")
        table.receive("homeassistant/switch/a/config", Self.tasmotaSwitch)
        table.settle()
        #expect(table.devices.map(\.key) == ["3B2A1C"])
        #expect(table.devices.first?.endpoints.map(\.number) == [1])
    }

    @Test func `a device stays when its description does not come again, and is new once it was forgotten`() {
        var table = HomeOnTable()
        func describe(_ topic: String, over connection: UInt64) {
            let payload = Data(Self.tasmotaSwitch.utf8)
            table.take(
                table.home.handle(
                    .init(topic: "homeassistant/switch/\(topic)/config", payload: payload, connection: connection),
                    at: table.now))
        }
        describe("a", over: 1)
        table.settle()
        let device = table.devices
        #expect(device.map(\.key) == ["3B2A1C"])
        #expect(table.home.isDescribed("3B2A1C", over: 1))
        table.connectionChanged(isConnected: false)
        table.connectionChanged(isConnected: true)
        table.settle()
        #expect(table.devices == device)
        #expect(!table.home.isDescribed("3B2A1C", over: 2))
        describe("a", over: 2)
        #expect(table.home.isDescribed("3B2A1C", over: 2))
        #expect(!table.home.isDescribed("unknown", over: 2))
        _ = table.takeReports()
        table.take(table.home.forget("3B2A1C", at: table.now))
        #expect(table.takeReports() == [.removed(key: "3B2A1C")])
        #expect(table.subscriptions == table.home.allSubscriptions)
        #expect(table.home.describedBytes == 0)
        table.settle()
        describe("a", over: 2)
        table.settle()
        #expect(table.takeReports() == device.map(MQTTDeviceReport.described))
    }

    @Test func `a doorbell rings once for each press, and never for what the broker kept`() {
        var table = HomeOnTable()
        let config =
            #"{"dev_cla":"doorbell","evt_typ":["press","hold"],"stat_t":"bell","uniq_id":"bell1","name":"Bell"}"#
        table.receive("homeassistant/event/bell/config", config)
        table.settle()
        let key = "entity:event.bell1"
        #expect(table.devices.map(\.key) == [key])
        _ = table.takeReports()
        table.receive("bell", #"{"event_type":"press"}"#, isRetained: true)
        table.receive("bell", #"{"event_type":"hold"}"#)
        #expect(table.takeReports().isEmpty)
        table.receive("bell", #"{"event_type":"press"}"#)
        table.receive("bell", #"{"event_type":"press"}"#)
        #expect(table.takeReports() == [.event(key: key, endpoint: 1, .doorbellPressed)])
        table.now += .seconds(2)
        table.receive("bell", #"{"event_type":"press"}"#)
        #expect(table.takeReports() == [.event(key: key, endpoint: 1, .doorbellPressed)])
    }

    @Test func `a tracker says whether its person is at home, once for each change`() {
        var table = HomeOnTable()
        table.receive(
            "homeassistant/device_tracker/anna/config",
            #"{"stat_t":"presence/anna","name":"Anna","pl_home":"here","pl_not_home":"away"}"#)
        for payload in ["here", "here", "Work", "away", "None", "here"] { table.receive("presence/anna", payload) }
        let anna = MQTTTracker(id: "device_tracker.device_tracker/anna", name: "Anna", topic: "presence/anna")
        #expect(
            table.takeReports() == [
                .tracker(anna), .presence(anna, isHome: true), .presence(anna, isHome: false),
                .presence(anna, isHome: true),
            ])
    }

    @Test func `a tracker that moves to another topic is not heard at the old one, and leaves with its description`() {
        var table = HomeOnTable()
        func describe(_ topic: String) {
            table.receive(
                "homeassistant/device_tracker/anna/config", #"{"stat_t":"\#(topic)","name":"Anna","uniq_id":"anna"}"#)
        }
        describe("presence/old")
        table.receive("presence/old", "home")
        describe("presence/new")
        let (old, new) = (
            MQTTTracker(id: "anna", name: "Anna", topic: "presence/old"),
            MQTTTracker(id: "anna", name: "Anna", topic: "presence/new")
        )
        #expect(
            table.takeReports() == [.tracker(old), .presence(old, isHome: true), .trackerRemoved(old), .tracker(new)])
        table.receive("presence/old", "not_home")
        #expect(table.takeReports().isEmpty)
        table.receive("presence/new", "not_home")
        table.receive("homeassistant/device_tracker/anna/config", "")
        #expect(table.takeReports() == [.presence(new, isHome: false), .trackerRemoved(new)])
    }

    @Test func `a tracker that is described again stays where it was`() {
        var table = HomeOnTable()
        func describe(_ name: String, _ version: String) {
            table.receive(
                "homeassistant/device_tracker/anna/config",
                #"{"stat_t":"presence","name":"\#(name)","uniq_id":"anna","dev":{"ids":["p"],"sw":"\#(version)"}}"#)
        }
        describe("Anna", "1")
        table.receive("presence", "home")
        let (anna, renamed) = (
            MQTTTracker(id: "anna", name: "Anna", topic: "presence"),
            MQTTTracker(id: "anna", name: "Anna's phone", topic: "presence")
        )
        #expect(table.takeReports() == [.tracker(anna), .presence(anna, isHome: true)])
        describe("Anna", "2")
        #expect(table.subscriptions.contains("presence"))
        table.receive("presence", "home")
        #expect(table.takeReports() == [.tracker(anna)])
        // Where each tracker is a person, that is another one. The next message says where.
        describe("Anna's phone", "2")
        table.receive("presence", "home")
        #expect(table.takeReports() == [.tracker(renamed), .presence(renamed, isHome: true)])
    }

    @Test func `a device of an earlier run is the same one, whichever of its identifiers comes first`() {
        var table = HomeOnTable()
        table.home = MQTTHome(keys: ["mac:1": "plug", "plug": "plug"])
        table.receive(
            "homeassistant/switch/plug/config",
            #"{"cmd_t":"c","uniq_id":"p","dev":{"ids":["mac:1","other"],"name":"Plug"}}"#)
        table.settle()
        #expect(table.devices.map(\.key) == ["plug"])
        #expect(table.devices.first?.identifiers == ["mac:1", "other"])
    }

    @Test func `a device leaves when its description is removed at once after it came with a new connection`() {
        let plug = #"{"cmd_t":"c","uniq_id":"p","dev":{"ids":"plug"}}"#
        func reports(_ table: inout HomeOnTable) -> [MQTTDeviceReport] {
            table.connectionChanged(isConnected: false)
            table.connectionChanged(isConnected: true)
            _ = table.takeReports()
            table.receive("homeassistant/switch/plug/config", plug, isRetained: true)
            table.receive("homeassistant/switch/plug/config", "")
            table.settle()
            return table.takeReports()
        }
        var table = HomeOnTable()
        table.receive("homeassistant/switch/plug/config", plug)
        table.settle()
        #expect(reports(&table) == [.removed(key: "plug")])
        #expect(reports(&table).isEmpty, "the home does not have it any more")
        // The home has it from an earlier run.
        table.home = MQTTHome(keys: ["plug": "plug"])
        #expect(reports(&table) == [.removed(key: "plug")])
        #expect(reports(&table).isEmpty)
    }

    @Test func `a device that is gone is forgotten with all identifiers of earlier runs`() {
        var table = HomeOnTable()
        table.home = MQTTHome(keys: ["mac:1": "plug", "mac:2": "plug", "plug": "plug", "lamp": "lamp"])
        table.receive("homeassistant/switch/plug/config", #"{"cmd_t":"c","uniq_id":"p","dev":{"ids":["mac:1","new"]}}"#)
        table.settle()
        table.receive("homeassistant/switch/plug/config", "")
        table.settle()
        #expect(table.devices.isEmpty)
        #expect(table.home.keys == ["lamp": "lamp"])
    }

    @Test(arguments: ["", #"{"cmd_t":"c","uniq_id":"other","dev":{"ids":"other"}}"#])
    func `what has moved to other topics stays when the old ones are cleared or describe something else`(
        last: String
    ) {
        var table = HomeOnTable()
        let plug = #"{"cmd_t":"c","stat_t":"s","uniq_id":"plug","dev":{"ids":"plug"}}"#
        let phone = #"{"stat_t":"p","uniq_id":"phone","name":"Phone"}"#
        for topic in ["old", "new"] {
            table.receive("homeassistant/switch/\(topic)/config", plug)
            table.receive("homeassistant/device_tracker/\(topic)/config", phone)
        }
        table.settle()
        table.receive("homeassistant/switch/old/config", last)
        table.receive("homeassistant/device_tracker/old/config", "")
        table.settle()
        #expect(table.devices.contains { $0.key == "plug" })
        #expect(table.home.trackers.count == 1)
        table.receive("s", "ON")
        #expect(table.values("plug")["OnOff", "onOff"] == true)
        for topic in ["old", "new"] {
            table.receive("homeassistant/switch/\(topic)/config", "")
            table.receive("homeassistant/device_tracker/\(topic)/config", "")
        }
        table.settle()
        #expect(table.devices.isEmpty)
        #expect(table.home.trackers.isEmpty)
        #expect(table.home.describedBytes == 0)
        #expect(table.subscriptions == HomeOnTable().subscriptions)
    }

    @Test func `every device settles at a deadline, however the descriptions overlap`() {
        var table = HomeOnTable()
        for number in 0..<40 {
            let device = number % 4
            table.receive(
                "homeassistant/switch/\(device)/config",
                #"{"cmd_t":"c\#(number)","uniq_id":"u\#(device)","dev":{"ids":"d\#(device)"}}"#)
            table.now += .milliseconds(20 * device)
        }
        for _ in 0..<20 {
            guard let deadline = table.home.nextDeadline else { break }
            table.now = max(table.now, deadline)
            table.take(table.home.handleDeadline(at: table.now))
        }
        #expect(table.home.nextDeadline == nil)
        #expect(table.devices.map(\.key) == ["d0", "d1", "d2", "d3"])
    }

    @Test func `without a broker nothing can be reached`() {
        var table = HomeOnTable()
        table.receive(
            "homeassistant/switch/a/config", Self.tasmotaSwitch.replacingOccurrences(of: "avty_t", with: "note"))
        table.settle()
        #expect(table.devices.first?.endpoints.first?.isReachable == true)
        table.connectionChanged(isConnected: false)
        #expect(table.takeReports().last == .reachability(key: "3B2A1C", endpoint: 1, isReachable: false))
        let error = #expect(throws: HomeError.self) { try table.perform("3B2A1C", "OnOff", "on") }
        #expect(error?.code == .unavailable)
        table.connectionChanged(isConnected: true)
        #expect(table.takeReports() == [.reachability(key: "3B2A1C", endpoint: 1, isReachable: true)])
    }

    @Test(arguments: [
        ("homeassistant/switch/a/config", "not json"), ("homeassistant/switch/a/config", "[1]"),
        ("homeassistant/switch/a/config", #"{"stat_t":"a"}"#), ("homeassistant/switch/a/config", #"{"cmd_t":"a/#"}"#),
        ("homeassistant/switch/a/config", #"{"cmd_t":"a","val_tpl":"{{ now() }}","stat_t":"b"}"#),
        ("homeassistant/light/a/config", #"{"cmd_t":"a","schema":"template"}"#),
        ("homeassistant/light/a/config", #"{"cmd_t":"a","bri_cmd_t":"b","bri_scl":0}"#),
        ("homeassistant/cover/a/config", #"{"set_pos_t":"a","pos_open":5,"pos_clsd":5}"#),
        ("homeassistant/fan/a/config", #"{"cmd_t":"a","spd_rng_min":9,"spd_rng_max":3}"#),
        ("homeassistant/climate/a/config", #"{"temp_cmd_t":"a","min_temp":30,"max_temp":10}"#),
        ("homeassistant/device/a/config", #"{"cmps":{"x":{"name":"no platform"}}}"#),
        ("zigbee2mqtt/bridge/devices", "{}"),
        (
            "zigbee2mqtt/bridge/devices",
            #"[{"type":"Router","ieee_address":"0x1","friendly_name":"a/#","definition":{"exposes":[]}}]"#
        ),
    ])
    func `a description that cannot be used is refused with its reason`(topic: String, payload: String) {
        var table = HomeOnTable()
        table.receive(topic, payload)
        table.settle()
        #expect(table.takeReports().isEmpty)
        #expect(table.home.counts.refused.map(\.topic) == [topic])
        table.receive(topic, "")
        #expect(table.home.counts.refused.isEmpty)
    }

    @Test func `a broker full of descriptions does not fill the memory`() {
        var table = HomeOnTable()
        for number in 0..<20_000 {
            table.receive("homeassistant/switch/n\(number)/config", #"{"cmd_t":"c"}"#)
        }
        #expect(table.home.entities.count < 17_000)
        #expect(table.home.counts.refusals > 3_000)
        #expect(table.home.counts.refused.count == MQTTCounts.kept)
    }

    @Test func `what the gateway publishes itself does not come back as a device`() {
        var table = HomeOnTable()
        table.receive(
            "homeassistant/switch/a/config", Self.tasmotaSwitch.replacingOccurrences(of: "3B2A1C", with: "gatehouse_1"))
        table.settle()
        #expect(table.takeReports().isEmpty)
    }
}
