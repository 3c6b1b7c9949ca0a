import CMosquitto
import DatagramPort
import Foundation
import Transport

/// The connection to an MQTT broker, on a thread of its own: connecting, reconnecting, subscribing, and the queues in both
/// directions. MQTT 3.1.1.
public final class BrokerConnection: @unchecked Sendable {
    // Proof for @unchecked: `client` is set in `init`, emptied by the thread between two connections, and destroyed by it
    // at its end. Before that the thread closes it under the lock (`isOpen`) and waits until nothing uses it (`unused`).
    // The library's functions may be called from any thread once `mosquitto_threaded_set` was called. Everything else is
    // constant, or behind a lock.

    /// What the connection reports. It must not block.
    public enum Event: Sendable {
        case connected
        case lost(BrokerFailure)
        /// Messages wait for ``take(upTo:)``.
        case messages
    }

    /// The bytes that may wait to be sent.
    static let outgoingBytes = 4 << 20
    private static let connectSeconds: Int64 = 15

    /// How to reach the broker.
    public let settings: BrokerSettings
    /// The library's client. Only this file and ``configure()`` use it.
    let client: OpaquePointer
    private let wait: BrokerWait
    private let pause: Int32
    private let report: @Sendable (Event) -> Void
    private let shared = Locked(Shared())
    private let queue: Locked<MessageQueue>
    /// Set by ``stop()``.
    private let stopping = Latch()

    private struct Shared {
        var phase = BrokerState.connecting
        /// Whether the library's client may be used. It is closed at the end of each connection.
        var isOpen = true
        /// Whether ``leave()`` was called, so that the end of the connection is not a loss.
        var isLeaving = false
        /// How many threads use it at the moment.
        var users = 0
        /// Set by the last of them once the client is closed; nil if the thread does not wait for them.
        var unused: Latch?
        var subscriptions: Set<String> = []
        var outgoing = OutgoingMessages()
        var failure: BrokerFailure?
        var counts = BrokerCounts()
        var arrival = RetainedArrival()
    }

    /// Creates a connection. ``start()`` begins to connect.
    /// - Parameter report: called with what happens, on the connection's thread. It must not block.
    /// - Throws: ``BrokerFailure`` when the settings cannot be used, for example because a file is missing.
    public convenience init(
        settings: BrokerSettings, report: @escaping @Sendable (Event) -> Void
    ) throws(BrokerFailure) {
        try self.init(settings: settings, limits: .init(), report: report)
    }

    /// - Parameter pause: how many milliseconds the thread waits at most before it looks what is due.
    init(
        settings: BrokerSettings, limits: MessageQueue.Limits, pause: Int32 = 500,
        report: @escaping @Sendable (Event) -> Void
    ) throws(BrokerFailure) {
        Self.prepareLibrary
        wait = try BrokerWait()
        guard let client = mosquitto_new(settings.clientID, true, nil) else {
            throw .other("the client could not be made")
        }
        self.client = client
        self.settings = settings
        self.report = report
        self.pause = pause
        queue = Locked(MessageQueue(limits: limits))
        do throws(BrokerFailure) {
            try configure()
            setCallbacks()
        } catch {
            mosquitto_destroy(client)
            shared.withLock { $0.isOpen = false }
            throw error
        }
    }

    /// The library must be prepared once in a process.
    private static let prepareLibrary: Void = { mosquitto_lib_init() }()

    private func setCallbacks() {
        mosquitto_user_data_set(client, Unmanaged.passUnretained(self).toOpaque())
        mosquitto_connect_callback_set(client) { _, context, code in
            BrokerConnection.connection(context)?.wasConnected(code: code)
        }
        mosquitto_message_callback_set(client) { _, context, message in
            guard let message else { return }
            BrokerConnection.connection(context)?.received(message.pointee)
        }
        mosquitto_publish_callback_set(client) { _, context, number in
            BrokerConnection.connection(context)?.sent(number)
        }
        mosquitto_subscribe_callback_set(client) { _, context, _, count, granted in
            guard let granted else { return }
            let refused = (0..<Int(count)).count { granted[$0] > 2 }
            BrokerConnection.connection(context)?.wasAnswered(refused: refused)
        }
    }

    /// The connection of a callback. The thread holds a reference for as long as callbacks arrive.
    private static func connection(_ context: UnsafeMutableRawPointer?) -> BrokerConnection? {
        context.map { Unmanaged<BrokerConnection>.fromOpaque($0).takeUnretainedValue() }
    }

    // MARK: Life

    /// Connects, and keeps connecting again until ``stop()``.
    public func start() {
        guard startDetachedThread(name: "mqtt", { self.run() }) else {
            shared.withLock { $0.phase = .lost(since: Date(), .other("a thread could not be started")) }
            return report(.lost(.other("a thread could not be started")))
        }
    }

    /// Ends the connection. The broker does not publish the last will.
    public func stop() {
        leave()
        stopping.set()
        wait.signal()
    }

