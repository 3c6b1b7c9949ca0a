import Foundation
import Testing
import Transport

@testable import MQTTDevices

/// Payloads and topics with bytes that were changed at random: whatever comes, the home goes on.
@Suite struct MutationTests {
    private static let corpus: [(topic: String, payload: String)] = [
        ("homeassistant/light/esp/ceiling/config", DiscoveryTests.espLight),
        ("homeassistant/switch/a/config", DiscoveryTests.tasmotaSwitch),
        ("zigbee2mqtt/bridge/devices", ZigbeeTests.list),
        ("esp/light/ceiling/state", #"{"state":"ON","brightness":128,"color":{"r":255,"g":0,"b":0},"color_temp":1e9}"#),
        ("zigbee2mqtt/living/bulb", #"{"state":"ON","brightness":254,"color":{"x":0.46,"y":0.41}}"#),
        ("zigbee2mqtt/valve", #"{"local_temperature":20.5,"system_mode":"heat"}"#),
        ("zigbee2mqtt/fan", #"{"fan_state":"ON","fan_mode":"low"}"#),
        ("zigbee2mqtt/blind", #"{"position":99,"state":"OPEN"}"#), ("stat/plug/RESULT", #"{"POWER":"ON"}"#),
    ]

    @Test(arguments: UInt64(1)...8)
    func `damaged messages neither end the home nor stop it`(seed: UInt64) throws {
        var random = RandomSource.seeded(seed)
        var table = HomeOnTable()
        for (topic, payload) in Self.corpus { table.receive(topic, payload) }
        table.settle()
        let pieces = [
            "{{", "}}", "{%", "%}", "null", "1e308", "-1", "\"", "[", "]", "{", "}", "~", "\u{0}", "é", "value_json",
        ]
        for round in 0..<250 {
            let (topic, payload) = Self.corpus[Int.random(in: 0..<Self.corpus.count, using: &random)]
            var bytes = Array(payload.utf8), name = Array(topic.utf8)
            for _ in 0..<Int.random(in: 1...4, using: &random) {
                let place = Int.random(in: 0..<bytes.count, using: &random)
                switch Int.random(in: 0..<4, using: &random) {
                case 0: bytes[place] = UInt8.random(in: 0...255, using: &random)
                case 1:
                    bytes.insert(contentsOf: Array(pieces.randomElement(using: &random)?.utf8 ?? "".utf8), at: place)
                case 2: bytes.removeSubrange(place..<min(place + 7, bytes.count))
                default:
                    name[Int.random(in: 0..<name.count, using: &random)] = UInt8.random(in: 0...255, using: &random)
                }
                if bytes.isEmpty { bytes = [0] }
            }
            let message = MQTTMessage(
                topic: String(decoding: round.isMultiple(of: 3) ? name : Array(topic.utf8), as: UTF8.self),
                payload: Data(bytes))
            table.now += .milliseconds(1)
            table.take(table.home.handle(message, at: table.now))
            if round.isMultiple(of: 50) { table.settle() }
            for device in table.devices.prefix(3) {
                for trait in device.endpoints.flatMap({ $0.values.traits.keys }) {
                    _ = try? table.perform(device.key, trait, "on")
                    _ = try? table.perform(device.key, trait, "moveToLevel", ["level": .integer(round)])
                }
            }
        }
        for (topic, payload) in Self.corpus { table.receive(topic, payload) }
        table.settle()
        table.receive("esp/status", "online")
        table.receive("esp/light/ceiling/state", #"{"state":"OFF"}"#)
        table.receive("esp/light/ceiling/state", #"{"state":"ON"}"#)
        #expect(table.values("a4cf12")["OnOff", "onOff"] == true, "what is sound is still understood")
        #expect(table.subscriptions == table.home.allSubscriptions)
    }
}
