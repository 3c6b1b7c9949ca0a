import Foundation
import HomeHub
import HomeTypes
import SmartDeviceManagement

/// The subscriptions to events in the form of Pub/Sub. One begins with its first pull, and ends when nobody has pulled for
/// an hour. It takes a watcher's place of its principal.
actor EventFeeds {
    /// How long a subscription lasts without a pull, in seconds.
    static let idleSeconds = 3_600.0
    /// How long a pull waits for a message, in seconds.
    static let waitSeconds = 20.0

    private struct Key: Hashable {
        let principal: String
        let name: String
    }

    private struct Feed {
        var subscription = SDMSubscription()
        var pulledAt: Date
        var task: Task<Void, Never>?
        /// Pulls that wait for a message.
        var waiting: [CheckedContinuation<Void, Never>] = []
    }

    private let hub: HomeHub
    private var feeds: [Key: Feed] = [:]

    init(_ hub: HomeHub) {
        self.hub = hub
    }

    /// The messages that wait. Without one, the pull waits for a while, unless it should not.
    func pull(
        _ name: String, upTo count: Int, waits: Bool, project: String, for authorization: Authorization
    ) async throws -> [SDMSubscription.Message] {
        let key = Key(principal: authorization.principal, name: name)
        endIdle(at: Date())
        if feeds[key] == nil { try await begin(key, project: project, access: authorization.access) }
        feeds[key]?.pulledAt = Date()
        if let messages = feeds[key]?.subscription.pull(upTo: count, at: Date()), !messages.isEmpty || !waits {
            return messages
        }
        await withCheckedContinuation { continuation in
            guard feeds[key] != nil else { return continuation.resume() }
            feeds[key]?.waiting.append(continuation)
            Task {
                // The pull ends without messages then, as Pub/Sub's does.
                try? await Task.sleep(for: .seconds(Self.waitSeconds))
                wake(key)
            }
        }
        return feeds[key]?.subscription.pull(upTo: count, at: Date()) ?? []
    }

    /// Forgets messages.
    func acknowledge(_ acknowledgements: [String], of name: String, for principal: String) {
        feeds[Key(principal: principal, name: name)]?.subscription.acknowledge(acknowledgements)
    }

    private func begin(_ key: Key, project: String, access: Access) async throws {
        let events = try await hub.changes(principal: key.principal, access: access)
        guard feeds[key] == nil else { return }
        var feed = Feed(pulledAt: Date())
        feed.task = Task { [weak self] in
            for await event in events {
                // The present state comes first, without a cursor except for its last part. A feed reports changes.
                guard !event.id.isEmpty, let self else { continue }
                await self.take(event, key, project)
            }
            await self?.end(key)
        }
        feeds[key] = feed
    }

    private func take(_ event: HomeEvent, _ key: Key, _ project: String) {
        let now = Date()
        guard let message = SDMEvent(event, project: project, user: key.principal, now: now) else { return }
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        // Only a number that is not finite has no JSON, and a message holds none.
        guard let data = try? encoder.encode(message) else { return }
        feeds[key]?.subscription.add(data, at: now)
        wake(key)
    }

    private func wake(_ key: Key) {
        let waiting = feeds[key]?.waiting ?? []
        feeds[key]?.waiting = []
        for continuation in waiting { continuation.resume() }
    }

    private func end(_ key: Key) {
        wake(key)
        feeds.removeValue(forKey: key)?.task?.cancel()
    }

    private func endIdle(at now: Date) {
        for (key, feed) in feeds where now.timeIntervalSince(feed.pulledAt) > Self.idleSeconds { end(key) }
    }
}
