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
    /// How many subscriptions one principal may have, and how many pulls of one may wait.
    static let maximumFeeds = 8
    static let maximumPulls = 16

    private struct Key: Hashable {
        let principal: String
        let name: String
    }

    private struct Feed {
        var subscription = SDMSubscription()
        var pulledAt: Date
        /// What the messages are made with.
        let project: String
        let base: String
        let access: Access
        var clips = SDMClips()
        /// Where each device is.
        var parents: [String: String] = [:]
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
        _ name: String, upTo count: Int, waits: Bool, project: String, base: String, for authorization: Authorization
    ) async throws -> [SDMSubscription.Message] {
        let key = Key(principal: authorization.principal, name: name)
        endIdle(at: Date())
        if feeds[key] == nil {
            guard feeds.keys.count(where: { $0.principal == key.principal }) < Self.maximumFeeds else {
                throw HomeError.resourceExhausted(
                    "there are \(Self.maximumFeeds) subscriptions already; one ends an hour after its last pull")
            }
            try await begin(key, Feed(pulledAt: Date(), project: project, base: base, access: authorization.access))
        }
        feeds[key]?.pulledAt = Date()
        if let messages = feeds[key]?.subscription.pull(upTo: count, at: Date()), !messages.isEmpty || !waits {
            return messages
        }
        guard feeds[key].map({ $0.waiting.count < Self.maximumPulls }) ?? true else {
            throw HomeError.resourceExhausted("\(Self.maximumPulls) pulls of this subscription wait already")
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

    private func begin(_ key: Key, _ new: Feed) async throws {
        let events = try await hub.changes(principal: key.principal, access: new.access)
        guard feeds[key] == nil else { return }
        var feed = new
        feed.task = Task { [weak self] in
            for await event in events {
                await self?.take(event, key)
            }
            await self?.end(key)
        }
        feeds[key] = feed
    }

    private func take(_ event: HomeEvent, _ key: Key) async {
        guard let feed = feeds[key], let change = event.change else { return }
        let now = Date()
        var messages: [SDMEvent] = []
        if case .device(let device) = change {
            let parent = SDMParent(
                of: device, structures: await hub.structures(for: feed.access),
                rooms: await hub.rooms(for: feed.access), project: feed.project)
            let former = feeds[key]?.parents.updateValue(parent?.parent ?? "", forKey: device.id)
            if let former, former != parent?.parent ?? "", SDMDevice(device, project: feed.project) != nil {
                messages.append(
                    SDMEvent(
                        moved: device.id, to: parent, id: "\(event.id)-moved", project: feed.project,
                        user: key.principal, now: now))
            }
        }
        // The present state comes first, without a cursor except for its last part. A feed reports changes.
        guard !event.id.isEmpty else { return }
        if let message = SDMEvent(event, project: feed.project, user: key.principal, now: now) {
            messages.append(message)
        }
        if let clip = feeds[key]?.clips.take(change, id: event.id) {
            messages.append(
                SDMEvent(
                    clip, id: event.id, project: feed.project, user: key.principal, base: feed.base))
        }
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        for message in messages {
            // Only a number that is not finite has no JSON, and a message holds none.
            guard let data = try? encoder.encode(message) else { continue }
            feeds[key]?.subscription.add(data, at: now)
        }
        if !messages.isEmpty { wake(key) }
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
