import HomeTypes

/// Blinds and locks.
extension VirtualCommands {
    private typealias Covering = Matter.WindowCoveringTrait
    private typealias Lock = Matter.DoorLockTrait

    mutating func addOpenings() {
        on(Covering.UpOrOpenCommand.self) { _, traits in Self.lift(to: 0, &traits) }
        on(Covering.DownOrCloseCommand.self) { _, traits in Self.lift(to: 10_000, &traits) }
        on(Covering.StopMotionCommand.self) { _, _ in }
        on(Covering.GoToLiftPercentageCommand.self) { command, traits in
            guard command.liftPercent100thsValue <= 10_000 else {
                throw HomeError.outOfRange(
                    "liftPercent100thsValue is \(command.liftPercent100thsValue); it must be at most 10000")
            }
            Self.lift(to: command.liftPercent100thsValue, &traits)
        }
        on(Lock.LockDoorCommand.self) { _, traits in traits[Lock.self]?.lockState = .locked }
        on(Lock.UnlockDoorCommand.self) { command, traits in
            if traits[Lock.self]?.requirePINforRemoteOperation == true, command.pinCode?.isEmpty != false {
                throw HomeError.failedPrecondition("this lock needs a PIN: pass pinCode")
            }
            traits[Lock.self]?.lockState = .unlocked
        }
    }

    /// Moves a covering. 0 is open.
    private static func lift(to position: UInt16, _ traits: inout TraitCollection) {
        guard var trait = traits[Covering.self] else { return }
        trait.targetPositionLiftPercent100ths = position
        trait.currentPositionLiftPercent100ths = position
        trait.currentPositionLiftPercentage = UInt8(clamping: position / 100)
        traits[Covering.self] = trait
    }
}
