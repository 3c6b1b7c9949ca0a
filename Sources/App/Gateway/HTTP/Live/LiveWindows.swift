import DatagramPort
import HomeTypes
import PushAvStreamTransport
import SDP
import Signalling
import Stations
import Transport

/// The windows of live streams that players ask for now. A window is a lease: it ends when nobody has asked for anything of
/// it for a while, since a player that leaves says nothing.
final class LiveWindows: Sendable {
    /// How long a window, and each of its principals, stays without a request.
    static let lease = Duration.seconds(20)

    /// Which window.
    struct Key: Hashable, Sendable {
        var station: ObjectIdentifier
        var stream: CameraStream
        var hasSound: Bool
    }

    /// A window and the place of a principal that asks for something of it. Keep it until the answer has been sent.
    struct Use: Sendable {
        let window: LiveWindow
        let watcher: LiveWatchers.Watcher

        /// Fails where nothing more may go to the principal.
        func check() throws(HomeError) {
            guard !watcher.hasEnded, !window.hasEnded else { throw .unavailable("the camera's stream has ended") }
        }
    }

    private struct Entry {
        let window: LiveWindow
        /// Who has asked, with a place and the time of the last request.
        var principals: [String: (watcher: LiveWatchers.Watcher, at: Instant)] = [:]
        var lastRequest: Instant
    }

    private let entries = Locked<[Key: Entry]>([:])
    private let now: @Sendable () -> Instant

    init(now: @escaping @Sendable () -> Instant = { MonotonicClock.now }) { self.now = now }

    /// The window of a camera, which begins with its first request.
    /// - Parameters:
    ///   - place: takes a place for the principal.
    ///   - watch: begins to watch the camera.
    func window(
        _ key: Key, of principal: String, place: () throws -> LiveWatchers.Watcher,
        watch: () throws -> LiveSubscription
    ) throws -> Use {
        if let known = touch(key, principal) { return known }
        // A request that comes at the same moment may do the same. The second window is not used then, and ends.
        let watcher = try place()
        let made = LiveWindow(try watch())
        let (window, isNew) = entries.withLock { entries -> (LiveWindow, Bool) in
            let present = entries[key].flatMap { $0.window.hasEnded ? nil : $0 }
            var entry = present ?? Entry(window: made, lastRequest: now())
            entry.lastRequest = now()
            entry.principals[principal] = (watcher, now())
            entries[key] = entry
            return (entry.window, present == nil)
        }
        watcher.whenEnded { [weak self, weak watcher] in self?.leave(key, principal, watcher) }
        let use = Use(window: window, watcher: watcher)
        guard isNew else {
            made.subscription.finish()
            return use
        }
        Task {
            await window.run()
            forget(key, window)
        }
        Task {
            while !window.hasEnded, (try? await Task.sleep(for: .seconds(2))) != nil { endUnused(key, window) }
        }
        return use
    }

    /// The window that a principal has asked for before.
    private func touch(_ key: Key, _ principal: String) -> Use? {
        entries.withLock { entries in
            guard var entry = entries[key], !entry.window.hasEnded, let known = entry.principals[principal] else {
                return nil
            }
            entry.lastRequest = now()
            entry.principals[principal] = (known.watcher, now())
            entries[key] = entry
            return Use(window: entry.window, watcher: known.watcher)
        }
    }

    private func leave(_ key: Key, _ principal: String, _ watcher: LiveWatchers.Watcher?) {
        // The place that the entry held is given back outside of the lock.
        _ = entries.withLock { entries in
            entries[key]?.principals[principal]?.watcher === watcher
                ? entries[key]?.principals.removeValue(forKey: principal) : nil
        }
    }

    private func forget(_ key: Key, _ window: LiveWindow) {
        _ = entries.withLock { entries in
            entries[key]?.window === window ? entries.removeValue(forKey: key) : nil
        }
    }

    /// Gives back the places of principals that have asked for nothing for a while, and ends a window that nobody asks for.
    func endUnused(_ key: Key, _ window: LiveWindow) {
        let (isUnused, gone) = entries.withLock { entries -> (Bool, [LiveWatchers.Watcher]) in
            guard var entry = entries[key], entry.window === window else { return (true, []) }
            let moment = now()
            let late = entry.principals.filter { moment - $0.value.at > Self.lease }
            for name in late.keys { entry.principals[name] = nil }
            entries[key] = entry
            return (entry.principals.isEmpty && moment - entry.lastRequest > Self.lease, late.values.map(\.watcher))
        }
        withExtendedLifetime(gone) {}
        if isUnused { window.subscription.end() }
    }
}
