/// A button: `Switch`. It is a momentary switch, and its actions are events.
struct ButtonEntity: Entity {
    let kind = EntityKind.button
    let deviceType: String? = "GenericSwitchDeviceType"
    private let source: ValueSource
    private let gestures: [String: ButtonGesture]

    /// Returns nil for an event that is not of a button, and for one of several buttons: they would be one button here.
    init?(_ configuration: EntityConfiguration) throws(DiscoveryProblem) {
        guard configuration.string("device_class") == "button" else { return nil }
        guard let source = try configuration.source("state_topic", "value_template") else {
            throw DiscoveryProblem("state_topic is missing")
        }
        let names = (configuration["event_types"]?.array ?? []).compactMap(\.string)
        let actions = names.map { (name: $0, action: ButtonAction($0)) }
        guard !names.isEmpty else { throw DiscoveryProblem("event_types is missing") }
        guard Set(actions.map(\.action.button)).count == 1 else { return nil }
        self.source = source
        gestures = Dictionary(actions.map { ($0.name, $0.action.gesture) }) { first, _ in first }
    }

    var topics: Set<String> { [source.topic] }

    /// It is never held between two messages.
    var initial: TraitValues {
        let kinds = Set(gestures.values)
        let most = kinds.map { if case .presses(let count) = $0 { count } else { 1 } }.max() ?? 1
        // The bits of Matter's features: momentary, with release, with a long press, with several presses.
        var features = 1 << 1
        if !kinds.isDisjoint(with: [.release, .hold, .releaseAfterHold]) { features |= 1 << 2 }
        if !kinds.isDisjoint(with: [.hold, .releaseAfterHold]) { features |= 1 << 3 }
        if most > 1 { features |= 1 << 4 }
        var values = TraitValues(
            "Switch", ["numberOfPositions": 2, "currentPosition": 0, "featureMap": .integer(features)])
        if most > 1 { values["Switch", "multiPressMax"] = .integer(most) }
        return values
    }

    func read(
        _ payload: MQTTPayload, from topic: String, with known: TraitValues
    ) throws(UnreadablePayload) -> EntityReading {
        // A retained message reports something that happened earlier.
        guard !payload.isRetained, let name = try source.event(payload) else { return EntityReading() }
        guard let gesture = gestures[name] else { return EntityReading() }
        return EntityReading(events: [.button(gesture)])
    }
}
