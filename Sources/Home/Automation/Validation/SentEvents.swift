import HomeTypes

/// Which events of its traits a device sends, as far as it declares them.
public enum SentEvents {
    /// Whether a device sends an event of a trait that it has. A device that does not say what it supports may send it.
    /// - Parameter state: the state of the trait.
    public static func includes(_ event: String, of state: any Trait) -> Bool {
        guard let button = state as? Matter.SwitchTrait, let supported = button.featureMap else { return true }
        guard let needed = features(for: event) else { return true }
        return !supported.isDisjoint(with: needed)
    }

    /// The features of a switch, each of which lets it send an event (Matter 1.4, cluster Switch, section 1.13.4); nil
    /// for an event that needs none.
    private static func features(for event: String) -> Matter.SwitchTrait.Feature? {
        typealias Switch = Matter.SwitchTrait
        switch event {
        case Switch.SwitchLatchedEvent.name: return .latchingSwitch
        case Switch.InitialPressEvent.name: return .momentarySwitch
        case Switch.ShortReleaseEvent.name: return .momentarySwitchRelease
        case Switch.LongPressEvent.name, Switch.LongReleaseEvent.name: return .momentarySwitchLongPress
        case Switch.MultiPressOngoingEvent.name: return .momentarySwitchMultiPress
        case Switch.MultiPressCompleteEvent.name: return [.momentarySwitchMultiPress, .actionSwitch]
        default: return nil
        }
    }
}
