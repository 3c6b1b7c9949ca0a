import HomeTypes

#if canImport(Combine)
    import Combine
#else
    import OpenCombine
#endif

extension HomeModel {
    /// A value that follows from the state of the home, again after each change of it.
    func publisher<Value: Sendable & Equatable>(
        _ topic: HomeState.Topic, _ read: @escaping @Sendable (HomeState, HomeModel) -> LatestValue<Value>.Reading
    ) -> AnyPublisher<Value, HomeError> {
        StreamPublisher {
            ModelSource(self, topic, LatestValue { home in read(home, self) })
        }.eraseToAnyPublisher()
    }
}

extension Publisher where Failure == HomeError, Output: Sendable {
    /// The first value; nil if the stream ends without one.
    /// - Throws: `cancelled` when the task is cancelled before there is a value.
    func firstValue() async throws(HomeError) -> Output? {
        do {
            for try await value in values { return value }
            // A cancelled task ends its sequences, which says nothing about the home.
            if Task.isCancelled { throw HomeError.cancelled("the task was cancelled before the home was known") }
            return nil
        } catch let error as HomeError {
            throw error
        } catch {
            throw .unknown("\(error)")
        }
    }
}
