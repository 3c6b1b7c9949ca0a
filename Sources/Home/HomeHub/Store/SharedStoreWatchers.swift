import Transport

/// The watchers of objects of a kind.
final class SharedStoreWatchers: Sendable {
    private struct State {
        var next: UInt64 = 0
        var watchers: [UInt64: (kind: String, continuation: AsyncStream<Void>.Continuation)] = [:]
    }

    private let state = Locked(State())

    func watch(_ kind: String) -> AsyncStream<Void> {
        // One pending change is as good as many: the reader reads everything again.
        let (stream, continuation) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        let number = state.withLock { state in
            defer { state.next += 1 }
            state.watchers[state.next] = (kind, continuation)
            return state.next
        }
        continuation.onTermination = { [weak self] _ in self?.state.withLock { $0.watchers[number] = nil } }
        return stream
    }

    func wake(_ kind: String) {
        let woken = state.withLock { $0.watchers.values.filter { $0.kind == kind }.map(\.continuation) }
        for continuation in woken { continuation.yield() }
    }
}
