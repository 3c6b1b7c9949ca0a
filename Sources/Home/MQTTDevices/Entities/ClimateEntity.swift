import HomeTypes

/// A thermostat: `Thermostat`. Temperatures are in hundredths of a degree Celsius.
struct ClimateEntity: Entity {
    let kind = EntityKind.thermostat
    let deviceType: String? = "ThermostatDeviceType"
    private let current: ValueSource?
    private let mode: Channel
    private let target: Channel
    private let low: Channel
    private let high: Channel
    private let action: ValueSource?
    private let modes: [String]
    private let range: ClosedRange<Double>
    private let isFahrenheit: Bool

    private struct Channel: Sendable {
        let source: ValueSource?
        let target: CommandTarget?

        init(_ configuration: EntityConfiguration, _ name: String) throws(DiscoveryProblem) {
            source = try configuration.source("\(name)_state_topic", "\(name)_state_template")
            target = try configuration.target("\(name)_command_topic", "\(name)_command_template")
        }
    }

    init(_ configuration: EntityConfiguration) throws(DiscoveryProblem) {
        current = try configuration.source("current_temperature_topic", "current_temperature_template")
        mode = try Channel(configuration, "mode")
        target = try Channel(configuration, "temperature")
        low = try Channel(configuration, "temperature_low")
        high = try Channel(configuration, "temperature_high")
        // The current activity is only shown. If its template is not supported, nothing else is lost.
        action =
            (try? configuration.template("action_template")) != nil || configuration["action_template"] == nil
            ? try configuration.source("action_topic", "action_template") : nil
        guard target.target != nil || low.target != nil || high.target != nil else {
            throw DiscoveryProblem("temperature_command_topic is missing")
        }
        modes = (configuration["modes"]?.array ?? ["auto", "off", "cool", "heat", "dry", "fan_only"]).compactMap(
            \.string)
        isFahrenheit = configuration.string("temperature_unit")?.uppercased() == "F"
        let limits = (
            configuration.number("min_temp") ?? (isFahrenheit ? 45 : 7),
            configuration.number("max_temp") ?? (isFahrenheit ? 95 : 35)
        )
        guard limits.0 <= limits.1, limits.0 >= -100, limits.1 <= 250 else {
            throw DiscoveryProblem("min_temp and max_temp are not a range")
        }
        range = limits.0...limits.1
    }

    private var sources: [ValueSource] {
        [current, mode.source, target.source, low.source, high.source, action].compactMap { $0 }
    }

    var topics: Set<String> { Set(sources.map(\.topic)) }

    var isOptimistic: Bool { target.source == nil && low.source == nil && high.source == nil }

    private var heats: Bool {
        modes.contains("heat") || modes.contains("heat_cool") || modes.contains("auto") || !cools
    }
    private var cools: Bool { modes.contains("cool") || modes.contains("heat_cool") }

    var initial: TraitValues {
        var values = TraitValues("Thermostat", ["localTemperature": .null, "systemMode": .null])
        let lowest = JSONValue.integer(hundredths(range.lowerBound)),
            highest = JSONValue.integer(hundredths(range.upperBound))
        if heats {
            values["Thermostat", "occupiedHeatingSetpoint"] = .null
            values["Thermostat", "absMinHeatSetpointLimit"] = lowest
            values["Thermostat", "absMaxHeatSetpointLimit"] = highest
        }
        if cools {
            values["Thermostat", "occupiedCoolingSetpoint"] = .null
            values["Thermostat", "absMinCoolSetpointLimit"] = lowest
            values["Thermostat", "absMaxCoolSetpointLimit"] = highest
        }
        values["Thermostat", "controlSequenceOfOperation"] =
            heats && cools ? "coolingAndHeating" : cools ? "coolingOnly" : "heatingOnly"
        values.accept([Matter.ThermostatTrait.SetpointRaiseLowerCommand.self], of: Matter.ThermostatTrait.self)
        return values
    }

    /// Hundredths of a degree Celsius of a temperature as the device writes it.
    private func hundredths(_ value: Double) -> Int {
        let celsius = isFahrenheit ? (value - 32) / 1.8 : value
        return Int(nearestTo: celsius * 100, in: -27_315...32_767)
    }

    private func written(_ hundredths: Double) -> JSONValue {
        let celsius = hundredths / 100
        let value = isFahrenheit ? celsius * 1.8 + 32 : celsius
        return .number((value * 100).rounded() / 100)
    }

