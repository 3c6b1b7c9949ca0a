import HomeTypes

/// The messages of a light with the basic schema: a topic for each of state, brightness and colour.
struct BasicLightWire: LightWire {
    let abilities: LightAbilities
    let isOptimistic: Bool
    private let state: ValueSource?
    private let command: CommandTarget
    private let payloads: (on: String, off: String)
    private let brightness: (source: ValueSource?, target: CommandTarget)?
    private let temperature: (source: ValueSource?, target: CommandTarget)?
    private let colour: (form: ColourForm, source: ValueSource?, target: CommandTarget)?
    private let scale: Double
    private let usesKelvins: Bool
    /// Whether a brightness alone switches the light on.
    private let brightnessSwitchesOn: Bool
    private let sendsOnFirst: Bool

    /// How the light names colours.
    private enum ColourForm: String, CaseIterable {
        case hs, xy, rgb
    }

    init(_ configuration: EntityConfiguration) throws(DiscoveryProblem) {
        guard let command = try configuration.target("command_topic") else {
            throw DiscoveryProblem("command_topic is missing")
        }
        self.command = command
        let template = configuration["state_value_template"] == nil ? "value_template" : "state_value_template"
        state = try configuration.source("state_topic", template)
        payloads = (
            configuration.payload("payload_on", default: "ON"), configuration.payload("payload_off", default: "OFF")
        )
        brightness = try Self.channel(configuration, "brightness")
        temperature = try Self.channel(configuration, "color_temp")
        var colour: (ColourForm, ValueSource?, CommandTarget)?
        for form in ColourForm.allCases where colour == nil {
            if let channel = try Self.channel(configuration, form.rawValue) {
                colour = (form, channel.source, channel.target)
            }
        }
        self.colour = colour
        let scale = configuration.number("brightness_scale") ?? 255
        guard scale >= 1 else { throw DiscoveryProblem("brightness_scale is less than 1") }
        self.scale = scale
        usesKelvins = configuration.isTrue("color_temp_kelvin")
        let order = configuration.string("on_command_type")
        brightnessSwitchesOn = order == "brightness"
        sendsOnFirst = order == "first"
        isOptimistic = state == nil || configuration.isTrue("optimistic")
        abilities = LightAbilities(
            hasBrightness: brightness != nil, hasColour: colour != nil,
            temperatures: temperature == nil ? nil : LightAbilities.temperatures(configuration))
    }

    private static func channel(
        _ configuration: EntityConfiguration, _ name: String
    ) throws(DiscoveryProblem) -> (source: ValueSource?, target: CommandTarget)? {
        guard let target = try configuration.target("\(name)_command_topic", "\(name)_command_template") else {
            return nil
        }
        return (try configuration.source("\(name)_state_topic", "\(name)_value_template"), target)
    }

    private var sources: [ValueSource] {
        [state, brightness?.source, temperature?.source, colour?.source].compactMap { $0 }
    }

    var topics: Set<String> { Set(sources.map(\.topic)) }

    func read(_ payload: MQTTPayload, from topic: String) throws(UnreadablePayload) -> LightState {
        var result = LightState()
        if let state, state.topic == topic, let text = try state.text(payload) {
            switch text {
            case payloads.on: result.isOn = true
            case payloads.off: result.isOn = false
            default: throw UnreadablePayload("\(text.prefix(40)) is neither \(payloads.on) nor \(payloads.off)")
            }
        }
        if let source = brightness?.source, source.topic == topic, let value = try source.number(payload) {
            result.brightness = min(max(value / scale, 0), 1)
        }
        if let source = temperature?.source, source.topic == topic, let value = try source.number(payload), value > 0 {
            result.colour = .temperature(usesKelvins ? LightAbilities.mireds(value) ?? value : value)
        }
        if let colour, let source = colour.source, source.topic == topic,
            let numbers = try source.numbers(colour.form == .rgb ? 3 : 2, payload)
        {
            switch colour.form {
            case .hs: result.colour = .hueAndSaturation(numbers[0], numbers[1])
            case .xy: result.colour = .chromaticity(numbers[0], numbers[1])
            case .rgb:
                let value = Colour.hueAndSaturation(red: numbers[0], green: numbers[1], blue: numbers[2])
                result.colour = .hueAndSaturation(value.hue, value.saturation)
            }
        }
        return result
    }

    func messages(for wanted: LightState, with known: TraitValues) throws(HomeError) -> [MQTTPublication] {
        if wanted.isOn == false { return [try command.message(.string(payloads.off))] }
        var details: [MQTTPublication] = []
        if let value = wanted.brightness, let brightness {
            details.append(try brightness.target.message(.integer(Int(nearestTo: value * scale, in: 1...Int.max))))
        } else if wanted.isOn == true, brightnessSwitchesOn, let brightness {
            let level = known["LevelControl", "currentLevel"]?.double ?? LightState.maximum
            let value = Int(nearestTo: level / LightState.maximum * scale, in: 1...Int.max)
            details.append(try brightness.target.message(.integer(value)))
        }
        if let value = wanted.colour { details += try messages(for: value) }
        guard wanted.isOn == true, !brightnessSwitchesOn || details.isEmpty else { return details }
        let on = try command.message(.string(payloads.on))
        return sendsOnFirst ? [on] + details : details + [on]
    }

    private func messages(for wanted: LightState.Colour) throws(HomeError) -> [MQTTPublication] {
        let hue: Double, saturation: Double
        switch wanted {
        case .temperature(let mireds):
            guard let temperature else { return [] }
            let value = usesKelvins ? LightAbilities.mireds(mireds) ?? mireds : mireds
            return [try temperature.target.message(.integer(Int(nearestTo: value)))]
        case .hueAndSaturation(let first, let second): (hue, saturation) = (first, second)
        case .chromaticity(let x, let y):
            if let colour, colour.form == .xy { return [try message(colour.target, ["x", "y"], [x, y])] }
            (hue, saturation) = Colour.hueAndSaturation(x: x, y: y)
        }
        guard let colour else { return [] }
        switch colour.form {
        case .hs: return [try message(colour.target, ["hue", "sat"], [hue, saturation])]
        case .xy:
            let value = Colour.chromaticity(hue: hue, saturation: saturation)
            return [try message(colour.target, ["x", "y"], [value.x, value.y])]
        case .rgb:
            let parts = Colour.redGreenBlue(hue: hue, saturation: saturation).map { $0.rounded() }
            return [try message(colour.target, ["red", "green", "blue"], parts)]
        }
    }

    private func message(
        _ target: CommandTarget, _ names: [String], _ numbers: [Double]
    ) throws(HomeError) -> MQTTPublication {
        let values = numbers.map { JSONValue.number(($0 * 10_000).rounded() / 10_000) }
        let text = values.map(\.printed).joined(separator: ",")
        return try target.message(.string(text), Dictionary(zip(names, values)) { first, _ in first })
    }
}
