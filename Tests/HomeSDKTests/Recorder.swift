import HomeTypes
import OpenCombine
import Transport

/// Records what a publisher sends.
final class Recorder<Output: Sendable>: Subscriber, Sendable {
    typealias Input = Output
    typealias Failure = HomeError

    private struct State: Sendable {
        var values: [Output] = []
        var completion: Subscribers.Completion<HomeError>?
        /// Whether the time of the test is over.
        var isCancelled = false
        var waiting: [(count: Int, continuation: CheckedContinuation<Void, Never>)] = []
    }

    private let state = Locked(State())
    private let subscription = Locked<Kept?>(nil)
    private let initial: Subscribers.Demand

    /// A subscription that a test keeps.
    private struct Kept: @unchecked Sendable {
        // Proof for @unchecked: the subscriptions of the library may be used from any thread.
        let subscription: any Subscription
    }

    init(_ publisher: some Publisher<Output, HomeError>, demand: Subscribers.Demand = .unlimited) {
        initial = demand
        publisher.subscribe(self)
    }

    deinit { cancel() }

    var values: [Output] { state.withLock { $0.values } }
    var failure: HomeError? {
        guard case .failure(let error) = (state.withLock { $0.completion }) else { return nil }
        return error
    }
    var isFinished: Bool {
        guard case .finished = (state.withLock { $0.completion }) else { return false }
        return true
    }

    func receive(subscription: any Subscription) {
        let kept = Kept(subscription: subscription)
        self.subscription.withLock { $0 = kept }
        subscription.request(initial)
    }

    func receive(_ input: Output) -> Subscribers.Demand {
        record { $0.values.append(input) }
        return .none
    }

    func receive(completion: Subscribers.Completion<HomeError>) { record { $0.completion = completion } }

    func request(_ demand: Subscribers.Demand) { subscription.withLock { $0 }?.subscription.request(demand) }

    func cancel() { subscription.withLock { $0 }?.subscription.cancel() }

    private func record(_ change: (inout State) -> Void) {
        let ready = state.withLock { state in
            change(&state)
            let count = state.values.count
            let isOver = state.isCancelled || state.completion != nil
            let ready = state.waiting.filter { isOver || $0.count <= count }
            state.waiting.removeAll { isOver || $0.count <= count }
            return ready.map(\.continuation)
        }
        for continuation in ready { continuation.resume() }
    }

    /// Waits for this many values, the end of the stream, or the end of the test's time.
    @discardableResult
    func wait(for count: Int) async -> [Output] {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isReady = state.withLock { state in
                    if state.isCancelled || state.completion != nil || state.values.count >= count { return true }
                    state.waiting.append((count, continuation))
                    return false
                }
                if isReady { continuation.resume() }
            }
        } onCancel: {
            record { $0.isCancelled = true }
        }
        return values
    }

    /// Waits for the end of the stream.
    func waitForEnd() async { await wait(for: .max) }
}
