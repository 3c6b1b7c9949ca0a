import Foundation
import GatewayClient
import HomeTypes
import Transport

/// The home as this process knows it, fed by the gateway's event stream. Every publisher is derived from it.
///
/// The stream opens with the first subscription, and stays open until the home is disconnected or released. When the
/// gateway has been away for longer than the configured patience, every subscription fails. The next one opens the
/// stream again, which then begins with the current home: no subscriber is left that saw the earlier changes.
final class HomeModel: Sendable {
    /// A subscription's interest.
    struct Observer: Sendable {
        /// Called when something of the topic has changed, and when the home is known again.
        var wake: @Sendable () -> Void
        /// Called once, at the end of the stream.
        var fail: @Sendable (HomeError) -> Void
    }

    /// A subscription to the events of a device.
    struct EventObserver: Sendable {
        var deviceID: String
        /// Called for each event of any device.
        var receive: @Sendable (HomeEvent) -> Void
        /// Called once, when the home does not have the device or no longer has it.
        var finish: @Sendable () -> Void
        /// Called once, at the end of the stream.
        var fail: @Sendable (HomeError) -> Void
    }

    private enum Phase {
        /// No stream is open. The known state may be outdated.
        case idle
        /// A stream is being opened.
        case connecting
        /// The known state is what the gateway last sent.
        case live
        /// The home was disconnected.
        case ended(HomeError)
    }

    private struct State: Sendable {
        var home = HomeState()
        /// Whether the gateway has ever described the home.
        var isKnown = false
        var phase = Phase.idle
        var cursor: String?
        /// Whether the last thing that the gateway sent was a whole state in place of the changes after the cursor.
        var isFresh = false
        var observers: [HomeState.Topic: [UInt64: Observer]] = [:]
        var eventObservers: [UInt64: EventObserver] = [:]
        /// Those of them that began without a connection, and whose device the home did not have before.
        var doubtedEventObservers: Set<UInt64> = []
        var nextObserver: UInt64 = 0
        /// Counts the streams, so that reports of a stream that has ended are not taken for those of the next one.
        var stream: UInt64 = 0
        var following: Task<Void, Never>?
    }

    /// Where the home's changes come from.
    protocol Feed: Sendable {
        /// Follows the home after a cursor until the connection is lost.
        func follow(
            after cursor: String?, _ receive: @Sendable (EventFollower.Report) -> Void
        ) async throws(HomeError)
    }

    let connection: GatewayConnection
    let configuration: HomeClientConfiguration
    private let feed: any Feed
    private let state = Locked(State())

    /// A home that is not followed yet.
    init(_ connection: GatewayConnection, _ configuration: HomeClientConfiguration, feed: any Feed) {
        self.connection = connection
        self.configuration = configuration
        self.feed = feed
    }

    deinit {
        state.withLock { $0.following }?.cancel()
    }

    /// The home as it is known; nil while it is not known.
    var current: HomeState? {
        state.withLock { state in
            if case .live = state.phase { return state.home }
            return nil
        }
    }

    /// The home as it was when it was last known; nil before the gateway has described it.
    var lastKnown: HomeState? { state.withLock { $0.isKnown ? $0.home : nil } }

    /// Adds a subscription, and opens the stream if there is none. `wake` is called immediately if the home is known.
    func observe(_ topic: HomeState.Topic, _ observer: Observer) -> UInt64 {
        let (id, phase) = state.withLock { state -> (UInt64, Phase) in
            state.nextObserver += 1
            if case .ended = state.phase { return (state.nextObserver, state.phase) }
            state.observers[topic, default: [:]][state.nextObserver] = observer
            return (state.nextObserver, state.phase)
        }
        switch phase {
        case .ended(let error): observer.fail(error)
        case .idle: open()
        case .live: observer.wake()
        case .connecting: break
        }
        return id
    }

    func remove(_ observer: UInt64, from topic: HomeState.Topic) {
        state.withLock { state in
            state.observers[topic]?[observer] = nil
            if state.observers[topic]?.isEmpty == true { state.observers[topic] = nil }
        }
    }

