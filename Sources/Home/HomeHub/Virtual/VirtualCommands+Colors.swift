import HomeTypes

/// Colours.
extension VirtualCommands {
    private typealias Color = Matter.ColorControlTrait

    mutating func addColors() {
        on(Color.MoveToHueCommand.self) { command, traits in
            guard Self.isActive(traits, command.optionsMask, command.optionsOverride) else { return }
            Self.setHue(command.hue, nil, in: &traits)
        }
        on(Color.MoveToSaturationCommand.self) { command, traits in
            guard Self.isActive(traits, command.optionsMask, command.optionsOverride) else { return }
            Self.setHue(nil, command.saturation, in: &traits)
        }
        on(Color.MoveToHueAndSaturationCommand.self) { command, traits in
            guard Self.isActive(traits, command.optionsMask, command.optionsOverride) else { return }
            Self.setHue(command.hue, command.saturation, in: &traits)
        }
        on(Color.MoveToColorCommand.self) { command, traits in
            guard Self.isActive(traits, command.optionsMask, command.optionsOverride) else { return }
            traits[Color.self]?.currentX = command.colorX
            traits[Color.self]?.currentY = command.colorY
            traits[Color.self]?.colorMode = .currentXAndCurrentY
        }
        on(Color.MoveToColorTemperatureCommand.self) { command, traits in
            guard Self.isActive(traits, command.optionsMask, command.optionsOverride) else { return }
            Self.setTemperature(Int(command.colorTemperatureMireds), in: &traits)
        }
        on(Color.StepColorTemperatureCommand.self) { command, traits in
            guard Self.isActive(traits, command.optionsMask, command.optionsOverride) else { return }
            let now = Int(traits[Color.self]?.colorTemperatureMireds ?? 370)
            let step = Int(command.stepSize)
            Self.setTemperature(command.stepMode == .up ? now + step : now - step, in: &traits)
        }
        on(Color.StopMoveStepCommand.self) { _, _ in }
    }

    private static func isActive(
        _ traits: TraitCollection, _ mask: Color.OptionsBitmap, _ override: Color.OptionsBitmap
    ) -> Bool {
        if traits[Matter.OnOffTrait.self]?.onOff != false { return true }
        let options = traits[Color.self]?.options ?? []
        return mask.contains(.executeIfOff) ? override.contains(.executeIfOff) : options.contains(.executeIfOff)
    }

    private static func setHue(_ hue: UInt8?, _ saturation: UInt8?, in traits: inout TraitCollection) {
        guard var trait = traits[Color.self] else { return }
        if let hue { trait.currentHue = hue }
        if let saturation { trait.currentSaturation = saturation }
        trait.colorMode = .currentHueAndCurrentSaturation
        traits[Color.self] = trait
    }

    private static func setTemperature(_ mireds: Int, in traits: inout TraitCollection) {
        guard var trait = traits[Color.self] else { return }
        let lowest = Int(trait.colorTempPhysicalMinMireds ?? 1)
        let highest = max(lowest, Int(trait.colorTempPhysicalMaxMireds ?? 65_279))
        trait.colorTemperatureMireds = UInt16(clamping: min(max(mireds, lowest), highest))
        trait.colorMode = .colorTemperatureMireds
        traits[Color.self] = trait
    }
}
