import HomeHub
import HomeTypes
import Transport

/// What a device on the broker has reported and the home has not read yet.
///
/// If too much waits, the states are put together: the home then learns the newest value of each attribute, and not those
/// in between. Of events, the oldest give way, and are counted.
final class MQTTUpdates: Sendable {
    private struct State {
        var pending = PendingUpdates()
        var isFinished = false
        var waiting: CheckedContinuation<DeviceUpdate?, Never>?
    }

    private let state = Locked(State())

    /// How many events gave way.
    var dropped: Int { state.withLock { $0.pending.dropped } }

    /// Adds an update behind all others.
    func add(_ update: DeviceUpdate) {
        let waiting = state.withLock { state -> CheckedContinuation<DeviceUpdate?, Never>? in
            guard !state.isFinished else { return nil }
            if let waiting = state.waiting.take() { return waiting }
            state.pending.add(update)
            return nil
        }
        waiting?.resume(returning: update)
    }

    /// No more updates come. Those that wait can still be read.
    func finish() {
        let waiting = state.withLock { state in
            state.isFinished = true
            return state.waiting.take()
        }
        waiting?.resume(returning: nil)
    }

    /// The updates, for one reader.
    var stream: AsyncStream<DeviceUpdate> {
        AsyncStream(unfolding: { [self] in await next() }, onCancel: { [self] in finish() })
    }

    private func next() async -> DeviceUpdate? {
        await withCheckedContinuation { continuation in
            let ready = state.withLock { state -> DeviceUpdate?? in
                if let update = state.pending.takeFirst() { return .some(update) }
                if state.isFinished { return .some(nil) }
                state.waiting = continuation
                return nil
            }
            if let ready { continuation.resume(returning: ready) }
        }
    }
}

/// Updates in their order, in bounded number. A value without a lock.
struct PendingUpdates {
    /// How many updates wait before they are put together.
    static let limit = 256
    /// How many events stay then.
    static let events = 64

    private var updates: [DeviceUpdate] = []
    /// How many events gave way.
    private(set) var dropped = 0

    /// How many updates wait.
    var count: Int { updates.count }

    /// Adds an update behind all others.
    mutating func add(_ update: DeviceUpdate) {
        updates.append(update)
        if updates.count > Self.limit { putTogether() }
    }

    /// The oldest update.
    mutating func takeFirst() -> DeviceUpdate? { updates.isEmpty ? nil : updates.removeFirst() }

    private mutating func putTogether() {
        var sum = Sum()
        for update in updates { sum.add(update) }
        dropped += max(0, sum.events.count - Self.events)
        updates = [.together(sum.states)] + sum.events.suffix(Self.events)
    }

    /// What several updates come to.
    private struct Sum {
        private struct Trait: Hashable {
            var endpoint: UInt16
            var name: String
        }

        private var endpoints: [EndpointDescription]?
        private var reports: [UInt16: TraitCollection] = [:]
        private var whole: SourceConnectivity?
        private var connectivity: [UInt16: SourceConnectivity] = [:]
        private var traitConnectivity: [Trait: SourceConnectivity?] = [:]
        /// What happened, oldest first.
        var events: [DeviceUpdate] = []

        mutating func add(_ update: DeviceUpdate) {
            switch update {
            case .endpoints(let list):
                // They replace everything that was known.
                let events = self.events
                self = Sum()
                self.events = events
                endpoints = list
            case .report(let endpoint, let traits):
                reports[endpoint, default: TraitCollection()].merge(traits)
            case .connectivity(nil, let new):
                whole = new
                connectivity = [:]
            case .connectivity(let endpoint?, let new): connectivity[endpoint] = new
            case .traitConnectivity(let endpoint, let trait, let new):
                traitConnectivity[Trait(endpoint: endpoint, name: trait)] = .some(new)
            case .together(let updates): for update in updates { add(update) }
            default: events.append(update)
            }
        }

        /// The states in an order that gives the same result.
        var states: [DeviceUpdate] {
            var states: [DeviceUpdate] = []
            if let endpoints { states.append(.endpoints(endpoints)) }
            if let whole { states.append(.connectivity(endpoint: nil, whole)) }
            states += connectivity.sorted { $0.key < $1.key }.map { .connectivity(endpoint: $0.key, $0.value) }
            states += reports.sorted { $0.key < $1.key }.map { .report(endpoint: $0.key, $0.value) }
            let ofTraits = traitConnectivity.sorted { ($0.key.endpoint, $0.key.name) < ($1.key.endpoint, $1.key.name) }
            states += ofTraits.map { .traitConnectivity(endpoint: $0.key.endpoint, trait: $0.key.name, $0.value) }
            return states
        }
    }
}
