import Transport

/// The home that the messages of a broker describe. A state machine without I/O: the caller passes messages and the
/// time, and does what it returns.
public struct MQTTHome: Sendable {
    /// What to read on the broker.
    public struct Settings: Sendable, Hashable {
        /// The first level of the topics of Home Assistant's discovery; nil not to read them.
        public var discoveryPrefix: String?
        /// The first levels of Zigbee2MQTT's topics; nil not to read them.
        public var zigbee2mqttPrefix: String?
        /// The prefix of the identifiers of devices that this gateway itself publishes.
        public var ownIdentifierPrefix: String

        /// Reads the usual topics.
        public init(
            discoveryPrefix: String? = "homeassistant", zigbee2mqttPrefix: String? = "zigbee2mqtt",
            ownIdentifierPrefix: String = "gatehouse_"
        ) {
            self.discoveryPrefix = discoveryPrefix
            self.zigbee2mqttPrefix = zigbee2mqttPrefix
            self.ownIdentifierPrefix = ownIdentifierPrefix
        }
    }

    /// What to do after a message.
    public struct Effects: Sendable, Hashable {
        /// Topics to subscribe to.
        public var subscriptions: Set<String> = []
        /// Topics whose subscriptions to end.
        public var endedSubscriptions: Set<String> = []
        /// What the home receives, in order.
        public var reports: [MQTTDeviceReport] = []
    }

    /// How long a device's description must stay unchanged before the device is reported: its parts come in separate
    /// messages.
    static let settling = Duration.milliseconds(500)
    /// A device whose description does not settle is reported after this time.
    static let longestSettling = Duration.seconds(5)
    /// The space for all descriptions, in bytes.
    static let maximumDescriptions = 64 << 20
    /// How many part numbers a device keeps, including those of parts that are gone. A message can describe 256 parts.
    static let maximumNumberedParts = 1_024
    /// How many entities a device may have. The largest devices have some hundred.
    static let maximumEntities = 1_024
    /// How many identifiers a device keeps that nothing names any more.
    static let maximumFormerIdentifiers = 256
    /// How many bytes an entity takes besides its text, at least. A description takes those of one entity, even if it has none.
    static let entityOverhead = 4 << 10
    /// How many bytes a JSON value takes besides its text. In the text, it may have only two.
    static let valueOverhead = 64
    /// How many bytes a byte of a template takes once the template is read: `{{ 1+1+1 }}` has many short parts.
    static let templateOverhead = 32
    /// The largest description that is read, in bytes, apart from Zigbee2MQTT's list.
    static let longestDescription = 128 << 10
    /// The largest state that is read, in bytes. Devices send some hundred bytes. The state of Zigbee2MQTT's bridge has tens of
    /// KiB, and grows with the devices. Reading JSON takes so long that larger messages of one device could keep a processor
    /// busy.
    static let longestState = 256 << 10

    public let settings: Settings
    var entities: [String: EntityRecord] = [:]
    var devices: [String: DeviceRecord] = [:]
    /// The device of each identifier.
    var keys: [String: String] = [:]
    /// The identifiers that an earlier run knew, by device.
    var earlierIdentifiers: [String: [String]]
    /// The entities that each discovery topic describes, the size of its payload, and the connection over which it came.
    var descriptions: [String: (entities: Set<String>, size: Int, connection: UInt64)] = [:]
    var describedBytes = 0
    var trackers: [String: TrackerRecord] = [:]
    /// The entities and trackers that read each topic.
    var readers: [String: Set<String>] = [:]
    /// The devices whose descriptions have not settled.
    var unsettled: Set<String> = []
    /// When the first of them settles, at the earliest. To look for it after each message would take long while many devices are
    /// described.
    private var firstSettling: Instant?
    /// The number of each part of each device.
    public internal(set) var partNumbers: MQTTPartNumbers
    /// Whether the broker is connected. Without it, nothing can be reached.
    var isConnected = false
    /// What was read, and what could not be read.
    public internal(set) var counts = MQTTCounts()

    /// A home in which nothing is known.
    /// - Parameters:
    ///   - partNumbers: the numbers that an earlier run assigned to the parts of devices.
    ///   - keys: the devices of an earlier run, by their identifiers.
    public init(
        settings: Settings = Settings(), partNumbers: MQTTPartNumbers = .init(), keys: [String: String] = [:]
    ) {
        self.settings = settings
        self.partNumbers = partNumbers
        self.keys = keys
        earlierIdentifiers = Dictionary(grouping: keys.keys) { keys[$0] ?? $0 }
        self.partNumbers.begin(with: Set(keys.values))
    }

