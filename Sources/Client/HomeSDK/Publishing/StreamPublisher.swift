import Dispatch
import HomeTypes
import Transport

#if canImport(Combine)
    import Combine
#else
    import OpenCombine
#endif

/// Publishes the values of a source. Every subscription has a source of its own.
struct StreamPublisher<Output: Sendable>: Publisher {
    typealias Failure = HomeError

    let makeSource: @Sendable () -> any StreamSource<Output>

    func receive<Downstream: Subscriber>(subscriber: Downstream)
    where Downstream.Input == Output, Downstream.Failure == HomeError {
        let subscription = StreamSubscription(makeSource(), AnySubscriber(subscriber))
        subscriber.receive(subscription: subscription)
        subscription.start()
    }
}

/// One subscription. It delivers on its own queue, so that a subscriber that blocks does not delay others. A
/// subscription that was made on the main thread, for example by an app's views, delivers there: its closures belong to
/// the main actor.
final class StreamSubscription<Output: Sendable>: Subscription, @unchecked Sendable {
    // Proof for @unchecked: `downstream` is written before the first job of the serial `queue` and then accessed only
    // by its jobs. Everything else is immutable and Sendable.

    private struct Control: Sendable {
        var demand = Subscribers.Demand.none
        var isScheduled = false
        var isCancelled = false
    }

    private let source: any StreamSource<Output>
    private var downstream: AnySubscriber<Output, HomeError>?
    private let control = Locked(Control())
    private let queue: DispatchQueue

    init(_ source: any StreamSource<Output>, _ downstream: AnySubscriber<Output, HomeError>) {
        self.source = source
        self.downstream = downstream
        queue = MainQueue.isCurrent ? .main : DispatchQueue(label: "home.subscription")
    }

    func start() {
        source.start { [self] in schedule() }
    }

    func request(_ demand: Subscribers.Demand) {
        control.withLock { $0.demand += demand }
        schedule()
    }

    func cancel() {
        let isFirst = control.withLock { control in
            defer { control.isCancelled = true }
            return !control.isCancelled
        }
        guard isFirst else { return }
        source.stop()
        // A subscriber is released once it is not being called.
        queue.async { self.downstream = nil }
    }

    private func schedule() {
        let isNeeded = control.withLock { control in
            guard !control.isScheduled, !control.isCancelled else { return false }
            control.isScheduled = true
            return true
        }
        if isNeeded { queue.async { self.deliver() } }
    }

    /// Whether the subscriber wants a value now. If so, its demand is reduced by one.
    private func takeDemand() -> Bool {
        control.withLock { control in
            guard !control.isCancelled, control.demand > .none else { return false }
            control.demand -= 1
            return true
        }
    }

    private func deliver() {
        control.withLock { $0.isScheduled = false }
        while let downstream {
            let hasDemand = takeDemand()
            switch hasDemand ? source.next() : step(withoutDemand: source.end()) {
            case .value(let value):
                let more = downstream.receive(value)
                control.withLock { $0.demand += more }
                continue
            case .wait:
                if hasDemand { control.withLock { $0.demand += 1 } }
            case .finished: complete(.finished)
            case .failed(let error): complete(.failure(error))
            }
            return
        }
    }

    /// A stream ends even if the subscriber has not asked for a value.
    private func step(withoutDemand end: StreamEnd?) -> StreamStep<Output> {
        end.map { StreamStep<Output>($0) } ?? .wait
    }

    private func complete(_ completion: Subscribers.Completion<HomeError>) {
        let isCancelled = control.withLock { control in
            defer { control.isCancelled = true }
            return control.isCancelled
        }
        source.stop()
        let downstream = self.downstream
        self.downstream = nil
        if !isCancelled { downstream?.receive(completion: completion) }
    }
}