    /// Adds a subscription to events, and opens the stream if there is none. A subscription to a device that the home does not
    /// have finishes as soon as the home is known.
    func observeEvents(_ observer: EventObserver) -> UInt64 {
        let (id, phase, isGone) = state.withLock { state -> (UInt64, Phase, Bool) in
            state.nextObserver += 1
            if case .ended = state.phase { return (state.nextObserver, state.phase, false) }
            if state.home.devices[observer.deviceID] == nil {
                if case .live = state.phase { return (state.nextObserver, state.phase, true) }
                state.doubtedEventObservers.insert(state.nextObserver)
            }
            state.eventObservers[state.nextObserver] = observer
            return (state.nextObserver, state.phase, false)
        }
        switch phase {
        case .ended(let error): observer.fail(error)
        case .idle: open()
        case .live, .connecting: break
        }
        if isGone { observer.finish() }
        return id
    }

    func removeEventObserver(_ observer: UInt64) {
        state.withLock { state in
            state.eventObservers[observer] = nil
            state.doubtedEventObservers.remove(observer)
        }
    }

    /// Ends the stream and every subscription, for good.
    func end(_ error: HomeError) {
        let (task, observers) = state.withLock { state -> (Task<Void, Never>?, [@Sendable (HomeError) -> Void]) in
            let observers = Self.takeObservers(&state)
            state.phase = .ended(error)
            state.stream += 1
            defer { state.following = nil }
            return (state.following, observers)
        }
        task?.cancel()
        for fail in observers { fail(error) }
    }

    private func open() {
        state.withLock { state in
            guard case .idle = state.phase else { return }
            state.phase = .connecting
            state.stream += 1
            let stream = state.stream
            // The stream does not keep the model alive: it ends with its last user.
            let receive: @Sendable (EventFollower.Report) -> Void = { [weak self] in self?.receive($0, stream: stream) }
            let fail: @Sendable (HomeError) -> Void = { [weak self] in self?.fail($0, stream: stream) }
            state.following = Self.following(feed, after: state.cursor, receive, fail)
        }
    }

    private static func following(
        _ feed: any Feed, after cursor: String?, _ receive: @escaping @Sendable (EventFollower.Report) -> Void,
        _ fail: @escaping @Sendable (HomeError) -> Void
    ) -> Task<Void, Never> {
        Task.detached {
            do throws(HomeError) {
                try await feed.follow(after: cursor, receive)
            } catch {
                fail(error)
            }
        }
    }

    private func receive(_ report: EventFollower.Report, stream: UInt64) {
        do throws(HomeError) {
            switch report {
            // With a cursor, what is known is complete up to there, and the changes since then follow.
            case .connected: goLive(stream: stream)
            case .interrupted: pause(stream: stream)
            case .update(.state(let events)): try take(state: events, stream: stream)
            case .update(.change(let event)): try take(event, stream: stream)
            case .update(.missed(let event)): loseEvents(event, stream: stream)
            }
        } catch {
            fail(error, stream: stream)
        }
    }

    private func goLive(stream: UInt64) {
        let waking = state.withLock { state -> [@Sendable () -> Void] in
            guard state.stream == stream, state.cursor != nil else { return [] }
            state.phase = .live
            let wakes: [@Sendable () -> Void] = state.observers.values.flatMap { $0.values.map(\.wake) }
            return wakes + Self.takeDoubtedEventObservers(&state)
        }
        for wake in waking { wake() }
    }

    /// Subscriptions that begin now wait until the connection is back.
    private func pause(stream: UInt64) {
        state.withLock { state in
            guard state.stream == stream, case .live = state.phase else { return }
            state.phase = .connecting
        }
    }

