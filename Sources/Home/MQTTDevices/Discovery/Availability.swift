/// Whether an entity can be reached, from the topics that report it.
struct Availability: Sendable, Hashable {
    /// One topic.
    struct Topic: Sendable, Hashable {
        let source: ValueSource
        let available: String
        let unavailable: String
        /// A topic that may never be published counts only once it has been.
        var isOptional = false
    }

    /// How several topics count.
    enum Mode: String, Sendable {
        case all, any, latest
    }

    let topics: [Topic]
    let mode: Mode

    /// Without a topic, an entity is reachable while the broker is.
    init(topics: [Topic] = [], mode: Mode = .latest) {
        self.topics = topics
        self.mode = mode
    }

    /// Reads the availability in a description.
    init(_ configuration: EntityConfiguration) throws(DiscoveryProblem) {
        let entries: [EntityConfiguration]
        if let list = configuration["availability"]?.array ?? configuration["availability"].map({ [$0] }) {
            guard list.count <= 16 else { throw DiscoveryProblem("availability names more than 16 topics") }
            entries = list.map { EntityConfiguration(component: "availability", $0.object ?? [:]) }
        } else if configuration["availability_topic"] != nil {
            entries = [configuration]
        } else {
            entries = []
        }
        let isList = configuration["availability"] != nil
        var topics: [Topic] = []
        for entry in entries {
            guard
                let source = try entry.source(
                    isList ? "topic" : "availability_topic", isList ? "value_template" : "availability_template")
            else { throw DiscoveryProblem("a topic of availability is missing") }
            topics.append(
                Topic(
                    source: source, available: entry.payload("payload_available", default: "online"),
                    unavailable: entry.payload("payload_not_available", default: "offline")))
        }
        self.topics = topics
        mode = configuration.string("availability_mode").flatMap(Mode.init) ?? .latest
    }

    /// What the topics have reported so far.
    struct State: Sendable, Hashable {
        fileprivate var states: [String: Bool] = [:]
        fileprivate var latest: Bool?
    }

    /// Adopts a message. A payload that is neither of the two words changes nothing.
    func read(_ payload: MQTTPayload, from name: String, into state: inout State) {
        for topic in topics where topic.source.topic == name {
            guard let text = try? topic.source.text(payload) else { continue }
            if text == topic.available {
                state.states[name] = true
            } else if text == topic.unavailable {
                state.states[name] = false
            } else {
                continue
            }
            state.latest = state.states[name]
        }
    }

    /// Whether the entity can be reached; nil if the topics have not reported enough.
    func isReachable(_ state: State) -> Bool? {
        guard !topics.isEmpty else { return true }
        let answers = topics.compactMap { topic in
            topic.isOptional && state.states[topic.source.topic] == nil
                ? nil : Optional(state.states[topic.source.topic])
        }
        switch mode {
        case .latest: return state.latest
        case .any:
            if answers.contains(true) { return true }
            return answers.contains(nil) ? nil : false
        case .all:
            if answers.contains(false) { return false }
            return answers.contains(nil) ? nil : true
        }
    }
}
