import MQTTDevices

/// Who is at home, from what the trackers of a broker say.
struct TrackedPersons: Sendable {
    private let choice: GatewayConfiguration.MQTT.Presence
    /// What each person's trackers said last, by the trackers' identifiers.
    private var answers: [String: [String: Bool]] = [:]

    /// Nothing is known yet.
    init(_ choice: GatewayConfiguration.MQTT.Presence) { self.choice = choice }

    /// Adopts what a tracker says.
    /// - Returns: the persons who carry it, and whether each of them is at home. A person with several trackers is at home
    ///   while one of them is.
    mutating func take(_ tracker: MQTTTracker, isHome: Bool) -> [(person: String, isHome: Bool)] {
        persons(with: tracker).map { person in
            answers[person, default: [:]][tracker.id] = isHome
            return (person, answers[person]?.values.contains(true) == true)
        }
    }

    private func persons(with tracker: MQTTTracker) -> [String] {
        switch choice {
        case .nobody: []
        case .everyTracker: [tracker.name]
        case .persons(let trackers):
            trackers.filter { !$0.value.isDisjoint(with: [tracker.id, tracker.name, tracker.topic]) }.keys.sorted()
        }
    }
}
