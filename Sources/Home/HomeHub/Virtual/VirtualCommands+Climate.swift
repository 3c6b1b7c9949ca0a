import HomeTypes

/// Fans and thermostats.
extension VirtualCommands {
    private typealias Fan = Matter.FanControlTrait
    private typealias Thermostat = Matter.ThermostatTrait

    mutating func addClimate() {
        on(Fan.StepCommand.self) { command, traits in
            let now = Int(traits[Fan.self]?.percentSetting ?? 0)
            var next = command.direction == .increase ? now + 10 : now - 10
            let lowest = command.lowestOff == true ? 0 : 10
            if next > 100 { next = command.wrap == true ? lowest : 100 }
            if next < lowest { next = command.wrap == true ? 100 : lowest }
            Self.setFan(percent: UInt8(clamping: next), in: &traits)
        }
        on(Thermostat.SetpointRaiseLowerCommand.self) { command, traits in
            guard var trait = traits[Thermostat.self] else { return }
            // The amount is in tenths of a degree, setpoints are in hundredths.
            let amount = Int(command.amount) * 10
            if command.mode != .cool, let old = trait.occupiedHeatingSetpoint {
                trait.occupiedHeatingSetpoint = Self.limited(
                    Int(old) + amount, trait.minHeatSetpointLimit, trait.maxHeatSetpointLimit)
            }
            if command.mode != .heat, let old = trait.occupiedCoolingSetpoint {
                trait.occupiedCoolingSetpoint = Self.limited(
                    Int(old) + amount, trait.minCoolSetpointLimit, trait.maxCoolSetpointLimit)
            }
            traits[Thermostat.self] = trait
        }
    }

    private static func limited(_ value: Int, _ lowest: Int16?, _ highest: Int16?) -> Int16 {
        let lowest = Int(lowest ?? .min)
        return Int16(clamping: min(max(value, lowest), max(lowest, Int(highest ?? .max))))
    }

    /// Sets a fan's speed, and the mode that goes with it.
    static func setFan(percent: UInt8, in traits: inout TraitCollection) {
        guard var trait = traits[Matter.FanControlTrait.self] else { return }
        trait.percentSetting = percent
        trait.percentCurrent = percent
        trait.fanMode =
            switch percent {
            case 0: .off
            case ..<34: .low
            case ..<67: .medium
            default: .high
            }
        traits[Matter.FanControlTrait.self] = trait
    }

    /// Sets a fan's mode, and the speed that goes with it.
    static func setFan(mode: Matter.FanControlTrait.FanModeEnum, in traits: inout TraitCollection) {
        let percent: UInt8? =
            switch mode {
            case .off: 0
            case .low: 33
            case .medium: 66
            case .high, .on: 100
            case .auto, .smart, .unrecognized_: nil
            }
        if let percent { setFan(percent: percent, in: &traits) }
        traits[Matter.FanControlTrait.self]?.fanMode = mode
    }
}
