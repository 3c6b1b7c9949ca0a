import HomeTypes
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
        private let onRights = Locked<(@Sendable (Access) -> Void)?>(nil)
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

        /// Names what is called with what the watcher's principal may do after that has changed.
        func whenRightsChange(_ body: @escaping @Sendable (Access) -> Void) { onRights.withLock { $0 = body } }

        fileprivate func record(_ access: Access) {
            let body = onRights.withLock { $0 }
            body?(access)
            continuation.yield()
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

    private struct Weak {
        let principal: String?
        weak var watcher: Watcher?
    }

    private struct State {
        var next = 0
        var watchers: [Int: Weak] = [:]
    }

    private let state = Locked(State())

    /// Adds a watcher, which is there as long as its value.
    /// - Parameter principal: the principal that watches; nil for one whose rights do not matter.
    func add(for principal: String? = nil) -> Watcher {
        let number = state.withLock { state in
            defer { state.next += 1 }
            return state.next
        }
        let watcher = Watcher { [weak self] in self?.state.withLock { $0.watchers[number] = nil } }
        state.withLock { $0.watchers[number] = Weak(principal: principal, watcher: watcher) }
        return watcher
    }

    /// Reports to the watchers of a principal what it may do now.
    func record(_ access: Access, of principal: String) {
        let watchers = state.withLock { state in
            state.watchers.values.filter { $0.principal == principal }.compactMap(\.watcher)
        }
        for watcher in watchers { watcher.record(access) }
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
