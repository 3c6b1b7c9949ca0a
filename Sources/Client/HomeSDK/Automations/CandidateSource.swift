import GatewayClient
import HomeTypes
import Transport

/// A stream of candidates. Whenever the home changes in a way that can change them, the gateway is asked again. There is one
/// request at a time, however often the home changes.
///
/// An unreachable gateway is asked again for as long as it may be away, as in the event stream. A short loss of the connection
/// does not end the stream.
final class CandidateSource: StreamSource {
    private struct State: Sendable {
        var observers: [(HomeState.Topic, UInt64)] = []
        var asking: Task<Void, Never>?
        /// Whether the home has changed since the request began.
        var isStale = false
        var waiting: Set<Candidate>?
        var delivered: Set<Candidate>?
        var failure: HomeError?
        var isStopped = false
    }

    private static let topics = [HomeState.Topic.devices, .structures]

    private let query: CandidateQuery
    private let fetch: @Sendable () async throws(HomeError) -> CandidateRecords
    private let state = Locked(State())

    /// - Parameter fetch: asks the gateway.
    init(_ query: CandidateQuery, fetch: @escaping @Sendable () async throws(HomeError) -> CandidateRecords) {
        self.query = query
        self.fetch = fetch
    }

    func start(wake: @escaping @Sendable () -> Void) {
        for topic in Self.topics {
            let observer = query.model.observe(
                topic, HomeModel.Observer(wake: { [self] in ask(wake) }, fail: { [self] in fail($0, wake) }))
            let isStopped = state.withLock { state in
                state.observers.append((topic, observer))
                return state.isStopped
            }
            if isStopped { query.model.remove(observer, from: topic) }
        }
    }

    private func ask(_ wake: @escaping @Sendable () -> Void) {
        state.withLock { state in
            guard !state.isStopped, state.failure == nil else { return }
            state.isStale = true
            guard state.asking == nil else { return }
            state.asking = Task { await self.answer(wake) }
        }
    }

    private func answer(_ wake: @escaping @Sendable () -> Void) async {
        while takeStale() {
            do throws(HomeError) {
                let records = try await fetchPatiently()
                // Without a current state, the connection has just been lost. The source asks again when the home is
                // known again.
                guard let home = query.model.current else { continue }
                let candidates = query.candidates(records, in: home)
                state.withLock { $0.waiting = candidates }
                wake()
            } catch {
                return fail(error, wake)
            }
        }
    }

    /// Asks the gateway, and again while it is away.
    /// - Throws: the last error once the gateway has been away for longer than the configured patience; a refusal at
    ///   once.
    private func fetchPatiently() async throws(HomeError) -> CandidateRecords {
        let configuration = query.model.configuration
        let begin = ContinuousClock.now
        var backOff = configuration.backOff
        while true {
            do throws(HomeError) {
                return try await fetch()
            } catch {
                // 429: other requests hold all places for the moment.
                guard error.code == .unavailable || error.code == .resourceExhausted else { throw error }
                let wait = backOff.wait()
                guard begin.duration(to: .now) + wait <= configuration.patience else { throw error }
                do {
                    try await Task.sleep(for: wait)
                } catch {
                    throw .cancelled("nobody subscribes to the candidates any more")
                }
            }
        }
    }

    /// Whether there is something to ask for. If not, the request ends in the same step.
    private func takeStale() -> Bool {
        state.withLock { state in
            defer { state.isStale = false }
            if !state.isStale { state.asking = nil }
            return state.isStale
        }
    }

    private func fail(_ error: HomeError, _ wake: @Sendable () -> Void) {
        state.withLock { $0.failure = $0.failure ?? error }
        wake()
    }

    func next() -> StreamStep<Set<Candidate>> {
        state.withLock { state in
            if let failure = state.failure { return .failed(failure) }
            guard let candidates = state.waiting else { return .wait }
            state.waiting = nil
            guard candidates != state.delivered else { return .wait }
            state.delivered = candidates
            return .value(candidates)
        }
    }

    func end() -> StreamEnd? { state.withLock { $0.failure.map(StreamEnd.failed) } }

    func stop() {
        let (asking, observers) = state.withLock { state in
            state.isStopped = true
            defer { state.observers = [] }
            return (state.asking, state.observers)
        }
        asking?.cancel()
        for (topic, observer) in observers { query.model.remove(observer, from: topic) }
    }
}
