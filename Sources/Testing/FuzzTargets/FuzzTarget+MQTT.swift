import Foundation
import MQTTDevices
import Transport

/// What an MQTT broker delivers.
extension FuzzTarget {
    static let mqtt = FuzzTarget(
        "mqtt", "messages of an MQTT broker: a line with the topic, then the payload", maximumLength: 4096,
        dictionary: [
            "homeassistant/light/a/config", "zigbee2mqtt/bridge/devices", "{{ value_json.a }}", "{% if value %}",
            "{% endif %}", "| float", "state_topic", "command_topic", "availability", "components", "~",
        ],
        seeds: {
            [
                "homeassistant/light/a/config\n"
                    + #"{"schema":"json","cmd_t":"c","stat_t":"s","sup_clrm":["xy","color_temp"],"uniq_id":"a"}"#
                    + "\u{0}s\n" + #"{"state":"ON","brightness":9,"color":{"x":0.3,"y":0.4}}"#,
                "homeassistant/sensor/a/config\n"
                    + #"{"dev_cla":"temperature","stat_t":"s","val_tpl":"{{ value_json.t | float * 2 }}"}"#
                    + "\u{0}s\n" + #"{"t":21.5}"#,
                "homeassistant/device/a/config\n"
                    + #"{"dev":{"ids":"a"},"cmps":{"x":{"p":"cover","cmd_t":"c","pos_t":"s","set_pos_t":"d"}}}"#
                    + "\u{0}s\n50",
                "homeassistant/device/gatehouse_d1/config\n"
                    + #"{"origin":{"name":"Gatehouse (gatehouse)"},"availability":[{"topic":"gatehouse/d1/availability"}]}"#,
                "zigbee2mqtt/bridge/devices\n"
                    + #"[{"type":"Router","ieee_address":"0x1","friendly_name":"f","definition":{"exposes":[{"type":"fan","#
                    + #""features":[{"name":"state","property":"fan_state"},{"name":"mode","property":"m","values":["low","#
                    + #""high"]}]}]}}]"#
                    + "\u{0}zigbee2mqtt/f\n" + #"{"fan_state":"ON","m":"low"}"#,
            ].map { Array($0.utf8) }
        }
    ) { bytes throws(FuzzFailure) in
        var home = MQTTHome()
        var subscriptions = home.allSubscriptions
        var now = Instant.zero
        func take(_ effects: MQTTHome.Effects) {
            subscriptions.subtract(effects.endedSubscriptions)
            subscriptions.formUnion(effects.subscriptions)
        }
        take(home.connectionChanged(isConnected: true))
        for part in bytes.split(separator: 0, maxSplits: 16, omittingEmptySubsequences: true) {
            let halves = part.split(separator: UInt8(ascii: "\n"), maxSplits: 1, omittingEmptySubsequences: false)
            let topic = String(decoding: halves[0], as: UTF8.self)
            let payload = halves.count > 1 ? Data(halves[1]) : Data()
            now += .milliseconds(100)
            take(home.handle(MQTTMessage(topic: topic, payload: payload), at: now))
            _ = RetainedCamera(
                .init(topic: topic, payload: payload, isRetained: true), settings: .init(), isMinted: { _ in true })
            _ = RetainedCamera(
                state: .init(topic: topic, payload: payload, isRetained: true),
                settings: .init(formerPrefixes: ["lamp"]), isMinted: { _ in true })
            now += .seconds(6)
            let effects = home.handleDeadline(at: now)
            take(effects)
            for case .described(let device) in effects.reports {
                for endpoint in device.endpoints {
                    for trait in endpoint.values.traits.keys {
                        for command in ["on", "toggle", "upOrOpen", "lockDoor", "step"] {
                            _ = try? home.perform(
                                key: device.key, endpoint: endpoint.number, trait: trait, command: command,
                                parameters: ["stepSize": 10])
                        }
                    }
                }
            }
        }
        guard subscriptions == home.allSubscriptions else {
            throw FuzzFailure("the subscriptions are not those of the devices")
        }
    }
}
