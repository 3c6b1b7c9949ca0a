import HomeTypes

extension VirtualDevice {
    /// Writes attributes that clients may write. Attributes that belong together change together.
    /// - Throws: `outOfRange` for a setpoint outside the device's limits; nothing is then changed.
    static func write(_ trait: any Trait, to traits: inout TraitCollection) throws(HomeError) {
        if let thermostat = trait as? Matter.ThermostatTrait, let known = traits[Matter.ThermostatTrait.self] {
            try requireLimit(
                thermostat.occupiedHeatingSetpoint, known.minHeatSetpointLimit, known.maxHeatSetpointLimit,
                "occupiedHeatingSetpoint")
            try requireLimit(
                thermostat.occupiedCoolingSetpoint, known.minCoolSetpointLimit, known.maxCoolSetpointLimit,
                "occupiedCoolingSetpoint")
        }
        traits.merge(TraitCollection([trait]))
        if let fan = trait as? Matter.FanControlTrait {
            if let percent = fan.percentSetting {
                VirtualCommands.setFan(percent: percent, in: &traits)
            } else if let mode = fan.fanMode {
                VirtualCommands.setFan(mode: mode, in: &traits)
            }
        }
    }

    private static func requireLimit(
        _ value: Int16?, _ lowest: Int16?, _ highest: Int16?, _ name: String
    ) throws(HomeError) {
        guard let value else { return }
        let lowest = lowest ?? .min
        let highest = max(lowest, highest ?? .max)
        guard (lowest...highest).contains(value) else {
            throw HomeError.outOfRange("\(name) is \(value); this device accepts \(lowest) to \(highest)")
        }
    }
}
