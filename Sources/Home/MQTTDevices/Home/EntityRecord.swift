import Transport

/// An entity of the home, and what is known about it.
struct EntityRecord: Sendable {
    let described: DiscoveredEntity
    let entity: any Entity
    /// The topic that describes it.
    let topic: String
    /// Its device.
    let deviceKey: String
    /// What is known about its traits.
    var known: TraitValues
    /// What its topics report about whether it can be reached.
    var availability = Availability.State()
    /// The topics that it reads.
    var topics: Set<String> = []
    /// The newest event, with a hash of the message that reported it. The message may be long, and thousands of entities may have
    /// one each.
    private var newestEvent: (event: EntityEvent, message: Int, time: Instant)?

    init(described: DiscoveredEntity, entity: any Entity, topic: String, deviceKey: String) {
        self.described = described
        self.entity = entity
        self.topic = topic
        self.deviceKey = deviceKey
        known = entity.initial
    }

    /// Whether it can be reached according to its own topics.
    var isReachable: Bool? { described.availability.isReachable(availability) }

    /// Names the part of the device that it belongs to: its own, or one that it shares with all of its kind.
    var part: String { entity.kind.formsOnePart ? "\(entity.kind)" : described.id }

    /// Adopts what is known from an earlier description of the same entity.
    mutating func adopt(_ earlier: EntityRecord) {
        var kept = earlier.known
        kept.keep(traits: Set(known.traits.keys))
        known = entity.initial
        // What the description says about the device counts. What only messages report is still valid.
        for (trait, attributes) in kept.traits {
            for (name, value) in attributes where [.null, "unknown"].contains(known[trait, name] ?? .null) {
                known[trait, name] = value
            }
        }
        if earlier.described.availability == described.availability { availability = earlier.availability }
    }

    /// Whether an event is new, and not a repeated message: a sender that did not get an answer sends again.
    /// - Parameter message: the hash of the message's text.
    mutating func isNew(_ event: EntityEvent, _ message: Int, at now: Instant) -> Bool {
        defer { newestEvent = (event, message, now) }
        guard let newest = newestEvent else { return true }
        return newest.event != event || newest.message != message || now - newest.time > .milliseconds(500)
    }
}

/// A tracker of a person, and what is known about it.
struct TrackerRecord: Sendable {
    let described: DiscoveredEntity
    let tracker: TrackerEntity
    /// The topic that describes it.
    let topic: String
    /// Whether the person is at home.
    var isHome: Bool?

    /// The tracker as it is reported.
    var reported: MQTTTracker {
        let unique = described.configuration["unique_id"]?.printed ?? described.id
        return MQTTTracker(id: unique, name: described.name ?? described.device.name ?? unique, topic: tracker.topic)
    }
}

/// A device of the home.
struct DeviceRecord: Sendable {
    let key: String
    /// Its entities.
    var entities: Set<String> = []
    /// The identifiers that were recorded for it.
    var identifiers: Set<String> = []
    /// How many identifiers there may be before those that nothing names are forgotten.
    var identifierLimit = MQTTHome.maximumFormerIdentifiers
    /// The number of the part that each reported entity belongs to.
    var endpoints: [String: Int] = [:]
    /// What was last reported; nil if nothing was.
    var reported: MQTTDevice?
    /// When its description is treated as complete.
    var settles: Instant?
    private var latestSettling: Instant?

    init(key: String) { self.key = key }

    /// Waits until the description has not changed for a moment.
    mutating func unsettle(at now: Instant) {
        let latest = latestSettling ?? now + MQTTHome.longestSettling
        latestSettling = latest
        settles = min(now + MQTTHome.settling, latest)
    }

    /// The description is treated as complete.
    mutating func settle() {
        settles = nil
        latestSettling = nil
    }

    /// The number of the part that an entity belongs to; nil while the part is not reported.
    func endpoint(of entity: String) -> Int? { endpoints[entity] }
}

extension TraitValues {
    /// Drops all traits but these.
    mutating func keep(traits names: Set<String>) {
        var result = TraitValues()
        for (trait, attributes) in traits where names.contains(trait) {
            result.add(trait)
            for (name, value) in attributes { result[trait, name] = value }
        }
        self = result
    }
}
