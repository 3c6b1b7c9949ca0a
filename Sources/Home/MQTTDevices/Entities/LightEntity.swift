import HomeTypes

/// A light: `OnOff`, with brightness `LevelControl`, and with white or colour `ColorControl`.
struct LightEntity: Entity {
    let kind = EntityKind.light
    private let wire: any LightWire

    init(_ configuration: EntityConfiguration) throws(DiscoveryProblem) {
        switch configuration.string("schema") ?? "basic" {
        case "basic", "default": wire = try BasicLightWire(configuration)
        case "json": wire = try JSONLightWire(configuration)
        case let other: throw DiscoveryProblem("the schema \(other) of lights is not supported")
        }
    }

    private var abilities: LightAbilities { wire.abilities }

    var deviceType: String? {
        if abilities.hasColour { return "ExtendedColorLightDeviceType" }
        if abilities.temperatures != nil { return "ColorTemperatureLightDeviceType" }
        return abilities.hasBrightness ? "DimmableLightDeviceType" : "OnOffLightDeviceType"
    }

    var topics: Set<String> { wire.topics }

    var isOptimistic: Bool { wire.isOptimistic }

    var initial: TraitValues {
        var values = TraitValues("OnOff", ["onOff": .null])
        values.acceptOnOff()
        typealias Level = Matter.LevelControlTrait
        typealias Color = Matter.ColorControlTrait
        if abilities.hasBrightness || abilities.hasColour || abilities.temperatures != nil {
            values.merge(TraitValues("LevelControl", ["currentLevel": .null, "minLevel": 1, "maxLevel": 254]))
            let dimming: [any Command.Type] = [
                Level.MoveToLevelCommand.self, Level.MoveToLevelWithOnOffCommand.self, Level.StepCommand.self,
                Level.StepWithOnOffCommand.self,
            ]
            values.accept(abilities.hasBrightness ? dimming : [], of: Level.self)
        }
        guard abilities.hasColour || abilities.temperatures != nil else { return values }
        // The bits of the cluster's features (section 3.2.4): hue and saturation 1, chromaticity 8, temperature 16.
        var capabilities = abilities.hasColour ? 1 | 8 : 0
        var commands: [any Command.Type] = []
        if abilities.hasColour {
            commands = [
                Color.MoveToHueCommand.self, Color.MoveToSaturationCommand.self,
                Color.MoveToHueAndSaturationCommand.self, Color.MoveToColorCommand.self,
            ]
        }
        if let range = abilities.temperatures {
            capabilities |= 16
            commands.append(Color.MoveToColorTemperatureCommand.self)
            values["ColorControl", "colorTempPhysicalMinMireds"] = .integer(Int(nearestTo: range.lowerBound))
            values["ColorControl", "colorTempPhysicalMaxMireds"] = .integer(Int(nearestTo: range.upperBound))
        }
        values["ColorControl", "colorCapabilities"] = .integer(capabilities)
        values.accept(commands, of: Color.self)
        return values
    }

    func read(
        _ payload: MQTTPayload, from topic: String, with known: TraitValues
    ) throws(UnreadablePayload) -> EntityReading {
        EntityReading(values: try wire.read(payload, from: topic).values)
    }

    func perform(_ command: EntityCommand, with known: TraitValues) throws(HomeError) -> EntityAction {
        var wanted = try LightState(command, known: known)
        try require(wanted, for: command)
        // A lamp that shows white reports a colour once it is given one. A lamp is never asked for what it does not
        // have.
        if case .temperature = wanted.colour, abilities.temperatures == nil { wanted.colour = nil }
        let publications = try wire.messages(for: wanted, with: known)
        return EntityAction(publications: publications, expected: wanted.values)
    }

    private func require(_ wanted: LightState, for command: EntityCommand) throws(HomeError) {
        switch wanted.colour {
        case .temperature where abilities.temperatures == nil: throw command.refusal
        case .hueAndSaturation where !abilities.hasColour, .chromaticity where !abilities.hasColour:
            throw command.refusal
        default: break
        }
        if wanted.brightness != nil, !abilities.hasBrightness { throw command.refusal }
    }
}

/// What a light can do.
struct LightAbilities: Sendable, Hashable {
    /// Whether it can be dimmed.
    var hasBrightness = false
    /// Whether it has colours.
    var hasColour = false
    /// The whites that it has, in mireds; nil for a light without a choice of whites.
    var temperatures: ClosedRange<Double>?

    /// The range of whites that a description names, or the usual one.
    static func temperatures(_ configuration: EntityConfiguration) -> ClosedRange<Double> {
        let lowest =
            configuration.number("min_mireds") ?? configuration.number("max_kelvin").flatMap(Self.mireds) ?? 153
        let highest =
            configuration.number("max_mireds") ?? configuration.number("min_kelvin").flatMap(Self.mireds) ?? 500
        let bounds = [lowest, highest].map { min(max($0.rounded(), 1), 65_279) }
        return min(bounds[0], bounds[1])...max(bounds[0], bounds[1])
    }

    /// Mireds of a temperature in kelvins, and the reverse.
    static func mireds(_ kelvins: Double) -> Double? { kelvins > 0 ? 1_000_000 / kelvins : nil }
}

/// How the messages of a light are written.
protocol LightWire: Sendable {
    var abilities: LightAbilities { get }
    var topics: Set<String> { get }
    var isOptimistic: Bool { get }
    func read(_ payload: MQTTPayload, from topic: String) throws(UnreadablePayload) -> LightState
    func messages(for wanted: LightState, with known: TraitValues) throws(HomeError) -> [MQTTPublication]
}
