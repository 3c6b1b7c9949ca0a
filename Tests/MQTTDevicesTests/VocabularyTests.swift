import Foundation
import HomeTypes
import Testing

@testable import MQTTDevices

/// What messages become must be words of the home's vocabulary.
@Suite struct VocabularyTests {
    private static let states = [
        ("zigbee2mqtt/living/bulb", #"{"state":"ON","brightness":100,"color":{"x":0.46,"y":0.41}}"#),
        ("zigbee2mqtt/door", #"{"contact":false,"battery":15}"#), ("zigbee2mqtt/strip", #"{"state_l1":"ON"}"#),
        ("zigbee2mqtt/blind", #"{"position":25,"state":"STOP"}"#),
        ("zigbee2mqtt/fan", #"{"fan_state":"ON","fan_mode":"low"}"#),
        (
            "zigbee2mqtt/valve",
            #"{"local_temperature":20,"occupied_heating_setpoint":22,"system_mode":"auto","running_state":"idle"}"#
        ),
        ("zigbee2mqtt/lock", #"{"state":"LOCK"}"#), ("s/aqi", "42"), ("s/co2", "612"), ("s/smoke", "ON"),
        ("s/motion", "ON"),
        ("s/humidity", "55.5"), ("s/temperature", "-4"), ("s/bell", "press"),
    ]

    private static let sensors = [
        ("sensor", "aqi"), ("sensor", "carbon_dioxide"), ("binary_sensor", "smoke"), ("binary_sensor", "motion"),
        ("sensor", "humidity"), ("sensor", "temperature"), ("event", "doorbell"),
    ]
    private static let topics = ["aqi", "co2", "smoke", "motion", "humidity", "temperature", "bell"]

    private func home() -> HomeOnTable {
        var table = HomeOnTable()
        table.receive("zigbee2mqtt/bridge/devices", ZigbeeTests.list)
        for ((component, kind), topic) in zip(Self.sensors, Self.topics) {
            table.receive(
                "homeassistant/\(component)/\(topic)/config", #"{"dev_cla":"\#(kind)","stat_t":"s/\#(topic)"}"#)
        }
        table.settle()
        for (topic, payload) in Self.states { table.receive(topic, payload) }
        return table
    }

    @Test func `every attribute that a message sets is one of the vocabulary, with a value that it knows`() throws {
        let table = home()
        #expect(table.devices.count == 14)
        #expect(table.home.counts.unreadable == 0, "\(table.home.counts.unreadableMessages)")
        for device in table.devices {
            for endpoint in device.endpoints {
                let values = table.values(device.key, endpoint.number)
                let traits = try JSONDecoder().decode(TraitCollection.self, from: values.json.data)
                #expect(Set(traits.names) == Set(values.traits.keys), "\(device.name)")
                let again = try JSONValue(parsing: JSONEncoder().encode(traits))
                for (trait, attributes) in values.traits {
                    for (name, value) in attributes {
                        #expect(again[trait]?[name]?.printed == value.printed, "\(trait).\(name) of \(device.name)")
                    }
                }
            }
        }
    }

    @Test func `a device takes the commands of its list, and no others`() throws {
        var table = home()
        // What the commands read of it.
        let parameters: JSONValue = [
            "liftPercent100thsValue": 10_000, "tiltPercent100thsValue": 0, "mode": "heat", "amount": 1,
            "level": 10, "stepSize": 1, "stepMode": "up", "hue": 1, "saturation": 1, "colorX": 20_000, "colorY": 20_000,
            "colorTemperatureMireds": 300,
        ]
        var lists: Set<String> = []
        for device in table.devices {
            for endpoint in device.endpoints {
                for (name, attributes) in endpoint.values.traits {
                    guard let list = attributes["acceptedCommandList"]?.array else { continue }
                    lists.insert(name)
                    let accepted = list.compactMap(\.int)
                    for command in try #require(Vocabulary.trait(named: name)).supportedCommandTypes {
                        let isTaken = table.takes(command.name, parameters, of: name, at: device.key, endpoint.number)
                        #expect(accepted.contains(Int(command.id)) == isTaken, "\(command.name) of \(device.name)")
                    }
                }
            }
        }
        #expect(
            lists == [
                "ColorControl", "DoorLock", "FanControl", "LevelControl", "OnOff", "Thermostat", "WindowCovering",
            ])
    }

    @Test func `every type is one of the vocabulary, and its part has the traits that it needs`() {
        let table = home()
        for device in table.devices {
            for endpoint in device.endpoints {
                let traits = Set(endpoint.values.traits.keys)
                for name in endpoint.types {
                    guard let type = Vocabulary.deviceType(named: name) else {
                        Issue.record("\(name) is not in the vocabulary")
                        continue
                    }
                    let missing = type.requiredTraits.map { $0.name }.filter { !traits.contains($0) }
                    #expect(missing.isEmpty, "\(name) of \(device.name)")
                }
            }
        }
    }
}

extension HomeOnTable {
    /// Whether a device has a way to do a command, even if it cannot do it now.
    fileprivate mutating func takes(
        _ command: String, _ parameters: JSONValue, of trait: String, at key: String, _ endpoint: Int
    ) -> Bool {
        do {
            _ = try home.perform(
                key: key, endpoint: endpoint, trait: trait, command: command, parameters: parameters)
            return true
        } catch {
            return error.code != .unimplemented
        }
    }
}
