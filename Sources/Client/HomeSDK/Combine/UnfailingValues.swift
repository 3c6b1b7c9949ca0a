#if !canImport(Combine)
    import HomeTypes
    import OpenCombine

    // OpenCombine's own `values` belongs to all publishers that cannot fail. Another extension of `Publisher` would be
    // ambiguous with it. Swift prefers a member of a concrete type, so the types at the end of most chains have one each.

    extension AnyPublisher where Failure == Never, Output: Sendable {
        /// The values as an asynchronous sequence.
        public var values: UnfailingValues<Self> { UnfailingValues(self) }
    }

    extension Publishers.AssertNoFailure where Upstream.Output: Sendable {
        /// The values as an asynchronous sequence.
        public var values: UnfailingValues<Self> { UnfailingValues(self) }
    }

    extension Publishers.ReplaceError where Upstream.Output: Sendable {
        /// The values as an asynchronous sequence.
        public var values: UnfailingValues<Self> { UnfailingValues(self) }
    }

    extension Publishers.Catch where NewPublisher.Failure == Never, Upstream.Output: Sendable {
        /// The values as an asynchronous sequence.
        public var values: UnfailingValues<Self> { UnfailingValues(self) }
    }

    /// The values of a publisher that cannot fail as an asynchronous sequence, as in Combine. Leaving a loop over it ends the
    /// subscription, as with ``PublishedValues``.
    public struct UnfailingValues<Upstream: Publisher>: AsyncSequence
    where Upstream.Failure == Never, Upstream.Output: Sendable {
        public typealias Element = Upstream.Output
        public typealias Failure = Never

        private let publisher: Upstream

        init(_ publisher: Upstream) {
            self.publisher = publisher
        }

        /// One subscription, which asks for one value at a time.
        public struct Iterator: AsyncIteratorProtocol, Sendable {
            public typealias Element = Upstream.Output
            public typealias Failure = Never

            fileprivate let reading: ValueReading<Upstream.Output>

            /// The next value; nil at the end of the stream, and in a task that is cancelled.
            public mutating func next() async -> Upstream.Output? {
                // Only a failure of the publisher is thrown.
                try? await reading.next()
            }
        }

        public func makeAsyncIterator() -> Iterator {
            let reader = ValueReader<Upstream.Output>()
            publisher.setFailureType(to: HomeError.self).subscribe(reader)
            return Iterator(reading: ValueReading(reader))
        }
    }
#endif