    /// Takes leave of the broker. The thread may see that the connection has ended before ``stop()`` tells it to end.
    func leave() {
        shared.withLock { $0.isLeaving = true }
        // The thread must not be woken before it can see that this is a stop.
        withClient(wakes: false) { mosquitto_disconnect($0) }
    }

    /// How the connection is.
    public var state: BrokerState { shared.withLock { $0.phase } }

    /// What was sent and received.
    public var counts: BrokerCounts {
        let queued = queue.withLock { $0.counts }
        return shared.withLock { state in
            var counts = state.counts
            counts.superseded = queued.superseded
            counts.dropped = queued.dropped
            counts.outgoingBytes = state.outgoing.byteCount
            counts.subscriptions = state.subscriptions.count
            return counts
        }
    }

    private var isStopping: Bool { stopping.isSet }

    private func run() {
        var delay = ReconnectDelay()
        var random = RandomSource.system
        while !isStopping {
            let failure = connectAndServe(&delay)
            let loss = shared.withLock { state -> Bool? in
                state.isOpen = false
                guard !state.isLeaving else {
                    state.phase = .stopped
                    return nil
                }
                if case .lost(let since, let known) = state.phase {
                    state.phase = .lost(since: since, failure)
                    return known != failure
                }
                state.phase = .lost(since: Date(), failure)
                return true
            }
            guard let isNewLoss = loss else {
                // ``stop()`` sets it next.
                stopping.wait()
                break
            }
            if isNewLoss { report(.lost(failure)) }
            forgetOutgoing()
            stopping.wait(atMost: delay.next(&random))
        }
        shared.withLock { state in
            state.phase = .stopped
            state.isOpen = false
        }
        waitUntilUnused()
        mosquitto_destroy(client)
    }

    /// Waits until no thread uses the closed client.
    private func waitUntilUnused() {
        let unused = Latch()
        let isUsed = shared.withLock { state in
            guard state.users > 0 else { return false }
            state.unused = unused
            return true
        }
        if isUsed { unused.wait() }
    }

    /// Forgets the messages of a connection that has ended. From then on, no thread uses the client.
    private func forgetOutgoing() {
        waitUntilUnused()
        shared.withLock { $0.outgoing = OutgoingMessages() }
    }

    /// Empties the closed client and opens it again. The library would send the messages that were not acknowledged over the
    /// next connection, which may begin hours later: a door would be unlocked when nobody expects it any more.
    private func renewClient() throws(BrokerFailure) {
        let code = mosquitto_reinitialise(client, settings.clientID, true, nil)
        guard code == Int32(MOSQ_ERR_SUCCESS.rawValue) else { throw BrokerFailure(code, of: settings) }
        try configure()
        setCallbacks()
        shared.withLock { $0.isOpen = true }
    }

    /// One connection, from its start to its end.
    private func connectAndServe(_ delay: inout ReconnectDelay) -> BrokerFailure {
        if !shared.withLock({ $0.isOpen }) {
            do throws(BrokerFailure) { try renewClient() } catch { return error }
        }
        shared.withLock { $0.failure = nil }
        let began = MonotonicClock.now
        let code = mosquitto_connect_async(
            client, settings.host, Int32(settings.port), Int32(settings.keepAliveSeconds))
        guard code == Int32(MOSQ_ERR_SUCCESS.rawValue) else { return BrokerFailure(code, of: settings) }
        while !isStopping {
            let code = wait.serve(client, atMost: pause)
            wait.acknowledgeAtOnce(client)
            let isConnected = if case .connected = state { true } else { false }
            guard code == Int32(MOSQ_ERR_SUCCESS.rawValue) else {
                // A connection that ends immediately must not be retried immediately.
                if isConnected, MonotonicClock.now - began > .seconds(10) { delay.reset() }
                return shared.withLock { $0.failure } ?? BrokerFailure(code, of: settings)
            }
            if let refused = shared.withLock({ $0.failure }) { return refused }
            if !isConnected, MonotonicClock.now - began > .seconds(Self.connectSeconds) { return .timeout }
        }
        // Sends what is left, so that the broker receives the gateway's disconnect.
        for _ in 0..<4 where mosquitto_want_write(client) { _ = wait.serve(client, atMost: 50) }
        return .disconnected
    }

    // MARK: What the library calls

    private func wasConnected(code: Int32) {
        guard code == 0 else {
            shared.withLock { $0.failure = .refused(code: Int(code)) }
            return
        }
        let topics = shared.withLock { state in
            state.phase = .connected(since: Date())
            state.counts.connections += 1
            state.arrival.begin(at: MonotonicClock.now)
            return state.subscriptions
        }
        subscribeNow(topics)
        report(.connected)
    }

    private func wasAnswered(refused: Int) {
        shared.withLock { state in
            state.counts.refusedSubscriptions += UInt64(refused)
            state.arrival.answer(at: MonotonicClock.now)
        }
    }

