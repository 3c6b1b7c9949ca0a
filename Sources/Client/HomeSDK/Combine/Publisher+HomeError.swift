import HomeTypes

#if canImport(Combine)
    import Combine
#else
    import OpenCombine
#endif

extension Publisher where Failure == HomeError {
    /// Subscribes with a closure for values. A failure ends the stream, and goes to
    /// `HomeClientConfiguration.unhandledStreamFailure`.
    public func sink(receiveValue: @escaping (Output) -> Void) -> AnyCancellable {
        sink(
            receiveCompletion: { completion in
                guard case .failure(let error) = completion else { return }
                Home.reportUnhandled(error)
            }, receiveValue: receiveValue)
    }
}
