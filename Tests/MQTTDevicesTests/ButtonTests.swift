import HomeTypes
import Testing

@testable import MQTTDevices

/// Buttons and remote controls, which report what was done with them.
@Suite struct ButtonTests {
    @Test(arguments: [
        ("single", "", ButtonGesture.press), ("double", "", .presses(2)), ("quadruple", "", .presses(4)),
        ("hold", "", .hold), ("release", "", .releaseAfterHold), ("1_single", "1", .press),
        ("button_2_double", "button_2", .presses(2)), ("single_left", "left", .press),
        ("arrow_left_click", "arrow_left", .press), ("arrow_left_release", "arrow_left", .releaseAfterHold),
        ("on_press", "on", .press), ("on_press_release", "on", .release), ("up_hold_release", "up", .releaseAfterHold),
        ("toggle", "toggle", .press), ("brightness_step_up", "brightness_step_up", .press), ("", "", .press),
        ("_", "_", .press), ("long_press", "", .hold), ("hold_both", "both", .hold),
    ]) func `the name of an action says which button and what was done`(
        name: String, button: String, gesture: ButtonGesture
    ) {
        let action = ButtonAction(name)
        #expect(action.button == button && action.gesture == gesture, "\(action)")
    }

    static let remote = """
        [{"ieee_address":"0x01","type":"EndDevice","friendly_name":"remote","definition":{"model":"R","vendor":"X","exposes":[
        {"type":"numeric","name":"battery","property":"battery","unit":"%","access":1},
        {"type":"enum","name":"action","property":"action","access":1,
        "values":["on_single","on_double","on_hold","on_release","off_single","{{ 7 }}"]}]}}]
        """

    private func table() -> HomeOnTable {
        var table = HomeOnTable()
        table.receive("zigbee2mqtt/bridge/devices", Self.remote, isRetained: true)
        table.settle()
        return table
    }

    @Test func `each button of a remote control is a part with its own abilities`() throws {
        let remote = try #require(table().devices.first)
        #expect(remote.endpoints.map(\.types) == [["GenericSwitchDeviceType"], ["GenericSwitchDeviceType"]])
        // The parts are in the order of their names: off, on.
        let (off, on) = (remote.endpoints[0].values, remote.endpoints[1].values)
        typealias Feature = Matter.SwitchTrait.Feature
        let all: Feature = [
            .momentarySwitch, .momentarySwitchRelease, .momentarySwitchLongPress, .momentarySwitchMultiPress,
        ]
        #expect(off["Switch", "featureMap"] == .integer(Int(Feature.momentarySwitch.rawValue)))
        #expect(on["Switch", "featureMap"] == .integer(Int(all.rawValue)))
        #expect(off["Switch", "multiPressMax"] == nil && on["Switch", "multiPressMax"] == 2)
        #expect(on["Switch", "currentPosition"] == 0 && on["Switch", "numberOfPositions"] == 2)
        #expect(off["ExtendedPowerSource", "batPercentRemaining"] != nil, "the battery is the first part's")
    }

    @Test func `an action is one event of its button, and no state`() {
        var table = table()
        let key = "zigbee2mqtt_0x01"
        _ = table.takeReports()
        for (action, endpoint, gesture) in [
            ("on_single", 2, ButtonGesture.press), ("off_single", 1, .press), ("on_double", 2, .presses(2)),
            ("on_hold", 2, .hold), ("on_release", 2, .releaseAfterHold),
        ] {
            // A sender that got no answer sends again.
            for _ in 0..<2 { table.receive("zigbee2mqtt/remote", #"{"action":"\#(action)","battery":90}"#) }
            let events = table.takeReports().filter { if case .event = $0 { true } else { false } }
            #expect(events == [.event(key: key, endpoint: endpoint, .button(gesture))], "\(action)")
        }
        // Other messages, an old one, and an action that the device did not name.
        for payload in [#"{"battery":90}"#, #"{"action":""}"#, #"{"action":null}"#, #"{"action":"shake"}"#] {
            table.receive("zigbee2mqtt/remote", payload)
        }
        table.receive("zigbee2mqtt/remote", #"{"action":"on_single"}"#, isRetained: true)
        #expect(table.takeReports() == [])
        #expect(table.home.counts.unreadable == 0, "\(table.home.counts.unreadableMessages)")
    }

    @Test func `a button of Home Assistant's discovery is one, and several in one description are not`() {
        var table = HomeOnTable()
        func description(_ id: String, _ types: String) -> String {
            #"{"dev_cla":"button","evt_typ":\#(types),"stat_t":"\#(id)","uniq_id":"\#(id)","dev":{"ids":["\#(id)"]}}"#
        }
        table.receive("homeassistant/event/one/config", description("one", #"["press","double_press","long_press"]"#))
        table.receive("homeassistant/event/two/config", description("two", #"["1_single","2_single"]"#))
        table.receive("homeassistant/event/none/config", description("none", "[]"))
        table.settle()
        #expect(table.devices.map(\.key) == ["one"])
        #expect(table.home.counts.refused.count == 1, "\(table.home.counts.refused)")
        _ = table.takeReports()
        table.receive("one", #"{"event_type":"double_press"}"#)
        #expect(table.takeReports() == [.event(key: "one", endpoint: 1, .button(.presses(2)))])
    }
}