    private func take(state events: [GatewayEvent], stream: UInt64) throws(HomeError) {
        let newer = try HomeState(events)
        let waking = state.withLock { state -> [@Sendable () -> Void] in
            guard state.stream == stream else { return [] }
            _ = state.home.replace(with: newer)
            state.isKnown = true
            state.isFresh = state.cursor != nil
            state.cursor = events.last?.id ?? state.cursor
            state.phase = .live
            var calls: [@Sendable () -> Void] = state.observers.values.flatMap { $0.values.map(\.wake) }
            calls += Self.takeDoubtedEventObservers(&state)
            // A state in place of changes does not say why it lacks a device. The app may not be allowed to read it at the
            // moment, or a gateway that has just started has not found it yet.
            guard !state.isFresh else { return calls }
            return calls + Self.takeEventObservers(&state) { newer.devices[$1.deviceID] == nil }
        }
        for wake in waking { wake() }
    }

    private func take(_ event: GatewayEvent, stream: UInt64) throws(HomeError) {
        let update = try HomeUpdate(event)
        let (waking, receiving) = state.withLock { state -> ([@Sendable () -> Void], [@Sendable (HomeEvent) -> Void]) in
            guard state.stream == stream else { return ([], []) }
            state.cursor = event.id ?? state.cursor
            state.isFresh = false
            guard let update else { return ([], state.eventObservers.values.map(\.receive)) }
            let changed = state.home.apply(update)
            let wakes: [@Sendable () -> Void] = changed.flatMap { state.observers[$0]?.values.map(\.wake) ?? [] }
            guard case .deviceRemoved(let id) = update else { return (wakes, []) }
            return (wakes + Self.takeEventObservers(&state) { $1.deviceID == id }, [])
        }
        for wake in waking { wake() }
        guard !receiving.isEmpty, let event = HomeEvent(event) else { return }
        for receive in receiving { receive(event) }
    }

    /// Fails the subscriptions to events, because some events may be missing. States are complete again.
    ///
    /// The gateway no longer has earlier events only if it has sent the whole state instead of them. A stream that ends
    /// because it was read too slowly, or because the app's rights have changed, continues after the cursor. If what the app may
    /// read has changed, the state comes first, and the events after the cursor follow.
    private func loseEvents(_ missed: GatewayEvent, stream: UInt64) {
        let isComplete = missed.announcesEvents
        let observers = state.withLock { state -> [@Sendable (HomeError) -> Void] in
            guard state.stream == stream, state.isFresh else { return [] }
            state.isFresh = false
            guard !isComplete else { return [] }
            defer { state.eventObservers = [:] }
            return state.eventObservers.values.map(\.fail)
        }
        let error = HomeError.dataLoss(
            "the gateway no longer has every event since the connection was lost. Read them from the history, and "
                + "subscribe again")
        for fail in observers { fail(error) }
    }

    private func fail(_ error: HomeError, stream: UInt64) {
        let observers = state.withLock { state -> [@Sendable (HomeError) -> Void] in
            guard state.stream == stream else { return [] }
            state.phase = .idle
            state.stream += 1
            // The first value of the next subscription is the home as it is then, and not as it was. An unreadable
            // change is not read again.
            state.cursor = nil
            state.following?.cancel()
            state.following = nil
            return Self.takeObservers(&state)
        }
        for fail in observers { fail(error) }
    }

    /// Removes the subscriptions to the events of devices that are gone.
    /// - Returns: what finishes them.
    private static func takeEventObservers(
        _ state: inout State, where isGone: (UInt64, EventObserver) -> Bool
    ) -> [@Sendable () -> Void] {
        let gone = state.eventObservers.filter { isGone($0.key, $0.value) }
        for id in gone.keys { state.eventObservers[id] = nil }
        return gone.values.map(\.finish)
    }

    /// Removes the subscriptions that began without a connection, if the home had no such device before and has none now.
    /// - Returns: what finishes them.
    private static func takeDoubtedEventObservers(_ state: inout State) -> [@Sendable () -> Void] {
        let (doubted, devices) = (state.doubtedEventObservers, state.home.devices)
        state.doubtedEventObservers = []
        return takeEventObservers(&state) { doubted.contains($0) && devices[$1.deviceID] == nil }
    }

    private static func takeObservers(_ state: inout State) -> [@Sendable (HomeError) -> Void] {
        let observers =
            state.observers.values.flatMap { $0.values.map(\.fail) } + state.eventObservers.values.map(\.fail)
        state.observers = [:]
        state.eventObservers = [:]
        return observers
    }
}
