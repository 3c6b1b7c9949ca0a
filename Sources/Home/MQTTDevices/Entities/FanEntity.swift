import HomeTypes

/// A fan: `FanControl`, and `OnOff` if it is switched separately.
struct FanEntity: Entity {
    let kind = EntityKind.fan
    let deviceType: String? = "FanDeviceType"
    let isOptimistic: Bool
    private let state: ValueSource?
    private let command: CommandTarget
    private let payloads: (on: String, off: String)
    private let percentage: (source: ValueSource?, target: CommandTarget)?
    /// The speeds that the device counts: 1 to 3, or 1 to 100.
    private let speeds: ClosedRange<Double>

    init(_ configuration: EntityConfiguration) throws(DiscoveryProblem) {
        state = try configuration.source("state_topic", "state_value_template")
        guard let command = try configuration.target("command_topic") else {
            throw DiscoveryProblem("command_topic is missing")
        }
        self.command = command
        payloads = (
            configuration.payload("payload_on", default: "ON"), configuration.payload("payload_off", default: "OFF")
        )
        if let target = try configuration.target("percentage_command_topic", "percentage_command_template") {
            percentage = (try configuration.source("percentage_state_topic", "percentage_value_template"), target)
        } else {
            percentage = nil
        }
        let lowest = configuration.number("speed_range_min") ?? 1
        let highest = configuration.number("speed_range_max") ?? 100
        guard lowest >= 1, highest >= lowest, highest <= 65_535 else {
            throw DiscoveryProblem("speed_range_min and speed_range_max are not a range that starts at 1 or more")
        }
        speeds = lowest...highest
        isOptimistic = state == nil || configuration.isTrue("optimistic")
    }

    private var sources: [ValueSource] { [state, percentage?.source].compactMap { $0 } }

    var topics: Set<String> { Set(sources.map(\.topic)) }

    var initial: TraitValues {
        var values = TraitValues("OnOff", ["onOff": .null])
        values.acceptOnOff()
        values.merge(
            TraitValues(
                "FanControl",
                [
                    "fanMode": .null, "fanModeSequence": percentage == nil ? "offHigh" : "offLowMedHigh",
                    "percentSetting": .null, "percentCurrent": .null,
                ]))
        typealias Fan = Matter.FanControlTrait
        values.accept(percentage == nil ? [] : [Fan.StepCommand.self], of: Fan.self)
        return values
    }

    func read(
        _ payload: MQTTPayload, from topic: String, with known: TraitValues
    ) throws(UnreadablePayload) -> EntityReading {
        var isOn = known["OnOff", "onOff"]?.bool
        var percent = known["FanControl", "percentSetting"]?.double
        if let state, state.topic == topic, let text = try state.text(payload) {
            switch text {
            case payloads.on: isOn = true
            case payloads.off: isOn = false
            default: throw UnreadablePayload("\(text.prefix(40)) is neither \(payloads.on) nor \(payloads.off)")
            }
        }
        if let source = percentage?.source, source.topic == topic, let speed = try source.number(payload) {
            percent = self.percent(speed)
        }
        return EntityReading(values: values(isOn: isOn, percent: percent))
    }

    /// The attributes of a fan that is on or off, with the speed that is set.
    private func values(isOn: Bool?, percent: Double?) -> TraitValues {
        var values = TraitValues()
        if let isOn { values["OnOff", "onOff"] = .bool(isOn) }
        if let percent { values["FanControl", "percentSetting"] = .integer(Self.whole(percent)) }
        guard let isOn else { return values }
        let current = isOn ? percent ?? 100 : 0
        values["FanControl", "percentCurrent"] = .integer(Self.whole(current))
        values["FanControl", "fanMode"] = .string(Self.mode(current, hasSpeeds: percentage != nil))
        return values
    }

    /// A percentage or a speed without its fraction.
    private static func whole(_ value: Double) -> Int { Int(nearestTo: value.rounded(.towardZero), in: 0...65_535) }

    private static func mode(_ percent: Double, hasSpeeds: Bool) -> String {
        switch percent {
        case 0: "off"
        case ...33 where hasSpeeds: "low"
        case ...66 where hasSpeeds: "medium"
        default: "high"
        }
    }

    private func percent(_ speed: Double) -> Double {
        guard speed >= speeds.lowerBound else { return 0 }
        let count = speeds.upperBound - speeds.lowerBound + 1
        return (min(speed - speeds.lowerBound + 1, count) / count * 100).rounded(.down)
    }

    private func speed(_ percent: Double) -> Double {
        let count = speeds.upperBound - speeds.lowerBound + 1
        return speeds.lowerBound - 1 + (percent / 100 * count).rounded(.up)
    }

    func perform(_ command: EntityCommand, with known: TraitValues) throws(HomeError) -> EntityAction {
        if let isOn = try command.wantedOnOff(known["OnOff", "onOff"]?.bool) { return try set(isOn: isOn, with: known) }
        guard command.trait == "FanControl", command.name == "step", percentage != nil else { throw command.refusal }
        let step = max(100 / (speeds.upperBound - speeds.lowerBound + 1), 10)
        let current = known["OnOff", "onOff"]?.bool == false ? 0 : known["FanControl", "percentSetting"]?.double ?? 0
        let goesDown = ["decrease", "1"].contains(command.parameters["direction"]?.printed ?? "")
        let wraps = command.parameters["wrap"]?.bool ?? false
        let lowest = command.parameters["lowestOff"]?.bool == false ? step : 0
        var wanted = (current + (goesDown ? -step : step)).rounded()
        if wanted < lowest.rounded() { wanted = wraps ? 100 : lowest }
        if wanted > 100 { wanted = wraps && current >= 100 ? lowest : 100 }
        return try set(percent: wanted)
    }

    func write(
        _ attributes: [String: JSONValue], of trait: String, with known: TraitValues
    ) throws(HomeError) -> EntityAction {
        if trait == "FanControl", let percent = attributes["percentSetting"]?.double, attributes.count == 1 {
            guard (0...100).contains(percent) else {
                throw HomeError.outOfRange("percentSetting is \(percent); it must be from 0 to 100")
            }
            return try set(percent: percent)
        }
        if trait == "FanControl", let mode = attributes["fanMode"]?.string, attributes.count == 1 {
            switch mode {
            case "off": return try set(isOn: false, with: known)
            case "on", "high": return try percentage == nil ? set(isOn: true, with: known) : set(percent: 100)
            case "medium" where percentage != nil: return try set(percent: 66)
            case "low" where percentage != nil: return try set(percent: 33)
            default: throw HomeError.unimplemented("this fan does not have the mode \(mode)")
            }
        }
        throw HomeError.unimplemented(
            "this fan cannot change \(attributes.keys.sorted().joined(separator: ", "))")
    }

    private func set(isOn: Bool, with known: TraitValues) throws(HomeError) -> EntityAction {
        EntityAction(
            publications: [try command.message(.string(isOn ? payloads.on : payloads.off))],
            expected: values(isOn: isOn, percent: known["FanControl", "percentSetting"]?.double))
    }

    private func set(percent: Double) throws(HomeError) -> EntityAction {
        guard let percentage, percent > 0 else {
            return EntityAction(
                publications: [try command.message(.string(percent > 0 ? payloads.on : payloads.off))],
                expected: values(isOn: percent > 0, percent: percentage == nil ? nil : percent))
        }
        return EntityAction(
            publications: [try percentage.target.message(.integer(Self.whole(speed(percent))))],
            expected: values(isOn: true, percent: percent))
    }
}
