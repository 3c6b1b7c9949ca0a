import HomeTypes
import Signalling
import Transport

/// Those who watch cameras over HTTP or a WebSocket: how many there may be, and how what they hold is ended.
///
/// They are counted apart from live views, whose limits are about WebRTC.
final class LiveWatchers: Sendable {
    /// How many there may be at once, with a share for each principal.
    static let shares = PlaceShares(total: 64)

    /// One of them, for as long as somebody keeps it.
    final class Watcher: Sendable {
        private enum State {
            case watching(onEnd: (@Sendable () -> Void)?)
            case ended
        }

        private let state = Locked(State.watching(onEnd: nil))
        private let leave: @Sendable () -> Void

        fileprivate init(leave: @escaping @Sendable () -> Void) {
            self.leave = leave
        }

        deinit { leave() }

        /// Whether it may watch no longer.
        var hasEnded: Bool {
            state.withLock { state in
                if case .ended = state { return true }
                return false
            }
        }

        /// Names what ends it. If that has been asked for already, it is called at once.
        func whenEnded(_ body: @escaping @Sendable () -> Void) {
            let hasEnded = state.withLock { state in
                if case .ended = state { return true }
                state = .watching(onEnd: body)
                return false
            }
            if hasEnded { body() }
        }

        fileprivate func end() {
            let body = state.withLock { state -> (@Sendable () -> Void)? in
                defer { state = .ended }
                guard case .watching(let onEnd) = state else { return nil }
                return onEnd
            }
            body?()
        }
    }

    private struct Entry: Sendable {
        var principal: String
        var device: String
        weak var watcher: Watcher?
    }

    private struct State {
        var entries: [Int: Entry] = [:]
        var nextNumber = 0
    }

    private let state = Locked(State())

    /// How many there are.
    var count: Int { state.withLock { $0.entries.count } }

    /// Takes a place.
    /// - Throws: `resourceExhausted` where there is none for the principal.
    func add(_ principal: String, watching device: String) throws(HomeError) -> Watcher {
        let number = Locked(0)
        let watcher = Watcher { [weak self] in
            let own = number.withLock { $0 }
            // What the entry holds is released outside of the lock.
            _ = self?.state.withLock { $0.entries.removeValue(forKey: own) }
        }
        let refusal = state.withLock { state -> PlaceShares.Refusal? in
            if let refusal = Self.shares.refusal(of: principal, holders: state.entries.values.map(\.principal)) {
                return refusal
            }
            state.nextNumber += 1
            number.withLock { $0 = state.nextNumber }
            state.entries[state.nextNumber] = Entry(principal: principal, device: device, watcher: watcher)
            return nil
        }
        if let refusal { throw .resourceExhausted("too many live streams at once: \(refusal.words)") }
        return watcher
    }

    /// Ends those of a principal that watch what it may no longer watch.
    func end(of principal: String, unless mayWatch: (_ device: String) -> Bool) {
        let ending = state.withLock { state in
            state.entries.values.filter { $0.principal == principal && !mayWatch($0.device) }.compactMap(\.watcher)
        }
        for watcher in ending { watcher.end() }
    }
}
