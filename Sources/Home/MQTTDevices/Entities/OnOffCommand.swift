import HomeTypes

extension EntityCommand {
    /// The state that a command of the trait OnOff requests; nil for a command of another trait.
    /// - Parameter isOn: the current state; nil if it is unknown.
    func wantedOnOff(_ isOn: Bool?) throws(HomeError) -> Bool? {
        guard trait == "OnOff" else { return nil }
        switch name {
        case "on", "onWithRecallGlobalScene", "onWithTimedOff": return true
        case "off", "offWithEffect": return false
        case "toggle":
            guard let isOn else {
                throw HomeError.failedPrecondition(
                    "the device has not reported yet whether it is on; send on or off instead of toggle")
            }
            return !isOn
        default: throw refusal
        }
    }
}

extension TraitValues {
    /// Names the commands of the trait OnOff that ``EntityCommand/wantedOnOff(_:)`` understands.
    mutating func acceptOnOff() {
        typealias OnOff = Matter.OnOffTrait
        accept(
            [
                OnOff.OnCommand.self, OnOff.OffCommand.self, OnOff.ToggleCommand.self, OnOff.OffWithEffectCommand.self,
                OnOff.OnWithRecallGlobalSceneCommand.self, OnOff.OnWithTimedOffCommand.self,
            ], of: OnOff.self)
    }
}
