#if !canImport(Combine)
    import OpenCombine

    extension Publisher {
        /// Publishes a pair of the newest values of two publishers whenever one of them has a new value.
        public func combineLatest<Other: Publisher>(
            _ other: Other
        ) -> Publishers.CombineLatest<Self, Other> where Other.Failure == Failure {
            Publishers.CombineLatest(self, other)
        }

        /// Publishes what `transform` makes of the newest values of two publishers.
        public func combineLatest<Other: Publisher, Result>(
            _ other: Other, _ transform: @escaping (Output, Other.Output) -> Result
        ) -> Publishers.Map<Publishers.CombineLatest<Self, Other>, Result> where Other.Failure == Failure {
            combineLatest(other).map { transform($0.0, $0.1) }
        }

        /// Publishes the newest values of three publishers whenever one of them has a new value.
        public func combineLatest<Second: Publisher, Third: Publisher>(
            _ second: Second, _ third: Third
        ) -> AnyPublisher<(Output, Second.Output, Third.Output), Failure>
        where Second.Failure == Failure, Third.Failure == Failure {
            combineLatest(second).combineLatest(third).map { ($0.0.0, $0.0.1, $0.1) }.eraseToAnyPublisher()
        }

        /// Publishes the newest values of four publishers whenever one of them has a new value.
        public func combineLatest<Second: Publisher, Third: Publisher, Fourth: Publisher>(
            _ second: Second, _ third: Third, _ fourth: Fourth
        ) -> AnyPublisher<(Output, Second.Output, Third.Output, Fourth.Output), Failure>
        where Second.Failure == Failure, Third.Failure == Failure, Fourth.Failure == Failure {
            combineLatest(second, third).combineLatest(fourth).map { ($0.0.0, $0.0.1, $0.0.2, $0.1) }
                .eraseToAnyPublisher()
        }
    }

    extension Publishers {
        /// Publishes a pair of the newest values of two publishers whenever one of them has a new value. OpenCombine
        /// does not have this publisher of Combine.
        public struct CombineLatest<First: Publisher, Second: Publisher>: Publisher
        where First.Failure == Second.Failure {
            public typealias Output = (First.Output, Second.Output)
            public typealias Failure = First.Failure

            private let first: First
            private let second: Second

            /// Combines two publishers.
            public init(_ first: First, _ second: Second) {
                self.first = first
                self.second = second
            }

            public func receive<Downstream: Subscriber>(subscriber: Downstream)
            where Downstream.Input == Output, Downstream.Failure == Failure {
                let subscription = CombineLatestSubscription<First.Output, Second.Output, Downstream>(subscriber)
                subscriber.receive(subscription: subscription)
                first.subscribe(
                    CombineLatestSide<First.Output, Failure>(
                        onSubscription: subscription.accept, onValue: subscription.accept(first:),
                        onCompletion: subscription.accept))
                second.subscribe(
                    CombineLatestSide<Second.Output, Failure>(
                        onSubscription: subscription.accept, onValue: subscription.accept(second:),
                        onCompletion: subscription.accept))
            }
        }
    }
#endif
