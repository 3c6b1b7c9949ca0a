import Foundation
import HomeTypes
import Testing

@testable import MQTTDevices

/// Devices as Zigbee2MQTT describes them.
@Suite struct ZigbeeTests {
    static let list = """
        [{"ieee_address":"0x00124b0000000001","type":"Coordinator","friendly_name":"Coordinator","definition":null},
        {"ieee_address":"0x000d6ffffe000001","type":"Router","friendly_name":"living/bulb","software_build_id":"2.3.087",
        "definition":{"model":"LED1624G9","vendor":"IKEA","exposes":[{"type":"light","features":[
        {"type":"binary","name":"state","property":"state","value_on":"ON","value_off":"OFF","access":7},
        {"type":"numeric","name":"brightness","property":"brightness","value_min":0,"value_max":254,"access":7},
        {"type":"numeric","name":"color_temp","property":"color_temp","value_min":250,"value_max":454,"access":7},
        {"type":"composite","name":"color_xy","property":"color","access":7}]},
        {"type":"numeric","name":"linkquality","property":"linkquality","access":1}]}},
        {"ieee_address":"0x00158d0000000002","type":"EndDevice","friendly_name":"door","definition":{"model":"MCCGQ11LM",
        "vendor":"Aqara","exposes":[
        {"type":"binary","name":"contact","property":"contact","value_on":false,"value_off":true,"access":1},
        {"type":"numeric","name":"battery","property":"battery","unit":"%","access":1},
        {"type":"numeric","name":"device_temperature","property":"device_temperature","unit":"°C","access":1}]}},
        {"ieee_address":"0x00158d0000000003","type":"Router","friendly_name":"strip","definition":{"model":"S2","vendor":"X",
        "exposes":[{"type":"switch","endpoint":"l1","features":[{"type":"binary","name":"state","property":"state_l1",
        "value_on":"ON","value_off":"OFF","access":7}]},{"type":"switch","endpoint":"l2","features":[{"type":"binary",
        "name":"state","property":"state_l2","value_on":"ON","value_off":"OFF","access":7}]}]}},
        {"ieee_address":"0x00158d0000000004","type":"Router","friendly_name":"blind","definition":{"model":"B","vendor":"X",
        "exposes":[{"type":"cover","features":[{"type":"enum","name":"state","property":"state","values":["OPEN","CLOSE",
        "STOP"],"access":7},{"type":"numeric","name":"position","property":"position","value_min":0,"value_max":100,
        "access":7}]}]}},
        {"ieee_address":"0x00158d0000000005","type":"EndDevice","friendly_name":"valve","definition":{"model":"T","vendor":"X",
        "exposes":[{"type":"climate","features":[
        {"type":"numeric","name":"occupied_heating_setpoint","property":"occupied_heating_setpoint","value_min":5,
        "value_max":30,"value_step":0.5,"access":7},
        {"type":"numeric","name":"local_temperature","property":"local_temperature","access":5},
        {"type":"enum","name":"system_mode","property":"system_mode","values":["off","auto","heat"],"access":7},
        {"type":"enum","name":"running_state","property":"running_state","values":["idle","heat"],"access":5}]}]}},
        {"ieee_address":"0x00158d0000000006","type":"Router","friendly_name":"lock","definition":{"model":"L","vendor":"X",
        "exposes":[{"type":"lock","features":[{"type":"binary","name":"state","property":"state","value_on":"LOCK",
        "value_off":"UNLOCK","access":7}]}]}},
        {"ieee_address":"0x00158d0000000007","type":"Router","friendly_name":"fan","definition":{"model":"F","vendor":"X",
        "exposes":[{"type":"fan","features":[{"type":"binary","name":"state","property":"fan_state","value_on":"ON",
        "value_off":"OFF","access":7},{"type":"enum","name":"mode","property":"fan_mode","values":["off","low","medium",
        "high","on","auto"],"access":7}]}]}}]
        """

