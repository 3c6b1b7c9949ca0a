import HomeTypes

/// Switches and levels.
extension VirtualCommands {
    private typealias OnOff = Matter.OnOffTrait
    private typealias Level = Matter.LevelControlTrait

    mutating func addSwitching() {
        on(OnOff.OnCommand.self) { _, traits in traits[OnOff.self]?.onOff = true }
        on(OnOff.OffCommand.self) { _, traits in traits[OnOff.self]?.onOff = false }
        on(OnOff.ToggleCommand.self) { _, traits in
            let isOff = traits[OnOff.self]?.onOff == false
            traits[OnOff.self]?.onOff = isOff
        }
        on(OnOff.OffWithEffectCommand.self) { _, traits in traits[OnOff.self]?.onOff = false }
    }

    mutating func addLevels() {
        on(Level.MoveToLevelCommand.self) { command, traits in
            guard Self.isActive(traits, command.optionsMask, command.optionsOverride) else { return }
            Self.setLevel(Int(command.level), in: &traits)
        }
        on(Level.MoveToLevelWithOnOffCommand.self) { command, traits in
            Self.setLevel(Int(command.level), in: &traits)
            Self.switchByLevel(&traits)
        }
        on(Level.MoveCommand.self) { command, traits in
            guard Self.isActive(traits, command.optionsMask, command.optionsOverride) else { return }
            Self.setLevel(command.moveMode == .up ? 254 : 0, in: &traits)
        }
        on(Level.MoveWithOnOffCommand.self) { command, traits in
            Self.setLevel(command.moveMode == .up ? 254 : 0, in: &traits)
            Self.switchByLevel(&traits)
        }
        on(Level.StepCommand.self) { command, traits in
            guard Self.isActive(traits, command.optionsMask, command.optionsOverride) else { return }
            Self.step(command.stepMode, by: command.stepSize, &traits)
        }
        on(Level.StepWithOnOffCommand.self) { command, traits in
            Self.step(command.stepMode, by: command.stepSize, &traits)
            Self.switchByLevel(&traits)
        }
        on(Level.StopCommand.self) { _, _ in }
        on(Level.StopWithOnOffCommand.self) { _, _ in }
    }

    /// Whether a command without on/off is carried out: a device that is off ignores it unless an option says otherwise
    /// (Matter application clusters, section 1.6.6.9).
    private static func isActive(
        _ traits: TraitCollection, _ mask: Level.OptionsBitmap, _ override: Level.OptionsBitmap
    ) -> Bool {
        if traits[OnOff.self]?.onOff != false { return true }
        let options = traits[Level.self]?.options ?? []
        return mask.contains(.executeIfOff) ? override.contains(.executeIfOff) : options.contains(.executeIfOff)
    }

    private static func step(_ mode: Level.StepModeEnum, by size: UInt8, _ traits: inout TraitCollection) {
        let level = Int(traits[Level.self]?.currentLevel ?? 0)
        setLevel(mode == .up ? level + Int(size) : level - Int(size), in: &traits)
    }

    private static func setLevel(_ level: Int, in traits: inout TraitCollection) {
        guard var trait = traits[Level.self] else { return }
        let lowest = Int(trait.minLevel ?? 0)
        let highest = Int(trait.maxLevel ?? 254)
        trait.currentLevel = UInt8(clamping: min(max(level, lowest), max(lowest, highest)))
        traits[Level.self] = trait
    }

    /// The lowest level is off, any other on.
    private static func switchByLevel(_ traits: inout TraitCollection) {
        guard let level = traits[Level.self] else { return }
        traits[OnOff.self]?.onOff = (level.currentLevel ?? 0) > (level.minLevel ?? 0)
    }
}