    private var zigbee: ZigbeeDevices? { settings.zigbee2mqttPrefix.map(ZigbeeDevices.init) }

    /// All topics to subscribe to after the broker was connected.
    public var allSubscriptions: Set<String> {
        var result = Set(readers.keys)
        if let prefix = settings.discoveryPrefix { result.formUnion(DiscoveryTopic.filters(prefix: prefix)) }
        if let zigbee { result.insert(zigbee.topic) }
        return result
    }

    /// Handles a message.
    public mutating func handle(_ message: MQTTMessage, at now: Instant) -> Effects {
        var effects = Effects()
        counts.messages += 1
        let payload = MQTTPayload(message)
        if let prefix = settings.discoveryPrefix, let topic = DiscoveryTopic(message.topic, prefix: prefix) {
            describe(message, payload, upTo: Self.longestDescription, at: now, &effects) {
                (json) throws(DiscoveryProblem) in try DiscoveryMessage.entities(topic, json)
            }
        } else if let zigbee, message.topic == zigbee.topic {
            describe(message, payload, upTo: Self.maximumDescriptions, at: now, &effects) {
                (json) throws(DiscoveryProblem) in try zigbee.entities(json)
            }
        }
        guard let readers = readers[message.topic] else { return effects }
        guard message.payload.count <= Self.longestState else {
            counts.couldNotRead(
                message.topic, "has \(message.payload.count) bytes; at most \(Self.longestState) are read of a state")
            return effects
        }
        let ids = readers.sorted()
        // A device with many entities is looked at once.
        let affected = Set(ids.compactMap { readAvailability(payload, from: message.topic, for: $0) })
        for key in affected.sorted() { reportReachability(of: key, &effects) }
        for id in ids { read(payload, from: message.topic, for: id, at: now, &effects) }
        return effects
    }

    /// Reports the devices whose descriptions have settled.
    public mutating func handleDeadline(at now: Instant) -> Effects {
        var effects = Effects()
        for key in unsettled.sorted() where devices[key]?.settles.map({ $0 <= now }) != false {
            unsettled.remove(key)
            report(key, &effects)
        }
        firstSettling = unsettled.compactMap { devices[$0]?.settles }.min()
        return effects
    }

    /// When ``handleDeadline(at:)`` may have something to do.
    public var nextDeadline: Instant? { firstSettling }

    /// Handles that the broker was connected or lost.
    public mutating func connectionChanged(isConnected: Bool) -> Effects {
        var effects = Effects()
        self.isConnected = isConnected
        for key in devices.keys.sorted() { reportReachability(of: key, &effects) }
        return effects
    }

    // MARK: Descriptions

    private mutating func describe(
        _ message: MQTTMessage, _ payload: MQTTPayload, upTo longest: Int, at now: Instant, _ effects: inout Effects,
        read: (JSONValue) throws(DiscoveryProblem) -> [Result<DiscoveredEntity, DiscoveryProblem>]
    ) {
        guard !message.payload.isEmpty else { return forget(message.topic, at: now, &effects) }
        guard admit(message, upTo: longest) != nil else { return }
        do throws(DiscoveryProblem) {
            let json: JSONValue
            switch payload.reading {
            case .success(let value): json = value
            case .failure(let failure): throw DiscoveryProblem(failure.description)
            }
            let described = try read(json)
            var (count, added, besides) = (0, 0, 0)
            for case .success(let entity) in described {
                count += 1
                added += entity.configuration.addedBytes
                besides += entity.configuration.valueCount * Self.valueOverhead
                besides += entity.configuration.templateBytes * Self.templateOverhead
            }
            besides = max(besides, max(count, 1) * Self.entityOverhead)
            if let size = admit(message, adding: added + besides, upTo: longest) {
                adopt(described, from: message, size, at: now, &effects)
            }
        } catch {
            counts.refuse(message.topic, error.description)
        }
    }