    private func table() -> HomeOnTable {
        var table = HomeOnTable()
        table.receive("zigbee2mqtt/bridge/devices", Self.list, isRetained: true)
        table.settle()
        table.receive("zigbee2mqtt/bridge/state", #"{"state":"online"}"#, isRetained: true)
        return table
    }

    private func key(_ number: Int) -> String { "zigbee2mqtt_0x00158d000000000\(number)" }
    private let bulb = "zigbee2mqtt_0x000d6ffffe000001"

    @Test func `every device of the list has its types, and the coordinator is none`() throws {
        let table = table()
        #expect(table.home.counts.refused.isEmpty)
        let types = Dictionary(uniqueKeysWithValues: table.devices.map { ($0.name, $0.endpoints.flatMap(\.types)) })
        #expect(
            types == [
                "living/bulb": ["ExtendedColorLightDeviceType"], "door": ["ContactSensorDeviceType"],
                "strip": ["OnOffPluginUnitDeviceType", "OnOffPluginUnitDeviceType"],
                "blind": ["WindowCoveringDeviceType"], "valve": ["ThermostatDeviceType"],
                "lock": ["DoorLockDeviceType"], "fan": ["FanDeviceType"],
            ])
        let bulb = try #require(table.devices.first { $0.key == self.bulb })
        #expect(bulb.product.vendorName == "IKEA")
        #expect(bulb.product.softwareVersion == "2.3.087")
        #expect(bulb.endpoints[0].isReachable == true)
        #expect(bulb.endpoints[0].values["ColorControl", "colorTempPhysicalMinMireds"] == 250)
    }