    func read(
        _ payload: MQTTPayload, from topic: String, with known: TraitValues
    ) throws(UnreadablePayload) -> EntityReading {
        var values = TraitValues()
        if let current, current.topic == topic, let value = try current.number(payload) {
            values["Thermostat", "localTemperature"] = .integer(hundredths(value))
        }
        if let source = mode.source, source.topic == topic, let text = try source.text(payload) {
            guard let mode = Self.systemModes[text] else { throw UnreadablePayload("\(text.prefix(40)) is not a mode") }
            values["Thermostat", "systemMode"] = .string(mode)
        }
        if let source = target.source, source.topic == topic, let value = try source.number(payload) {
            let mode = (values["Thermostat", "systemMode"] ?? known["Thermostat", "systemMode"])?.string
            values["Thermostat", setpoint(in: mode)] = .integer(hundredths(value))
        }
        if let source = low.source, source.topic == topic, let value = try source.number(payload) {
            values["Thermostat", "occupiedHeatingSetpoint"] = .integer(hundredths(value))
        }
        if let source = high.source, source.topic == topic, let value = try source.number(payload) {
            values["Thermostat", "occupiedCoolingSetpoint"] = .integer(hundredths(value))
        }
        if let action, action.topic == topic, let text = try action.text(payload), let state = Self.runningStates[text]
        {
            values["Thermostat", "thermostatRunningState"] = .integer(state)
        }
        return EntityReading(values: values)
    }

    /// The attribute that a device with one setpoint means.
    private func setpoint(in mode: String?) -> String {
        mode == "cool" && cools || !heats ? "occupiedCoolingSetpoint" : "occupiedHeatingSetpoint"
    }

    private static let systemModes = [
        "off": "off", "heat": "heat", "cool": "cool", "auto": "auto", "heat_cool": "auto", "dry": "dry",
        "fan_only": "fanOnly", "emergency_heating": "emergencyHeat", "sleep": "sleep",
    ]

    /// The bits of the attribute: heat 1, cool 2, fan 4 (Matter application clusters, section 4.3.8).
    private static let runningStates = [
        "off": 0, "idle": 0, "heating": 1, "preheating": 1, "heat": 1, "cooling": 2, "cool": 2, "fan": 4, "fan_only": 4,
        "drying": 4,
    ]

    func perform(_ command: EntityCommand, with known: TraitValues) throws(HomeError) -> EntityAction {
        guard command.trait == "Thermostat", command.name == "setpointRaiseLower" else { throw command.refusal }
        let amount = try command.number("amount") * 10
        let mode = command.parameters["mode"]?.printed ?? "both"
        var attributes: [String: JSONValue] = [:]
        for (name, attribute) in [("heat", "occupiedHeatingSetpoint"), ("cool", "occupiedCoolingSetpoint")]
        where mode == name || mode == "both" {
            guard let value = known["Thermostat", attribute]?.double else { continue }
            let limits = hundredths(range.lowerBound)...hundredths(range.upperBound)
            attributes[attribute] = .integer(Int(nearestTo: (value + amount).rounded(.towardZero), in: limits))
        }
        guard !attributes.isEmpty else {
            throw HomeError.failedPrecondition("the thermostat has not reported this setpoint yet; write it instead")
        }
        return try write(attributes, of: "Thermostat", with: known)
    }

    func write(
        _ attributes: [String: JSONValue], of trait: String, with known: TraitValues
    ) throws(HomeError) -> EntityAction {
        var action = EntityAction(publications: [], expected: TraitValues(trait, attributes))
        for (name, value) in attributes.sorted(by: { $0.key < $1.key }) {
            switch (trait, name) {
            case ("Thermostat", "systemMode"): action.publications.append(try modeMessage(value.printed))
            case ("Thermostat", "occupiedHeatingSetpoint"), ("Thermostat", "occupiedCoolingSetpoint"):
                action.publications.append(try setpointMessage(name, value, known))
            default: throw HomeError.unimplemented("this thermostat cannot change \(name)")
            }
        }
        return action
    }

    private func modeMessage(_ mode: String) throws(HomeError) -> MQTTPublication {
        guard let target = mode.isEmpty ? nil : self.mode.target,
            let word = modes.first(where: { Self.systemModes[$0] == mode })
        else { throw HomeError.unimplemented("this thermostat does not have the mode \(mode)") }
        return try target.message(.string(word))
    }

    private func setpointMessage(
        _ name: String, _ value: JSONValue, _ known: TraitValues
    ) throws(HomeError) -> MQTTPublication {
        guard !value.isText, let wanted = value.double else {
            throw HomeError.invalidArgument("\(name) is not a number")
        }
        let limits = hundredths(range.lowerBound)...hundredths(range.upperBound)
        guard (Double(limits.lowerBound)...Double(limits.upperBound)).contains(wanted) else {
            throw HomeError.outOfRange(
                "\(name) is \(value.printed); this thermostat permits \(limits.lowerBound) to \(limits.upperBound)")
        }
        let separate = name == "occupiedHeatingSetpoint" ? low.target : high.target
        let single = setpoint(in: known["Thermostat", "systemMode"]?.string) == name ? target.target : nil
        guard let channel = separate ?? single else {
            throw HomeError.failedPrecondition("this thermostat does not have \(name) in its current mode")
        }
        return try channel.message(written(wanted))
    }
}
