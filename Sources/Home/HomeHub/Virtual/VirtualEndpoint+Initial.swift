import HomeTypes

extension VirtualEndpoint {
    /// The attributes of a trait before anything has happened. A sensor does not have a value before somebody reports
    /// one.
    static func initialAttributes<Kind: Trait>(of type: Kind.Type) -> Kind.Attributes {
        let initial: (any TraitAttributes)? =
            switch type.name {
            case Matter.OnOffTrait.name: Matter.OnOffTrait.Attributes(onOff: false)
            case Matter.LevelControlTrait.name:
                Matter.LevelControlTrait.Attributes(currentLevel: 254, minLevel: 1, maxLevel: 254)
            case Matter.ColorControlTrait.name:
                Matter.ColorControlTrait.Attributes(
                    currentHue: 0, currentSaturation: 0, colorTemperatureMireds: 370,
                    colorMode: .colorTemperatureMireds, colorTempPhysicalMinMireds: 153,
                    colorTempPhysicalMaxMireds: 500)
            case Matter.FanControlTrait.name:
                Matter.FanControlTrait.Attributes(
                    fanMode: .off, fanModeSequence: .offLowMedHigh, percentSetting: 0, percentCurrent: 0)
            case Matter.WindowCoveringTrait.name:
                Matter.WindowCoveringTrait.Attributes(
                    type: .rollerShade, currentPositionLiftPercentage: 0, operationalStatus: [],
                    targetPositionLiftPercent100ths: 0, currentPositionLiftPercent100ths: 0)
            case Matter.DoorLockTrait.name:
                Matter.DoorLockTrait.Attributes(lockState: .locked, lockType: .deadBolt, actuatorEnabled: true)
            case Matter.ThermostatTrait.name:
                Matter.ThermostatTrait.Attributes(
                    localTemperature: 2_000, occupiedCoolingSetpoint: 2_600, occupiedHeatingSetpoint: 2_000,
                    minHeatSetpointLimit: 700, maxHeatSetpointLimit: 3_000, minCoolSetpointLimit: 1_600,
                    maxCoolSetpointLimit: 3_200, controlSequenceOfOperation: .coolingAndHeating, systemMode: .off)
            case Matter.IdentifyTrait.name: Matter.IdentifyTrait.Attributes(identifyTime: 0)
            case Matter.MediaPlaybackTrait.name: Matter.MediaPlaybackTrait.Attributes(currentState: .notPlaying)
            case Matter.BooleanStateTrait.name: Matter.BooleanStateTrait.Attributes(stateValue: false)
            case Matter.OccupancySensingTrait.name: Matter.OccupancySensingTrait.Attributes(occupancy: [])
            case Google.ChimeTrait.name: Google.ChimeTrait.Attributes(enabled: true)
            default: nil
            }
        return initial as? Kind.Attributes ?? Kind.Attributes()
    }
}
