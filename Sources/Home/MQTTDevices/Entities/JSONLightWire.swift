import HomeTypes

/// The messages of a light with the schema `json`: one object contains everything.
struct JSONLightWire: LightWire {
    let abilities: LightAbilities
    let isOptimistic: Bool
    private let state: String?
    private let command: CommandTarget
    private let scale: Double
    private let usesKelvins: Bool
    /// The form of colours that the light understands.
    private let colourMode: String?
    /// The suffix of the members' names, for one of several lights in the same messages.
    private let suffix: String

    init(_ configuration: EntityConfiguration) throws(DiscoveryProblem) {
        guard let command = try configuration.target("command_topic", "") else {
            throw DiscoveryProblem("command_topic is missing")
        }
        self.command = command
        suffix = configuration.suffix
        state = try configuration.topic("state_topic")
        isOptimistic = state == nil || configuration.isTrue("optimistic")
        let scale = configuration.number("brightness_scale") ?? 255
        guard scale >= 1 else { throw DiscoveryProblem("brightness_scale is less than 1") }
        self.scale = scale
        usesKelvins = configuration.isTrue("color_temp_kelvin")
        let modes = (configuration["supported_color_modes"]?.array ?? []).compactMap(\.string)
        colourMode = ["hs", "xy", "rgb", "rgbw", "rgbww"].first(where: modes.contains)
        abilities = LightAbilities(
            hasBrightness: configuration.isTrue("brightness") || modes.contains { $0 != "onoff" },
            hasColour: colourMode != nil,
            temperatures: modes.contains("color_temp") ? LightAbilities.temperatures(configuration) : nil)
    }

    var topics: Set<String> { Set([state].compactMap { $0 }) }

    func read(_ payload: MQTTPayload, from topic: String) throws(UnreadablePayload) -> LightState {
        guard let json = payload.json, json.object != nil else { throw UnreadablePayload("is not a JSON object") }
        var result = LightState()
        if let state = json["state" + suffix], !state.isNull {
            switch state.printed.uppercased() {
            case "ON", "TRUE": result.isOn = true
            case "OFF", "FALSE": result.isOn = false
            default: throw UnreadablePayload("the state \(state.printed.prefix(40)) is neither ON nor OFF")
            }
        }
        if abilities.hasBrightness, let brightness = json["brightness" + suffix]?.double {
            result.brightness = min(max(brightness / scale, 0), 1)
        }
        let mode = json["color_mode" + suffix]?.string
        if abilities.hasColour, mode != "color_temp", let colour = json["color" + suffix] {
            result.colour = Self.colour(colour, mode: mode)
        }
        if abilities.temperatures != nil, result.colour == nil, mode == nil || mode == "color_temp",
            let value = json["color_temp" + suffix]?.double,
            let mireds = usesKelvins ? LightAbilities.mireds(value) : value,
            mireds > 0
        {
            result.colour = .temperature(mireds)
        }
        return result
    }

    /// The colour in an object, in the form that `mode` names, or else in the first form that the object contains.
    private static func colour(_ json: JSONValue, mode: String?) -> LightState.Colour? {
        func pair(_ first: String, _ second: String) -> (Double, Double)? {
            guard let first = json[first]?.double, let second = json[second]?.double else { return nil }
            return (first, second)
        }
        let chromaticity = pair("x", "y").map { LightState.Colour.chromaticity($0.0, $0.1) }
        if mode == "xy", let chromaticity { return chromaticity }
        if let (hue, saturation) = pair("h", "s") ?? pair("hue", "saturation") {
            return .hueAndSaturation(hue, saturation)
        }
        if let (red, green) = pair("r", "g"), let blue = json["b"]?.double {
            let colour = Colour.hueAndSaturation(red: red, green: green, blue: blue)
            return .hueAndSaturation(colour.hue, colour.saturation)
        }
        return chromaticity
    }

    func messages(for wanted: LightState, with known: TraitValues) throws(HomeError) -> [MQTTPublication] {
        var json: [String: JSONValue] = ["state" + suffix: wanted.isOn == false ? "OFF" : "ON"]
        if let brightness = wanted.brightness {
            json["brightness" + suffix] = .integer(Int(nearestTo: brightness * scale, in: 1...Int.max))
        }
        switch wanted.colour {
        case .temperature(let mireds):
            let value = usesKelvins ? LightAbilities.mireds(mireds) ?? mireds : mireds
            json["color_temp" + suffix] = .integer(Int(nearestTo: value))
        case .hueAndSaturation(let hue, let saturation): json["color" + suffix] = colour(hue, saturation)
        case .chromaticity(let x, let y):
            if colourMode == "xy" {
                json["color" + suffix] = .object(["x": Self.rounded(x), "y": Self.rounded(y)])
            } else {
                let colour = Colour.hueAndSaturation(x: x, y: y)
                json["color" + suffix] = self.colour(colour.hue, colour.saturation)
            }
        case nil: break
        }
        if let transition = wanted.transition { json["transition"] = .number(transition) }
        return [command.publication(text: JSONValue.object(json).text)]
    }

    private func colour(_ hue: Double, _ saturation: Double) -> JSONValue {
        switch colourMode {
        case "xy":
            let colour = Colour.chromaticity(hue: hue, saturation: saturation)
            return .object(["x": Self.rounded(colour.x), "y": Self.rounded(colour.y)])
        case "hs": return .object(["h": Self.rounded(hue), "s": Self.rounded(saturation)])
        default:
            let parts = Colour.redGreenBlue(hue: hue, saturation: saturation).map {
                JSONValue.integer(Int(nearestTo: $0))
            }
            return .object(["r": parts[0], "g": parts[1], "b": parts[2]])
        }
    }

    private static func rounded(_ value: Double) -> JSONValue { .number((value * 10_000).rounded() / 10_000) }
}
