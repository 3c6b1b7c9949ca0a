/// One thing that a Zigbee device exposes, as `bridge/devices` describes it.
struct ZigbeeExpose {
    /// An entity that comes of it.
    struct Description {
        let object: String
        let name: String?
        let configuration: EntityConfiguration
    }

    private let json: JSONValue

    init(_ json: JSONValue) { self.json = json }

    private var type: String { json["type"]?.string ?? "" }
    private var name: String { json["name"]?.string ?? "" }
    /// Names one of several equal parts, for example `l1`.
    private var endpoint: String? { json["endpoint"]?.string.flatMap { Self.isPlain($0) ? $0 : nil } }

    /// The property in the messages, if it is a plain word. Other names could end a template.
    private var property: String? { json["property"]?.string.flatMap { Self.isPlain($0) ? $0 : nil } }

    private static func isPlain(_ text: String) -> Bool {
        !text.isEmpty && text.utf8.count <= 128
            && text.utf8.allSatisfy { byte in
                (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte)
                    || byte == 0x5F
            }
    }

    private func feature(_ names: String...) -> ZigbeeExpose? {
        (json["features"]?.array ?? []).lazy.map(ZigbeeExpose.init).first { names.contains($0.name) }
    }

    private var values: [String] { (json["values"]?.array ?? []).map(\.printed).filter(Self.isPlain) }

    /// Whether messages can change it (bit 1) as well as report it (bit 0).
    private var isWritable: Bool { (json["access"]?.int ?? 0) & 2 != 0 }

    /// The entities that this gives.
    func descriptions(_ topics: ZigbeeTopics) -> [Description] {
        switch type {
        case "light": light(topics)
        case "switch": switchPart(topics)
        case "lock": lock(topics)
        case "cover": cover(topics)
        case "fan": fan(topics)
        case "climate": climate(topics)
        case "binary": binary(topics)
        case "numeric": numeric(topics)
        case "enum": buttons(topics)
        default: []
        }
    }

    private func made(
        _ component: String, _ object: String, _ topics: ZigbeeTopics, suffix: String = "",
        _ values: [String: JSONValue]
    ) -> [Description] {
        var values = values
        values["state_topic"] = values["state_topic"] ?? .string(topics.state)
        if values["command_topic"] == nil { values["command_topic"] = .string(topics.command) }
        return [
            Description(
                object: endpoint.map { "\(object)_\($0)" } ?? object, name: endpoint?.uppercased(),
                configuration: EntityConfiguration(
                    component: component, values.filter { !$0.value.isNull }, suffix: suffix))
        ]
    }

    private static func reading(_ property: String) -> JSONValue { .string("{{ value_json.\(property) }}") }

    private func light(_ topics: ZigbeeTopics) -> [Description] {
        guard let state = feature("state"), let property = state.property else { return [] }
        let suffix = property.hasPrefix("state") ? String(property.dropFirst("state".count)) : ""
        var modes: [JSONValue] = []
        var values: [String: JSONValue] = ["schema": "json", "brightness_scale": 254]
        if feature("brightness") != nil { values["brightness"] = true }
        if let temperature = feature("color_temp") {
            modes.append("color_temp")
            values["min_mireds"] = temperature.json["value_min"]
            values["max_mireds"] = temperature.json["value_max"]
        }
        if feature("color_xy") != nil { modes.append("xy") } else if feature("color_hs") != nil { modes.append("hs") }
        values["supported_color_modes"] = .array(modes)
        return made("light", "light", topics, suffix: suffix, values)
    }

    private func switchPart(_ topics: ZigbeeTopics) -> [Description] {
        guard let state = feature("state"), let property = state.property else { return [] }
        // A switch for a setting, such as the detection of open windows, is not a socket.
        guard property == "state" || property.hasPrefix("state_") else { return [] }
        return made(
            "switch", "switch", topics,
            [
                "value_template": Self.reading(property), "payload_on": state.json["value_on"] ?? "ON",
                "payload_off": state.json["value_off"] ?? "OFF",
                "command_template": .string("{ \"\(property)\": \"{{ value }}\" }"),
            ])
    }

    private func lock(_ topics: ZigbeeTopics) -> [Description] {
        guard let state = feature("state"), let property = state.property, property == "state" else { return [] }
        return made(
            "lock", "lock", topics,
            [
                "value_template": Self.reading(property), "state_locked": state.json["value_on"] ?? "LOCK",
                "state_unlocked": state.json["value_off"] ?? "UNLOCK",
                "command_template": .string("{ \"\(property)\": \"{{ value }}\" }"),
            ])
    }

    private func cover(_ topics: ZigbeeTopics) -> [Description] {
        guard let state = feature("state")?.property else { return [] }
        func payload(_ word: String) -> JSONValue { .string("{\"\(state)\":\"\(word)\"}") }
        var values: [String: JSONValue] = [
            "value_template": Self.reading(state), "state_open": "OPEN", "state_closed": "CLOSE",
            "state_stopped": "STOP", "payload_open": payload("OPEN"), "payload_close": payload("CLOSE"),
            "payload_stop": payload("STOP"),
        ]
        if let position = feature("position")?.property {
            values["position_topic"] = .string(topics.state)
            values["position_template"] = Self.reading(position)
            values["set_position_topic"] = .string(topics.command)
            values["set_position_template"] = .string("{ \"\(position)\": {{ position }} }")
        }
        if let tilt = feature("tilt")?.property {
            values["tilt_status_topic"] = .string(topics.state)
            values["tilt_status_template"] = Self.reading(tilt)
            values["tilt_command_topic"] = .string(topics.command)
            values["tilt_command_template"] = .string("{ \"\(tilt)\": {{ value }} }")
        }
        return made("cover", "cover", topics, values)
    }

