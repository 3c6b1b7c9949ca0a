import MQTTDevices

/// Who is at home, from what the trackers of a broker say.
///
/// A person is at home while one of their trackers says so, and away once all of them say so. As long as one has not
/// spoken, for example because the gateway has just started and the broker delivers one message after the other, nobody
/// can say that the person is away.
struct TrackedPersons: Sendable {
    private var choice: GatewayConfiguration.MQTT.Presence
    /// What each tracker said last, by the trackers' identifiers; nil for one that has not spoken.
    private var answers: [String: (tracker: MQTTTracker, isHome: Bool?)] = [:]

    /// Nothing is known yet.
    init(_ choice: GatewayConfiguration.MQTT.Presence) { self.choice = choice }

    /// Adopts whose presence the trackers say. What they have said stays.
    mutating func choose(_ choice: GatewayConfiguration.MQTT.Presence) { self.choice = choice }

    /// Adds a tracker.
    mutating func add(_ tracker: MQTTTracker) {
        answers[tracker.id] = (tracker, answers[tracker.id]?.isHome)
    }

    /// Adopts that nothing describes a tracker any more. By itself that moves nobody; what the tracker said counts no more
    /// when another tracker of the person speaks.
    mutating func remove(_ tracker: MQTTTracker) { answers[tracker.id] = nil }

    /// Adopts what a tracker says.
    /// - Returns: the persons who carry it and of whom it is certain, and whether each of them is at home.
    mutating func take(_ tracker: MQTTTracker, isHome: Bool) -> [(person: String, isHome: Bool)] {
        answers[tracker.id] = (tracker, isHome)
        return persons(with: tracker).compactMap { person in
            presence(of: person).map { (person, $0) }
        }
    }

    /// The trackers of the config that have not spoken, by person. Until they do, the person is not considered away.
    var silent: [String: [String]] {
        guard case .persons(let trackers) = choice else { return [:] }
        return trackers.mapValues { names in names.filter { answers(of: $0).isEmpty }.sorted() }
            .filter { !$0.value.isEmpty }
    }

    /// Whether a person is at home; nil as long as that is not certain.
    private func presence(of person: String) -> Bool? {
        let answers: [Bool?] =
            switch choice {
            case .nobody: []
            case .everyTracker: self.answers.values.filter { $0.tracker.name == person }.map(\.isHome)
            case .persons(let trackers):
                (trackers[person] ?? []).flatMap { name in
                    let answers: [Bool?] = self.answers(of: name)
                    return answers.isEmpty ? [nil] : answers
                }
            }
        if answers.contains(true) { return true }
        return answers.contains(nil) ? nil : false
    }

    /// What the trackers say that have this name in the config, as far as they have spoken.
    private func answers(of name: String) -> [Bool] {
        answers.values.filter { $0.tracker.names.contains(name) }.compactMap(\.isHome)
    }

    private func persons(with tracker: MQTTTracker) -> [String] {
        switch choice {
        case .nobody: []
        case .everyTracker: [tracker.name]
        case .persons(let trackers):
            trackers.filter { !$0.value.isDisjoint(with: tracker.names) }.keys.sorted()
        }
    }
}

extension MQTTTracker {
    /// What the config may call it.
    fileprivate var names: Set<String> { [id, name, topic] }
}