    @Test func `states become attributes and commands become messages`() throws {
        var table = table()
        table.receive(
            "zigbee2mqtt/living/bulb",
            #"{"state":"ON","brightness":254,"color_mode":"color_temp","color_temp":370,"color":{"x":0.46,"y":0.41},"linkquality":80}"#
        )
        #expect(table.values(bulb)["LevelControl", "currentLevel"] == 254)
        #expect(table.values(bulb)["ColorControl", "colorTemperatureMireds"] == 370)
        #expect(
            try table.perform(bulb, "LevelControl", "moveToLevelWithOnOff", ["level": 0]) == [
                #"zigbee2mqtt/living/bulb/set {"state":"OFF"}"#
            ])
        #expect(
            try table.perform(bulb, "ColorControl", "moveToColor", ["colorX": 32_768, "colorY": 19_661]) == [
                #"zigbee2mqtt/living/bulb/set {"color":{"x":0.5,"y":0.3},"state":"ON"}"#
            ])

        table.receive("zigbee2mqtt/door", #"{"contact":false,"battery":97}"#)
        #expect(table.values(key(2))["BooleanState", "stateValue"] == false)
        #expect(table.values(key(2))["ExtendedPowerSource", "batPercentRemaining"] == 194)

        table.receive("zigbee2mqtt/strip", #"{"state_l1":"ON","state_l2":"OFF"}"#)
        #expect(table.values(key(3), 1)["OnOff", "onOff"] == true)
        #expect(table.values(key(3), 2)["OnOff", "onOff"] == false)
        #expect(
            try table.perform(key(3), "OnOff", "toggle", endpoint: 2) == [
                #"zigbee2mqtt/strip/set { "state_l2": "ON" }"#
            ])

        table.receive("zigbee2mqtt/blind", #"{"position":25,"state":"OPEN"}"#)
        #expect(table.values(key(4))["WindowCovering", "currentPositionLiftPercent100ths"] == 7_500)
        #expect(
            try table.perform(key(4), "WindowCovering", "goToLiftPercentage", ["liftPercent100thsValue": 4_000]) == [
                #"zigbee2mqtt/blind/set { "position": 60 }"#
            ])
        #expect(
            try table.perform(key(4), "WindowCovering", "downOrClose") == [#"zigbee2mqtt/blind/set {"state":"CLOSE"}"#])

        table.receive(
            "zigbee2mqtt/valve",
            #"{"local_temperature":20.5,"occupied_heating_setpoint":22,"system_mode":"heat","running_state":"heat"}"#)
        #expect(table.values(key(5))["Thermostat", "localTemperature"] == 2_050)
        #expect(table.values(key(5))["Thermostat", "thermostatRunningState"] == 1)
        #expect(
            try table.perform(key(5), "Thermostat", "setpointRaiseLower", ["mode": "heat", "amount": -15]) == [
                #"zigbee2mqtt/valve/set { "occupied_heating_setpoint": 20.5 }"#
            ])
        let mode = try table.home.write(
            key: key(5), endpoint: 1, trait: "Thermostat", attributes: ["systemMode": "off"])
        #expect(mode.publications.map { String(decoding: $0.payload, as: UTF8.self) } == [#"{ "system_mode": "off" }"#])
        let error = #expect(throws: HomeError.self) {
            try table.home.write(
                key: key(5), endpoint: 1, trait: "Thermostat", attributes: ["occupiedHeatingSetpoint": 9_000])
        }
        #expect(error?.code == .outOfRange)

        table.receive("zigbee2mqtt/lock", #"{"state":"UNLOCK","lock_state":"unlocked"}"#)
        #expect(table.values(key(6))["DoorLock", "lockState"] == "unlocked")
        #expect(try table.perform(key(6), "DoorLock", "lockDoor") == [#"zigbee2mqtt/lock/set { "state": "LOCK" }"#])

        table.receive("zigbee2mqtt/fan", #"{"fan_state":"ON","fan_mode":"medium"}"#)
        #expect(table.values(key(7))["FanControl", "percentSetting"] == 66)
        #expect(table.values(key(7))["FanControl", "fanMode"] == "medium")
        let speed = try table.home.write(
            key: key(7), endpoint: 1, trait: "FanControl", attributes: ["percentSetting": 100])
        #expect(speed.publications.map { String(decoding: $0.payload, as: UTF8.self) } == [#"{ "fan_mode": "high" }"#])
        #expect(table.home.counts.unreadable == 0, "\(table.home.counts.unreadableMessages)")
    }

    @Test func `a device that is renamed or gone keeps its key or leaves`() {
        var table = table()
        table.receive("zigbee2mqtt/door", #"{"contact":true}"#)
        table.receive(
            "zigbee2mqtt/bridge/devices", Self.list.replacingOccurrences(of: #""door""#, with: #""back door""#))
        table.settle()
        #expect(table.devices.first { $0.key == key(2) }?.name == "back door")
        #expect(table.values(key(2))["BooleanState", "stateValue"] == true)
        #expect(table.subscriptions.contains("zigbee2mqtt/back door"))
        table.receive("zigbee2mqtt/bridge/devices", "[]")
        table.settle()
        #expect(table.devices.isEmpty)
        #expect(table.subscriptions == HomeOnTable().subscriptions)
    }

    @Test func `the bridge and the device decide whether it can be reached`() {
        var table = table()
        _ = table.takeReports()
        table.receive("zigbee2mqtt/door/availability", #"{"state":"offline"}"#)
        #expect(table.takeReports() == [.reachability(key: key(2), endpoint: 1, isReachable: false)])
        table.receive("zigbee2mqtt/door/availability", "online")
        #expect(table.takeReports() == [.reachability(key: key(2), endpoint: 1, isReachable: true)])
        table.receive("zigbee2mqtt/bridge/state", "offline")
        #expect(table.takeReports().count == 8, "each part of each device")
    }

    @Test func `a device that both ways describe appears once`() {
        var table = table()
        let description = """
            {"stat_t":"zigbee2mqtt/door","val_tpl":"{{ value_json.contact }}","dev_cla":"door","pl_on":false,"pl_off":true,
            "uniq_id":"0x00158d0000000002_contact_zigbee2mqtt","dev":{"ids":["zigbee2mqtt_0x00158d0000000002"],"name":"door"}}
            """
        table.receive("homeassistant/binary_sensor/0x00158d0000000002/contact/config", description)
        table.receive(
            "homeassistant/sensor/x/y/config",
            #"{"stat_t":"z","dev_cla":"temperature","uniq_id":"other","dev":{"ids":["zigbee2mqtt_0x00158d0000000002"]}}"#
        )
        table.settle()
        #expect(table.devices.count { $0.key == key(2) } == 1)
        #expect(table.devices.first { $0.key == key(2) }?.endpoints.map(\.types) == [["ContactSensorDeviceType"]])
    }
}
