#if !canImport(Combine)
    import HomeTypes
    import OpenCombine
    import Transport

    extension Publisher where Failure == HomeError, Output: Sendable {
        /// The values as an asynchronous sequence. A failure is thrown.
        public var values: PublishedValues<Self> { PublishedValues(self) }
    }

    /// The values of a publisher as an asynchronous sequence, as in Combine. Leaving a loop over it ends the subscription.
    ///
    /// OpenCombine's own sequence ends its subscription only if the task is cancelled while it waits. After `break`,
    /// `return` and an error, the home would keep the subscription until it is disconnected, and serve it with every change.
    public struct PublishedValues<Upstream: Publisher>: AsyncSequence
    where Upstream.Failure == HomeError, Upstream.Output: Sendable {
        public typealias Element = Upstream.Output
        public typealias Failure = any Error

        private let publisher: Upstream

        init(_ publisher: Upstream) {
            self.publisher = publisher
        }

        /// One subscription, which asks for one value at a time.
        public struct Iterator: AsyncIteratorProtocol, Sendable {
            public typealias Element = Upstream.Output
            public typealias Failure = any Error

            fileprivate let reading: ValueReading<Upstream.Output>

            /// The next value; nil at the end of the stream, and in a task that is cancelled.
            public mutating func next() async throws -> Upstream.Output? { try await reading.next() }
        }

        public func makeAsyncIterator() -> Iterator {
            let reader = ValueReader<Upstream.Output>()
            publisher.subscribe(reader)
            return Iterator(reading: ValueReading(reader))
        }
    }

    /// Ends the subscription of a reader together with the last copy of its iterator. The reader itself cannot notice that,
    /// because its subscription keeps it alive.
    final class ValueReading<Value: Sendable>: Sendable {
        private let reader: ValueReader<Value>

        init(_ reader: ValueReader<Value>) {
            self.reader = reader
        }

        deinit { reader.cancel() }

        func next() async throws -> Value? {
            let reader = reader
            return try await withTaskCancellationHandler {
                try await reader.next()
            } onCancel: {
                reader.cancel()
            }
        }
    }

    /// Hands the values of a subscription to the callers that ask for one.
    final class ValueReader<Input: Sendable>: Subscriber, Sendable {
        typealias Failure = HomeError
        private typealias Waiting = CheckedContinuation<Input?, any Error>

        private struct Kept: @unchecked Sendable {
            // Proof for @unchecked: a subscription may be used from any thread. OpenCombine's own sequence also does so.
            let subscription: any Subscription
        }

        private enum Phase: Sendable {
            /// The publisher has not handed out the subscription yet.
            case begun
            case subscribed(Kept)
            /// The error is thrown to one caller only, and has not been thrown yet.
            case ended(HomeError?)
        }

        private struct State: Sendable {
            var phase = Phase.begun
            /// One continuation for each value that was asked for.
            var waiting: [Waiting] = []
        }

        private let state = Locked(State())

        func next() async throws -> Input? {
            try await withCheckedThrowingContinuation { continuation in
                let phase = state.withLock { state -> Phase in
                    let phase = state.phase
                    if case .ended = phase {
                        state.phase = .ended(nil)
                    } else {
                        state.waiting.append(continuation)
                    }
                    return phase
                }
                switch phase {
                case .begun: break
                case .subscribed(let kept): kept.subscription.request(.max(1))
                case .ended(let error?): continuation.resume(throwing: error)
                case .ended(nil): continuation.resume(returning: nil)
                }
            }
        }

        func cancel() {
            end(nil)?.subscription.cancel()
        }

        func receive(subscription: any Subscription) {
            let kept = Kept(subscription: subscription)
            let wanted = state.withLock { state -> Int? in
                guard case .begun = state.phase else { return nil }
                state.phase = .subscribed(kept)
                return state.waiting.count
            }
            guard let wanted else { return kept.subscription.cancel() }
            if wanted > 0 { kept.subscription.request(.max(wanted)) }
        }

        func receive(_ input: Input) -> Subscribers.Demand {
            // Nobody waits for a value that comes while the loop is left.
            let waiting = state.withLock { state -> Waiting? in
                state.waiting.isEmpty ? nil : state.waiting.removeFirst()
            }
            waiting?.resume(returning: input)
            return .none
        }

        func receive(completion: Subscribers.Completion<HomeError>) {
            if case .failure(let error) = completion { _ = end(error) } else { _ = end(nil) }
        }

        /// Ends the values for all waiting callers. The first of them gets the error. If no caller waits, the next one gets it.
        /// - Returns: the subscription if it had not ended yet.
        private func end(_ error: HomeError?) -> Kept? {
            let (kept, waiting) = state.withLock { state -> (Kept?, [Waiting]) in
                var kept: Kept?
                switch state.phase {
                case .ended: break
                case .begun: state.phase = .ended(state.waiting.isEmpty ? error : nil)
                case .subscribed(let subscription):
                    kept = subscription
                    state.phase = .ended(state.waiting.isEmpty ? error : nil)
                }
                defer { state.waiting = [] }
                return (kept, state.waiting)
            }
            for (index, continuation) in waiting.enumerated() {
                if index == 0, let error {
                    continuation.resume(throwing: error)
                } else {
                    continuation.resume(returning: nil)
                }
            }
            return kept
        }
    }
#endif