    private func fan(_ topics: ZigbeeTopics) -> [Description] {
        guard let state = feature("state"), let property = state.property else { return [] }
        var values: [String: JSONValue] = [
            "state_value_template": Self.reading(property),
            "command_template": .string("{ \"\(property)\": \"{{ value }}\" }"),
        ]
        let known = ["low", "medium", "high", "1", "2", "3", "4", "5", "6", "7", "8", "9"]
        if let mode = feature("mode"), let name = mode.property {
            let speeds = known.filter(mode.values.contains)
            if speeds.count > 1 {
                let reading = (["off"] + speeds).enumerated().map { "'\($0.element)': \($0.offset)" }
                let writing = speeds.enumerated().map { "'\($0.offset + 1)': '\($0.element)'" }
                values["percentage_state_topic"] = .string(topics.state)
                values["percentage_value_template"] =
                    .string("{{ {\(reading.joined(separator: ", "))}[value_json.\(name)] | default('None') }}")
                values["percentage_command_topic"] = .string(topics.command)
                values["percentage_command_template"] =
                    .string("{ \"\(name)\": \"{{ {\(writing.joined(separator: ", "))}[value] }}\" }")
                values["speed_range_max"] = .integer(speeds.count)
            }
        }
        return made("fan", "fan", topics, values)
    }

    private func climate(_ topics: ZigbeeTopics) -> [Description] {
        guard let setpoint = feature("occupied_heating_setpoint", "current_heating_setpoint"),
            let wanted = setpoint.property
        else { return [] }
        var values: [String: JSONValue] = [
            "min_temp": setpoint.json["value_min"] ?? .null, "max_temp": setpoint.json["value_max"] ?? .null,
        ]
        func channel(_ name: String, _ property: String, quoted: Bool = false) {
            values["\(name)_state_topic"] = .string(topics.state)
            values["\(name)_state_template"] = Self.reading(property)
            values["\(name)_command_topic"] = .string(topics.command)
            values["\(name)_command_template"] =
                .string(quoted ? "{ \"\(property)\": \"{{ value }}\" }" : "{ \"\(property)\": {{ value }} }")
        }
        if let temperature = feature("local_temperature")?.property {
            values["current_temperature_topic"] = .string(topics.state)
            values["current_temperature_template"] = Self.reading(temperature)
        }
        if let cooling = feature("occupied_cooling_setpoint")?.property {
            channel("temperature_low", wanted)
            channel("temperature_high", cooling)
        } else {
            channel("temperature", wanted)
        }
        if let mode = feature("system_mode"), let property = mode.property {
            channel("mode", property, quoted: true)
            values["modes"] = .array(mode.values.map(JSONValue.string))
        } else {
            values["modes"] = ["heat"]
        }
        if let action = feature("running_state")?.property {
            values["action_topic"] = .string(topics.state)
            values["action_template"] = Self.reading(action)
        }
        return made("climate", "climate", topics, values)
    }

    private static let binaryClasses = [
        "battery_low": "battery", "carbon_monoxide": "carbon_monoxide", "contact": "door", "occupancy": "occupancy",
        "presence": "presence", "smoke": "smoke",
    ]

    private func binary(_ topics: ZigbeeTopics) -> [Description] {
        guard let kind = Self.binaryClasses[name], let property else { return [] }
        return made(
            "binary_sensor", name, topics,
            [
                "device_class": .string(kind), "value_template": Self.reading(property),
                "payload_on": json["value_on"] ?? true, "payload_off": json["value_off"] ?? false,
            ])
    }

    /// A remote control's name for an action: which button, and what was done with it. Each button is an entity.
    private func buttons(_ topics: ZigbeeTopics) -> [Description] {
        guard name == "action", let property else { return [] }
        let actions = Dictionary(grouping: values) { ButtonAction($0).button }
        return actions.sorted { $0.key < $1.key }.prefix(Self.mostButtons).flatMap { button, names in
            made(
                "event", button.isEmpty ? "action" : "action_\(button)", topics,
                [
                    "device_class": "button", "value_template": Self.reading(property),
                    "event_types": .array(names.map(JSONValue.string)),
                ])
        }
    }

    /// The maximum number of buttons of a device. The largest remote controls have about twenty actions.
    private static let mostButtons = 64

    private static let numericClasses = [
        "aqi": "aqi", "battery": "battery", "co": "carbon_monoxide", "co2": "carbon_dioxide", "humidity": "humidity",
        "no2": "nitrogen_dioxide", "pm1": "pm1", "pm10": "pm10", "pm25": "pm25", "temperature": "temperature",
        "voc": "volatile_organic_compounds", "voc_parts": "volatile_organic_compounds_parts",
    ]

    private func numeric(_ topics: ZigbeeTopics) -> [Description] {
        guard let kind = Self.numericClasses[name], let property else { return [] }
        return made(
            "sensor", name, topics,
            [
                "device_class": .string(kind), "value_template": Self.reading(property),
                "unit_of_measurement": json["unit"] ?? .null,
            ])
    }
}
