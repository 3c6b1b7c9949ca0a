/// A doorbell that reports presses: `DoorbellPress`.
struct EventEntity: Entity {
    let kind = EntityKind.doorbell
    let deviceType: String? = "DoorbellDeviceType"
    private let source: ValueSource
    private let pressTypes: Set<String>

    /// Returns nil for an event that is not of a doorbell.
    init?(_ configuration: EntityConfiguration) throws(DiscoveryProblem) {
        guard configuration.string("device_class") == "doorbell" else { return nil }
        guard let source = try configuration.source("state_topic", "value_template") else {
            throw DiscoveryProblem("state_topic is missing")
        }
        self.source = source
        let types = Set((configuration["event_types"]?.array ?? []).compactMap(\.string))
        // A doorbell may also report a long press and the end of a press.
        let presses = types.filter { ["press", "pressed", "ring", "single"].contains($0) }
        pressTypes = presses.isEmpty ? types : presses
    }

    var topics: Set<String> { [source.topic] }

    /// The type has the trait Switch for its button, which is never held between two messages.
    var initial: TraitValues {
        var values = TraitValues("Switch", ["numberOfPositions": 2, "currentPosition": 0])
        values.add("DoorbellPress")
        return values
    }

    func read(
        _ payload: MQTTPayload, from topic: String, with known: TraitValues
    ) throws(UnreadablePayload) -> EntityReading {
        // A retained message reports something that happened earlier.
        guard !payload.isRetained, let type = try source.event(payload) else { return EntityReading() }
        guard pressTypes.isEmpty || pressTypes.contains(type) else { return EntityReading() }
        return EntityReading(events: [.doorbellPressed])
    }
}
