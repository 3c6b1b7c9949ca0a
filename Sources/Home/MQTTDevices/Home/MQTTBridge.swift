import DatagramPort
import Foundation
import HomeTypes
import Transport

/// The gateway's side of an MQTT broker: it reads the devices that messages describe, sends them commands, and publishes
/// what the gateway has.
public actor MQTTBridge {
    /// What the bridge does and how.
    public struct Settings: Sendable, Hashable {
        /// How to reach the broker.
        public var broker: BrokerSettings
        /// What to read there.
        public var home: MQTTHome.Settings

        /// Describes a bridge.
        public init(broker: BrokerSettings, home: MQTTHome.Settings = .init()) {
            self.broker = broker
            self.home = home
        }
    }

    /// What a bridge reports. The calls come in order, and must not block.
    public struct Observers: Sendable {
        /// The devices, persons and events. All changes of one message, or of one loss of the broker, come in one call.
        public var home: @Sendable ([MQTTDeviceReport]) -> Void
        /// The connection to the broker.
        public var connection: @Sendable (BrokerState) -> Void
        /// Messages to topics that ``MQTTBridge/listen(to:)`` has added, and to those that its filters match.
        public var message: @Sendable (MQTTMessage) -> Void
        /// Returns when there is room for more reports. Until then the bridge does not read messages, and what the
        /// broker sends waits in the bounded queue of the connection.
        public var room: @Sendable () async -> Void

        /// Hands the reports to these functions.
        public init(
            home: @escaping @Sendable ([MQTTDeviceReport]) -> Void,
            connection: @escaping @Sendable (BrokerState) -> Void = { _ in },
            message: @escaping @Sendable (MQTTMessage) -> Void = { _ in },
            room: @escaping @Sendable () async -> Void = {}
        ) {
            self.home = home
            self.connection = connection
            self.message = message
            self.room = room
        }
    }

    /// How many messages are read before others get their turn.
    private static let batch = 256

    /// The settings.
    public let settings: Settings
    private let observers: Observers
    private let connection: BrokerConnection
    private let events: AsyncStream<BrokerConnection.Event>
    private let eventsIn: AsyncStream<BrokerConnection.Event>.Continuation
    private var home: MQTTHome
    private var ownTopics: Set<String> = []
    private var ownFilters: Set<String> = []
    private var reader: Task<Void, Never>?
    private var alarm: (at: Instant, task: Task<Void, Never>)?

    /// Creates a bridge. ``start()`` connects it.
    /// - Parameters:
    ///   - partNumbers: the numbers that an earlier run assigned to the parts of devices.
    ///   - keys: the devices of an earlier run, by their identifiers.
    /// - Throws: ``BrokerFailure`` if the settings cannot be used.
    public init(
        settings: Settings, partNumbers: MQTTPartNumbers = .init(), keys: [String: String] = [:],
        observers: Observers
    ) throws(BrokerFailure) {
        self.settings = settings
        self.observers = observers
        home = MQTTHome(settings: settings.home, partNumbers: partNumbers, keys: keys)
        let (events, eventsIn) = AsyncStream.makeStream(of: BrokerConnection.Event.self)
        self.events = events
        self.eventsIn = eventsIn
        connection = try BrokerConnection(settings: settings.broker) { eventsIn.yield($0) }
    }

    /// Begins to connect.
    public func start() {
        guard reader == nil else { return }
        connection.subscribe(home.allSubscriptions)
        reader = Task { [weak self, events] in
            for await event in events { await self?.take(event) }
        }
        connection.start()
    }

    /// Ends the connection. From then on, none of the devices can be reached.
    public func stop() {
        reader?.cancel()
        alarm?.task.cancel()
        eventsIn.finish()
        connection.stop()
        apply(home.connectionChanged(isConnected: false))
    }

    private func take(_ event: BrokerConnection.Event) async {
        switch event {
        case .connected:
            apply(home.connectionChanged(isConnected: true))
            observers.connection(connection.state)
        case .lost:
            apply(home.connectionChanged(isConnected: false))
            observers.connection(connection.state)
        case .messages: await readMessages()
        }
    }

    /// Reads what waits. Between two batches commands and other readers get their turn.
    private func readMessages() async {
        while true {
            await observers.room()
            let (messages, next) = connection.take(upTo: Self.batch)
            for message in messages {
                if isOwn(message.topic) { observers.message(message) }
                apply(home.handle(message, at: MonotonicClock.now))
            }
            setAlarm(next)
            guard let next, next <= MonotonicClock.now, !messages.isEmpty else { return }
            await Task.yield()
        }
    }

    private func isOwn(_ topic: String) -> Bool {
        ownTopics.contains(topic) || ownFilters.contains { TopicName.matches(topic, filter: $0) }
    }

    private func apply(_ effects: MQTTHome.Effects) {
        if !effects.endedSubscriptions.isEmpty {
            connection.unsubscribe(effects.endedSubscriptions.subtracting(ownTopics))
        }
        if !effects.subscriptions.isEmpty { connection.subscribe(effects.subscriptions) }
        if !effects.reports.isEmpty { observers.home(effects.reports) }
        setAlarm(nil)
    }

    /// Wakes up when messages that came too fast may be read, or when a description has settled.
    private func setAlarm(_ messages: Instant?) {
        let wanted = [messages, home.nextDeadline].compactMap { $0 }.min()
        guard let wanted else { return }
        if let alarm, alarm.at <= wanted { return }
        alarm?.task.cancel()
        let task = Task { [weak self] in
            let wait = max(wanted - MonotonicClock.now, .zero)
            guard (try? await Task.sleep(for: wait)) != nil else { return }
            await self?.wakeUp()
        }
        alarm = (wanted, task)
    }

    private func wakeUp() async {
        alarm = nil
        apply(home.handleDeadline(at: MonotonicClock.now))
        await readMessages()
    }

    // MARK: Devices

    /// What is known of a device's description on the broker.
    public enum DescriptionState: Sendable, Hashable {
        /// It has come over the present connection.
        case present
        /// The broker has sent all that it retains, and it was not there.
        case absent
        /// The broker is connected, and it may still come.
        case awaited
        /// The broker is not connected, with the reason; nil until the first attempt has ended.
        case unknown(BrokerFailure?)
    }

    /// What is known of a device's description on the broker.
    public func description(of key: String) -> DescriptionState {
        switch connection.state {
        case .connected: break
        case .lost(_, let failure): return .unknown(failure)
        case .connecting, .stopped: return .unknown(nil)
        }
        if home.isDescribed(key, over: connection.counts.connections) { return .present }
        return connection.hasTakenRetained(at: MonotonicClock.now) ? .absent : .awaited
    }

    /// Forgets a device that the broker does not describe any more. If it is described again, it is new.
    public func forget(_ key: String) { apply(home.forget(key, at: MonotonicClock.now)) }

    // MARK: Commands

    /// Sends a command to a device. It returns when the message has been handed to the library; the device reports its
    /// state on its own.
    /// - Throws: see ``MQTTHome/perform(key:endpoint:trait:command:parameters:)``; `resourceExhausted` while too much waits
    ///   to be sent.
    public func perform(
        key: String, endpoint: Int, trait: String, command: String, parameters: JSONValue
    ) throws(HomeError) {
        let (publications, effects) = try home.perform(
            key: key, endpoint: endpoint, trait: trait, command: command, parameters: parameters)
        try send(publications)
        apply(effects)
    }

    /// Sends new values of a trait's attributes to a device.
    /// - Throws: see ``perform(key:endpoint:trait:command:parameters:)``.
    public func write(
        key: String, endpoint: Int, trait: String, attributes: [String: JSONValue]
    ) throws(HomeError) {
        let (publications, effects) = try home.write(key: key, endpoint: endpoint, trait: trait, attributes: attributes)
        try send(publications)
        apply(effects)
    }

    private func send(_ publications: [MQTTPublication]) throws(HomeError) {
        for publication in publications where !connection.publish(publication) {
            guard case .connected = connection.state else {
                throw HomeError.unavailable("the MQTT broker is not connected, so the device cannot be reached")
            }
            throw HomeError.resourceExhausted("too many messages wait for the MQTT broker; try again in a moment")
        }
    }

    // MARK: What the gateway publishes

    /// Publishes a message.
    /// - Returns: whether the broker is connected and there is room for it.
    @discardableResult
    public func publish(_ publication: MQTTPublication) -> Bool { connection.publish(publication) }

    /// Subscribes to topics whose messages go to the observer. One with the wildcard `+` is a filter.
    public func listen(to topics: Set<String>) {
        for topic in topics {
            if TopicName.isValid(topic) { ownTopics.insert(topic) } else { ownFilters.insert(topic) }
        }
        connection.subscribe(topics)
    }

    // MARK: Status

    /// How the bridge is.
    public var status: MQTTStatus {
        MQTTStatus(
            state: connection.state, broker: connection.counts, home: home.counts, devices: home.reportedDevices,
            entities: home.entities.count, trackers: home.trackers.count)
    }

    /// The numbers of the parts of devices, for the next run.
    public var partNumbers: MQTTPartNumbers { home.partNumbers }
}

/// How a bridge to a broker is.
public struct MQTTStatus: Sendable, Hashable {
    /// The connection.
    public var state: BrokerState
    /// What was sent and received over it.
    public var broker: BrokerCounts
    /// What was read, and what could not be read.
    public var home: MQTTCounts
    /// The devices that are described.
    public var devices: Int
    /// The entities that they have.
    public var entities: Int
    /// The trackers of persons.
    public var trackers: Int
}