    /// The space that a description takes; nil if there is not enough.
    /// - Parameter added: the bytes that it takes besides its text.
    private mutating func admit(
        _ message: MQTTMessage, adding added: Int = MQTTHome.entityOverhead, upTo longest: Int
    ) -> Int? {
        let size = message.payload.count + added
        let others = describedBytes - (descriptions[message.topic]?.size ?? 0)
        guard message.payload.count <= longest, others + size <= Self.maximumDescriptions else {
            counts.refuse(
                message.topic, "has \(message.payload.count) bytes, and there is no room left for what it describes")
            return nil
        }
        return size
    }

    /// Adopts what a topic describes now. What it no longer describes is forgotten.
    private mutating func adopt(
        _ described: [Result<DiscoveredEntity, DiscoveryProblem>], from message: MQTTMessage, _ size: Int,
        at now: Instant, _ effects: inout Effects
    ) {
        let topic = message.topic
        let before = descriptions[topic]
        var ids: Set<String> = []
        counts.clearRefusals(of: topic)
        for result in described {
            switch result {
            case .success(let entity):
                // A gateway that reads what it publishes would double its cameras.
                guard !entity.device.identifiers.contains(where: { $0.hasPrefix(settings.ownIdentifierPrefix) }) else {
                    continue
                }
                if adopt(entity, from: topic, at: now, &effects) { ids.insert(entity.id) }
            case .failure(let problem): counts.refuse(topic, problem.description)
            }
        }
        for id in (before?.entities ?? []).subtracting(ids).sorted() where describes(topic, id) {
            remove(id, at: now, &effects)
        }
        describedBytes += size - (before?.size ?? 0)
        descriptions[topic] = (ids, size, message.connection)
    }

    private mutating func adopt(
        _ described: DiscoveredEntity, from topic: String, at now: Instant, _ effects: inout Effects
    ) -> Bool {
        if let known = entities[described.id], known.described == described, known.topic == topic { return true }
        if let known = trackers[described.id], known.described == described, known.topic == topic { return true }
        do throws(DiscoveryProblem) {
            switch try described.configuration.made() {
            case .ignored(let kind):
                counts.ignore(kind, id: described.id)
                return false
            case .tracker(let tracker):
                var record = TrackerRecord(described: described, tracker: tracker, topic: topic)
                if let before = trackers[described.id]?.reported {
                    stopListening(to: Set([before.topic]).subtracting([tracker.topic]), described.id, &effects)
                    // The tracker is the same, so what it has said stays. Under another name it may mean another person, who
                    // is where its next message says.
                    if before == record.reported { record.isHome = trackers[described.id]?.isHome }
                    if (before.id, before.topic) != (record.reported.id, record.reported.topic) {
                        effects.reports.append(.trackerRemoved(before))
                    }
                }
                trackers[described.id] = record
                effects.reports.append(.tracker(record.reported))
                listen(to: [tracker.topic], described.id, &effects)
                return true
            case .entity(let entity):
                try requireRoom(for: described)
                add(entity, described, from: topic, at: now, &effects)
                return true
            }
        } catch {
            counts.refuse(topic, error.description)
            return false
        }
    }

    /// - Throws: ``DiscoveryProblem`` if an entity's device has too many others.
    private func requireRoom(for described: DiscoveredEntity) throws(DiscoveryProblem) {
        let others = devices[key(of: described.device)]?.entities ?? []
        guard others.count < Self.maximumEntities || others.contains(described.id) else {
            throw DiscoveryProblem("the device has more than \(Self.maximumEntities) entities")
        }
    }

    private mutating func add(
        _ entity: any Entity, _ described: DiscoveredEntity, from topic: String, at now: Instant,
        _ effects: inout Effects
    ) {
        let before = entities[described.id]
        var record = EntityRecord(
            described: described, entity: entity, topic: topic, deviceKey: key(of: described.device))
        if let before {
            // The device is the same, so what is known about it stays.
            record.adopt(before)
            if before.deviceKey != record.deviceKey { devices[before.deviceKey]?.entities.remove(described.id) }
        }
        let topics = entity.topics.union(described.availability.topics.map(\.source.topic))
        stopListening(to: (before?.topics ?? []).subtracting(topics), described.id, &effects)
        record.topics = topics
        entities[described.id] = record
        devices[record.deviceKey, default: DeviceRecord(key: record.deviceKey)].entities.insert(described.id)
        recordIdentifiers(described.device.identifiers, of: record.deviceKey)
        listen(to: topics, described.id, &effects)
        unsettle(record.deviceKey, at: now)
        if let old = before?.deviceKey, old != record.deviceKey { unsettle(old, at: now) }
    }

