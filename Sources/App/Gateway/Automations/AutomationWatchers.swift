import Transport

/// The readers that follow changes of automations.
final class AutomationWatchers: Sendable {
    /// One of them.
    final class Watcher: Sendable {
        /// Yields after an automation has changed, once for any number of changes.
        let signals: AsyncStream<Void>
        private let continuation: AsyncStream<Void>.Continuation
        private let changed = Locked<Set<String>>([])
        private let removed = Locked<[AutomationRecord]>([])
        private let onEnd: @Sendable () -> Void

        fileprivate init(onEnd: @escaping @Sendable () -> Void) {
            (signals, continuation) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
            self.onEnd = onEnd
        }

        deinit { onEnd() }

        /// The automations that have changed since the last call.
        func takeChanged() -> Set<String> {
            changed.withLock { changed in
                defer { changed = [] }
                return changed
            }
        }

        /// The automations that were deleted since the last call.
        func takeRemoved() -> [AutomationRecord] {
            removed.withLock { removed in
                defer { removed = [] }
                return removed
            }
        }

        fileprivate func recordRemoval(of record: AutomationRecord) {
            // A watcher that reads nothing while so many go has no use for the rest.
            removed.withLock { if $0.count < AutomationLimits.count { $0.append(record) } }
            continuation.yield()
        }

        fileprivate func record(_ id: String) {
            changed.withLock { _ = $0.insert(id) }
            continuation.yield()
        }
    }

    private struct Weak { weak var watcher: Watcher? }
    private struct State {
        var next = 0
        var watchers: [Int: Weak] = [:]
    }

    private let state = Locked(State())

    /// Adds a watcher, which is there as long as its value.
    func add() -> Watcher {
        let number = state.withLock { state in
            defer { state.next += 1 }
            return state.next
        }
        let watcher = Watcher { [weak self] in self?.state.withLock { $0.watchers[number] = nil } }
        state.withLock { $0.watchers[number] = Weak(watcher: watcher) }
        return watcher
    }

    /// Reports to the watchers that an automation has changed.
    func record(_ id: String) {
        for watcher in state.withLock({ $0.watchers.values.compactMap(\.watcher) }) { watcher.record(id) }
    }

    /// Reports to the watchers that an automation was deleted.
    func recordRemoval(of record: AutomationRecord) {
        var record = record
        // Nobody reads it any more, and it may be long.
        record.graph = ""
        for watcher in state.withLock({ $0.watchers.values.compactMap(\.watcher) }) {
            watcher.recordRemoval(of: record)
        }
    }
}
