import HomeTypes

extension LightState {
    /// The state that a command requests from a light.
    /// - Throws: `unimplemented` for a command that lights on a broker do not have, `outOfRange` for a value that the
    ///   trait does not permit.
    init(_ command: EntityCommand, known: TraitValues) throws(HomeError) {
        self.init()
        if let isOn = try command.wantedOnOff(known["OnOff", "onOff"]?.bool) {
            self.isOn = isOn
            return
        }
        switch command.trait {
        case "LevelControl": try wantLevel(command, known)
        case "ColorControl": try wantColour(command, known)
        default: throw command.refusal
        }
        if let tenths = command.parameters["transitionTime"]?.double, tenths > 0 { transition = tenths / 10 }
    }

    private mutating func wantLevel(_ command: EntityCommand, _ known: TraitValues) throws(HomeError) {
        let withOnOff = command.name.hasSuffix("WithOnOff")
        let level: Double
        switch command.name {
        case "moveToLevel", "moveToLevelWithOnOff":
            level = try Self.checked(command, "level", in: 0...Self.maximum)
        case "step", "stepWithOnOff":
            guard let current = known["LevelControl", "currentLevel"]?.double else {
                throw HomeError.failedPrecondition("the light has not reported its level yet; use moveToLevel")
            }
            let size = try Self.checked(command, "stepSize", in: 0...Self.maximum)
            let goesDown =
                command.parameters["stepMode"]?.printed.lowercased() == "down"
                || command.parameters["stepMode"]?.int == 1
            level = min(max(current + (goesDown ? -size : size), withOnOff ? 0 : 1), Self.maximum)
        default: throw command.refusal
        }
        if withOnOff, level == 0 {
            isOn = false
            return
        }
        // A level without "with on/off" changes nothing while the light is off (Matter application clusters, 1.6.7).
        if !withOnOff, known["OnOff", "onOff"]?.bool == false {
            throw HomeError.failedPrecondition("the light is off; use \(command.name)WithOnOff to switch it on as well")
        }
        if withOnOff { isOn = true }
        brightness = max(level, 1) / Self.maximum
    }

    private mutating func wantColour(_ command: EntityCommand, _ known: TraitValues) throws(HomeError) {
        let hue = known["ColorControl", "currentHue"]?.double ?? 0
        let saturation = known["ColorControl", "currentSaturation"]?.double ?? Self.maximum
        switch command.name {
        case "moveToHueAndSaturation":
            colour = Self.colour(
                try Self.checked(command, "hue", in: 0...Self.maximum),
                try Self.checked(command, "saturation", in: 0...Self.maximum))
        case "moveToHue": colour = Self.colour(try Self.checked(command, "hue", in: 0...Self.maximum), saturation)
        case "moveToSaturation":
            colour = Self.colour(hue, try Self.checked(command, "saturation", in: 0...Self.maximum))
        case "moveToColor":
            colour = Self.chromaticity(
                x: try Self.checked(command, "colorX", in: 0...Self.greatestColour),
                y: try Self.checked(command, "colorY", in: 0...Self.greatestColour))
        case "moveToColorTemperature":
            let lowest = known["ColorControl", "colorTempPhysicalMinMireds"]?.double ?? 1
            let highest = known["ColorControl", "colorTempPhysicalMaxMireds"]?.double ?? Self.greatestColour
            let wanted = try Self.checked(command, "colorTemperatureMireds", in: 0...Self.greatestColour)
            // The cluster moves to the nearest temperature that the light has (section 3.2.11.14).
            colour = .temperature(min(max(wanted, lowest), max(lowest, highest)))
        default: throw command.refusal
        }
    }

    private static let greatestColour = 65_279.0

    private static func colour(_ hue: Double, _ saturation: Double) -> Colour {
        .hueAndSaturation(hue / maximum * 360, saturation / maximum * 100)
    }

    private static func checked(
        _ command: EntityCommand, _ name: String, in range: ClosedRange<Double>
    ) throws(HomeError) -> Double {
        let value = try command.number(name)
        guard range.contains(value) else {
            throw HomeError.outOfRange(
                "\(name) of \(command.name) is \(command.parameters[name]?.printed ?? ""); it must be from "
                    + "\(Int(nearestTo: range.lowerBound)) to \(Int(nearestTo: range.upperBound))")
        }
        return value
    }
}