    private mutating func unsettle(_ key: String, at now: Instant) {
        devices[key]?.unsettle(at: now)
        unsettled.insert(key)
        guard let settles = devices[key]?.settles else { return }
        firstSettling = min(firstSettling ?? settles, settles)
    }

    /// The device that a description means: one that shares an identifier with it, or a new one.
    private func key(of device: DiscoveredDevice) -> String {
        device.identifiers.lazy.compactMap { keys[$0] }.first ?? device.identifiers[0]
    }

    /// Records that these identifiers mean a device. Those that nothing names any more still mean it, until there are too many.
    /// Each description could have other identifiers.
    private mutating func recordIdentifiers(_ identifiers: [String], of key: String) {
        for identifier in identifiers { keys[identifier] = key }
        devices[key]?.identifiers.formUnion(identifiers)
        guard let device = devices[key], device.identifiers.count > device.identifierLimit else { return }
        let named = Set(device.entities.compactMap { entities[$0] }.flatMap(\.described.device.identifiers))
        for identifier in device.identifiers.subtracting(named) where identifier != key && keys[identifier] == key {
            keys[identifier] = nil
        }
        devices[key]?.identifiers = named
        // The next time is far enough away that this costs little, however many are named.
        devices[key]?.identifierLimit = 2 * named.count + Self.maximumFormerIdentifiers
    }

    /// Handles that a topic no longer describes anything.
    private mutating func forget(_ topic: String, at now: Instant, _ effects: inout Effects) {
        counts.clearRefusals(of: topic)
        guard let before = descriptions.removeValue(forKey: topic) else { return }
        describedBytes -= before.size
        for id in before.entities.sorted() where describes(topic, id) { remove(id, at: now, &effects) }
    }

    /// Whether an entity is as this topic describes it. A device that moves to other topics is described there first, and then
    /// removed here.
    private func describes(_ topic: String, _ id: String) -> Bool {
        (entities[id]?.topic ?? trackers[id]?.topic) == topic
    }

    /// Whether a description of a device has come over this connection to the broker. One that has not may have been removed
    /// while the broker was away, or the broker may have lost it.
    func isDescribed(_ key: String, over connection: UInt64) -> Bool {
        (devices[key]?.entities ?? []).contains { id in
            entities[id].flatMap { descriptions[$0.topic] }?.connection == connection
        }
    }

    /// Forgets a device. If it is described again, it is new.
    mutating func forget(_ key: String, at now: Instant) -> Effects {
        var effects = Effects()
        for id in devices[key]?.entities.sorted() ?? [] {
            guard let topic = entities[id]?.topic else { continue }
            descriptions[topic]?.entities.remove(id)
            if let rest = descriptions[topic], rest.entities.isEmpty {
                descriptions[topic] = nil
                describedBytes -= rest.size
            }
            remove(id, at: now, &effects)
        }
        report(key, &effects)
        // Also if nothing has described it in this run.
        partNumbers.depart(key)
        return effects
    }

    private mutating func remove(_ id: String, at now: Instant, _ effects: inout Effects) {
        if let tracker = trackers.removeValue(forKey: id) {
            stopListening(to: [tracker.tracker.topic], id, &effects)
            effects.reports.append(.trackerRemoved(tracker.reported))
        }
        guard let record = entities.removeValue(forKey: id) else { return }
        stopListening(to: record.topics, id, &effects)
        devices[record.deviceKey]?.entities.remove(id)
        unsettle(record.deviceKey, at: now)
    }

    private mutating func listen(to topics: Set<String>, _ id: String, _ effects: inout Effects) {
        for topic in topics {
            if readers[topic] == nil {
                effects.subscriptions.insert(topic)
                effects.endedSubscriptions.remove(topic)
            }
            readers[topic, default: []].insert(id)
        }
    }

    private mutating func stopListening(to topics: Set<String>, _ id: String, _ effects: inout Effects) {
        for topic in topics {
            readers[topic]?.remove(id)
            guard readers[topic]?.isEmpty == true else { continue }
            readers[topic] = nil
            effects.endedSubscriptions.insert(topic)
            effects.subscriptions.remove(topic)
        }
    }
}
