#if !canImport(Combine)
    import Foundation
    import OpenCombine

    /// A subscription to the newest values of two publishers. A subscriber that is slower than both gets the newest pair.
    final class CombineLatestSubscription<First, Second, Downstream: Subscriber>: Subscription
    where Downstream.Input == (First, Second) {
        private enum Delivery {
            case pair(First, Second)
            case completion(Subscribers.Completion<Downstream.Failure>)
            case nothing
        }

        // Everything below is accessed only while `lock` is held. `Locked` accepts only values that may cross threads.
        private let lock = NSLock()
        private var downstream: Downstream?
        private var first: First?
        private var second: Second?
        private var upstream: [any Subscription] = []
        private var finished = 0
        private var isNew = false
        private var isDelivering = false
        private var demand = Subscribers.Demand.none
        private var completion: Subscribers.Completion<Downstream.Failure>?

        init(_ downstream: Downstream) {
            self.downstream = downstream
        }

        func request(_ demand: Subscribers.Demand) {
            lock.lock()
            self.demand += demand
            lock.unlock()
            deliver()
        }

        func cancel() {
            lock.lock()
            downstream = nil
            let upstream = upstream
            self.upstream = []
            lock.unlock()
            for subscription in upstream { subscription.cancel() }
        }

        func accept(_ subscription: any Subscription) {
            lock.lock()
            let isWanted = downstream != nil
            if isWanted { upstream.append(subscription) }
            lock.unlock()
            if isWanted { subscription.request(.unlimited) } else { subscription.cancel() }
        }

        func accept(first: First) {
            lock.lock()
            self.first = first
            isNew = true
            lock.unlock()
            deliver()
        }

        func accept(second: Second) {
            lock.lock()
            self.second = second
            isNew = true
            lock.unlock()
            deliver()
        }

        /// Handles the end of a side. The stream ends if it is a failure, if both sides have ended, or if the side did
        /// not have a value, because no pair can follow then.
        func accept(_ completion: Subscribers.Completion<Downstream.Failure>, hadValue: Bool) {
            lock.lock()
            finished += 1
            var isEnd = finished == 2 || !hadValue
            if case .failure = completion { isEnd = true }
            if isEnd, self.completion == nil { self.completion = completion }
            lock.unlock()
            deliver()
        }

        private func takeDelivery() -> (Downstream, Delivery)? {
            lock.lock()
            defer { lock.unlock() }
            guard let downstream else { return nil }
            if isNew, demand > .none, let first, let second {
                isNew = false
                demand -= 1
                return (downstream, .pair(first, second))
            }
            if let completion, !isNew || first == nil || second == nil {
                self.downstream = nil
                return (downstream, .completion(completion))
            }
            return (downstream, .nothing)
        }

        /// Delivers what is waiting, on one thread at a time.
        private func deliver() {
            lock.lock()
            let isFree = !isDelivering
            isDelivering = true
            lock.unlock()
            guard isFree else { return }
            while let (downstream, delivery) = takeDelivery() {
                switch delivery {
                case .pair(let first, let second):
                    let more = downstream.receive((first, second))
                    lock.lock()
                    demand += more
                    lock.unlock()
                case .completion(let completion):
                    downstream.receive(completion: completion)
                    cancel()
                case .nothing:
                    if stop() { return }
                }
            }
            lock.lock()
            isDelivering = false
            lock.unlock()
        }

        /// Ends a delivery, unless something has come since it last looked.
        private func stop() -> Bool {
            lock.lock()
            defer { lock.unlock() }
            let isPair = isNew && demand > .none && first != nil && second != nil
            let isEnd = completion != nil && (!isNew || first == nil || second == nil)
            guard !isPair, !isEnd else { return false }
            isDelivering = false
            return true
        }
    }

    /// One of the two sides of a `CombineLatestSubscription`.
    final class CombineLatestSide<Input, Failure: Error>: Subscriber {
        private let onSubscription: (any Subscription) -> Void
        private let onValue: (Input) -> Void
        private let onCompletion: (Subscribers.Completion<Failure>, Bool) -> Void
        private var hadValue = false

        init(
            onSubscription: @escaping (any Subscription) -> Void, onValue: @escaping (Input) -> Void,
            onCompletion: @escaping (Subscribers.Completion<Failure>, Bool) -> Void
        ) {
            self.onSubscription = onSubscription
            self.onValue = onValue
            self.onCompletion = onCompletion
        }

        func receive(subscription: any Subscription) { onSubscription(subscription) }

        func receive(_ input: Input) -> Subscribers.Demand {
            hadValue = true
            onValue(input)
            return .none
        }

        func receive(completion: Subscribers.Completion<Failure>) { onCompletion(completion, hadValue) }
    }
#endif
