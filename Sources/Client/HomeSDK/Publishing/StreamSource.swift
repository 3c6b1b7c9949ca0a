import HomeTypes
import Transport

/// Where the values of a stream come from. All calls except those of `wake` come from one thread at a time.
protocol StreamSource<Output>: AnyObject, Sendable {
    associatedtype Output: Sendable

    /// Begins. `wake` is called, from any thread, whenever `next` may have something.
    func start(wake: @escaping @Sendable () -> Void)

    /// What comes next.
    func next() -> StreamStep<Output>

    /// How the stream has ended. Unlike a value, this end is delivered even if the subscriber has not asked.
    func end() -> StreamEnd?

    /// Ends. Nothing is called afterwards.
    func stop()
}

/// How a stream has ended.
enum StreamEnd: Sendable {
    case finished
    case failed(HomeError)
}

extension StreamStep {
    /// The end as a step.
    init(_ end: StreamEnd) {
        switch end {
        case .finished: self = .finished
        case .failed(let error): self = .failed(error)
        }
    }
}

/// A stream of what follows from the state of the home.
final class ModelSource<Derived: Derivation>: StreamSource {
    private struct State: Sendable {
        var derivation: Derived
        var observer: UInt64?
        var isStale = false
        var isStopped = false
        var failure: HomeError?
    }

    private let model: HomeModel
    private let topic: HomeState.Topic
    private let state: Locked<State>

    init(_ model: HomeModel, _ topic: HomeState.Topic, _ derivation: Derived) {
        self.model = model
        self.topic = topic
        state = Locked(State(derivation: derivation))
    }

    func start(wake: @escaping @Sendable () -> Void) {
        let observer = model.observe(
            topic,
            HomeModel.Observer(
                wake: { [self] in
                    state.withLock { $0.isStale = true }
                    wake()
                },
                fail: { [self] error in
                    state.withLock { $0.failure = error }
                    wake()
                }))
        let isStopped = state.withLock { state in
            state.observer = observer
            return state.isStopped
        }
        if isStopped { model.remove(observer, from: topic) }
    }

    func next() -> StreamStep<Derived.Output> {
        let isStale = state.withLock { state in
            defer { state.isStale = false }
            return state.isStale
        }
        // Without a current state, the connection has just been lost. The home wakes the stream when it is known again.
        let home = isStale ? model.current : nil
        return state.withLock { state in
            if let failure = state.failure { return .failed(failure) }
            if let home { state.derivation.update(home) }
            return state.derivation.next()
        }
    }

    func end() -> StreamEnd? { state.withLock { $0.failure.map(StreamEnd.failed) } }

    func stop() {
        let observer = state.withLock { state in
            state.isStopped = true
            return state.observer
        }
        if let observer { model.remove(observer, from: topic) }
    }
}

/// A stream of events of a device. Every event is delivered, so they wait for the subscriber, up to a limit.
final class EventSource<Output: Sendable>: StreamSource {
    private struct State: Sendable {
        var waiting: [Output] = []
        var observer: UInt64?
        var isStopped = false
        /// The first end counts. It comes after the events that wait.
        var end: StreamEnd?
    }

    /// How many events may wait for a subscriber. A home with a hundred motion sensors has about ten events a second.
    static var limit: Int { 1024 }

    private let model: HomeModel
    private let deviceID: String
    private let read: @Sendable (HomeEvent) -> Output?
    private let state = Locked(State())

    /// - Parameter read: the output of an event; nil for an event that does not belong to the stream.
    init(_ model: HomeModel, deviceID: String, _ read: @escaping @Sendable (HomeEvent) -> Output?) {
        self.model = model
        self.deviceID = deviceID
        self.read = read
    }

    func start(wake: @escaping @Sendable () -> Void) {
        let observer = model.observeEvents(
            HomeModel.EventObserver(
                deviceID: deviceID,
                receive: { [self] event in
                    guard event.deviceID == deviceID, let output = read(event) else { return }
                    state.withLock { state in
                        guard state.end == nil else { return }
                        if state.waiting.count < Self.limit { return state.waiting.append(output) }
                        state.end = .failed(
                            .resourceExhausted(
                                "\(Self.limit) events wait for a subscriber that does not read them; subscribe again"))
                    }
                    wake()
                },
                finish: { [self] in
                    state.withLock { if $0.end == nil { $0.end = .finished } }
                    wake()
                },
                fail: { [self] error in
                    state.withLock { if $0.end == nil { $0.end = .failed(error) } }
                    wake()
                }))
        let isStopped = state.withLock { state in
            state.observer = observer
            return state.isStopped
        }
        if isStopped { model.removeEventObserver(observer) }
    }

    func next() -> StreamStep<Output> {
        state.withLock { state in
            if !state.waiting.isEmpty { return .value(state.waiting.removeFirst()) }
            return state.end.map { StreamStep<Output>($0) } ?? .wait
        }
    }

    func end() -> StreamEnd? { state.withLock { $0.waiting.isEmpty ? $0.end : nil } }

    func stop() {
        let observer = state.withLock { state in
            state.isStopped = true
            state.waiting = []
            return state.observer
        }
        if let observer { model.removeEventObserver(observer) }
    }
}