    private func received(_ message: mosquitto_message) {
        guard let topic = message.topic.map({ String(cString: $0) }) else { return }
        let length = Int(message.payloadlen)
        let payload = message.payload.map { Data(bytes: $0, count: length) } ?? Data()
        let connection = shared.withLock { state in
            state.counts.received += 1
            state.counts.receivedBytes += UInt64(length)
            if message.retain { state.arrival.receive(at: MonotonicClock.now) }
            return state.counts.connections
        }
        let needsReading = queue.withLock {
            $0.add(
                MQTTMessage(topic: topic, payload: payload, isRetained: message.retain, connection: connection),
                at: MonotonicClock.now)
        }
        if needsReading { report(.messages) }
    }

    private func sent(_ number: Int32) {
        shared.withLock { $0.outgoing.remove(number) }
    }

    // MARK: What the home calls

    /// Removes the next messages, and says when there will be more.
    func take(upTo count: Int) -> (messages: [MQTTMessage], next: Instant?) {
        queue.withLock { $0.take(upTo: count, at: MonotonicClock.now) }
    }

    /// Whether all that the broker retains has been taken over the present connection, as far as anybody can know.
    func hasTakenRetained(at now: Instant) -> Bool {
        let connection = shared.withLock { state -> UInt64? in
            guard case .connected = state.phase, state.arrival.isComplete(at: now) else { return nil }
            return state.counts.connections
        }
        guard let connection else { return false }
        return queue.withLock { !$0.lacksRetained(of: connection) }
    }

    /// Subscribes to topics, now and after each connection.
    public func subscribe(_ topics: Set<String>) {
        let new = shared.withLock { state in
            let new = topics.subtracting(state.subscriptions)
            state.subscriptions.formUnion(new)
            if case .connected = state.phase { return new }
            return []
        }
        subscribeNow(new)
    }

    /// Ends subscriptions.
    public func unsubscribe(_ topics: Set<String>) {
        let old = shared.withLock { state in
            let old = topics.intersection(state.subscriptions)
            state.subscriptions.subtract(old)
            if case .connected = state.phase { return old }
            return []
        }
        withClient { client in
            for topic in old { mosquitto_unsubscribe(client, nil, topic) }
        }
    }

    private func subscribeNow(_ topics: Set<String>) {
        withClient { client in
            // Quality 0: a lost state comes again, and with quality 1 an event could come twice.
            for topic in topics {
                let connection = shared.withLock { state in
                    state.arrival.subscribe()
                    return state.counts.connections
                }
                guard mosquitto_subscribe(client, nil, topic, 0) != Int32(MOSQ_ERR_SUCCESS.rawValue) else { continue }
                shared.withLock { state in
                    if state.counts.connections == connection { state.arrival.takeBack() }
                }
            }
        }
    }

    /// Uses the library's client unless it is closed. The lock is not held during the use, because the library may call
    /// back. Until the use ends, the client stays that of the same connection.
    /// - Parameters:
    ///   - wakes: whether the connection's thread sends at once what the client was given.
    ///   - isPossible: whether it may be used for this; the lock is held.
    private func withClient(
        wakes: Bool = true, when isPossible: (Shared) -> Bool = { _ in true }, _ body: (OpaquePointer) -> Void
    ) {
        let isOpen = shared.withLock { state in
            guard state.isOpen, !isStopping, isPossible(state) else { return false }
            state.users += 1
            return true
        }
        guard isOpen else { return }
        body(client)
        if wakes { wait.signal() }
        let unused = shared.withLock { state -> Latch? in
            state.users -= 1
            guard state.users == 0 else { return nil }
            defer { state.unused = nil }
            return state.unused
        }
        unused?.set()
    }

    /// Sends a message over the present connection. If that ends before the broker has the message, the message is lost.
    /// - Returns: whether the broker is connected and there is room for it.
    @discardableResult
    public func publish(_ publication: MQTTPublication) -> Bool {
        let size = publication.payload.count + publication.topic.utf8.count
        var isTaken = false
        withClient(
            when: { state in
                guard case .connected = state.phase else { return false }
                return state.outgoing.byteCount + size <= Self.outgoingBytes
            },
            { client in
                var number: Int32 = 0
                let code = publication.payload.withUnsafeBytes { bytes in
                    mosquitto_publish(
                        client, &number, publication.topic, Int32(bytes.count), bytes.baseAddress,
                        Int32(publication.qualityOfService), publication.isRetained)
                }
                isTaken = code == Int32(MOSQ_ERR_SUCCESS.rawValue)
                if isTaken { handedOver(number, size) }
            })
        if !isTaken { shared.withLock { $0.counts.unsent += 1 } }
        return isTaken
    }

    private func handedOver(_ number: Int32, _ size: Int) {
        shared.withLock { state in
            state.counts.sent += 1
            state.outgoing.add(number, size: size)
        }
    }
}
