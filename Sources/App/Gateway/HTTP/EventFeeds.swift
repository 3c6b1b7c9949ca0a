import DatagramPort
import Foundation
import HomeHub
import HomeTypes
import ServiceLifecycle
import SmartDeviceManagement
import Transport

/// The subscriptions to events in the form of Pub/Sub. One begins with its first pull, and ends when nobody has pulled for
/// an hour. It takes a watcher's place of its principal.
///
/// If the home ends the stream that a subscription reads, because the principal's rights have changed or because the reader
/// was too slow, the subscription keeps its messages. The next pull resumes the stream behind the last change that was read.
actor EventFeeds {
    /// How long a subscription lasts without a pull. It is measured by a clock that is never set: the clock of a machine
    /// without a battery leaps ahead after each start.
    static let longestIdle = Duration.seconds(3_600)
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
        var pulledAt: Instant
        /// What the messages are made with.
        var project: String
        var base: String
        var access: Access
        var clips = SDMClips()
        /// Where each device is.
        var parents: [String: String] = [:]
        /// The last change that was read.
        var cursor: String?
        /// The stream of the home that is read or about to be read; nil once it has ended.
        var reading: UInt64?
        var task: Task<Void, Never>?
        /// How often pulls that wait have had a reason to look again.
        let news = Awaitable<UInt64>(0)
        /// How many pulls wait.
        var waiting = 0
    }

    private let hub: HomeHub
    private let patience: Duration
    private let clock: @Sendable () -> Instant
    private var feeds: [Key: Feed] = [:]
    private var nextReading: UInt64 = 0

    /// - Parameters:
    ///   - patience: how long a pull waits for a message.
    ///   - clock: the time that ages of subscriptions are measured by.
    init(
        _ hub: HomeHub, patience: Duration = .seconds(EventFeeds.waitSeconds),
        clock: @escaping @Sendable () -> Instant = { MonotonicClock.now }
    ) {
        self.hub = hub
        self.patience = patience
        self.clock = clock
    }

    /// How many pulls wait for a message.
    var waitCount: Int { feeds.values.reduce(0) { $0 + $1.news.waitCount } }

    /// The messages that wait. Without one, the pull waits for a while, unless it should not.
    func pull(
        _ name: String, upTo count: Int, waits: Bool, project: String, base: String, for authorization: Authorization
    ) async throws -> [SDMSubscription.Message] {
        let key = Key(principal: authorization.principal, name: name)
        let now = clock()
        endIdle(at: now)
        if feeds[key] == nil {
            guard feeds.keys.count(where: { $0.principal == key.principal }) < Self.maximumFeeds else {
                throw HomeError.resourceExhausted(
                    "there are \(Self.maximumFeeds) subscriptions already; one ends an hour after its last pull")
            }
            // It has its place before anything is waited for.
            feeds[key] = Feed(pulledAt: now, project: project, base: base, access: authorization.access)
        }
        feeds[key]?.pulledAt = now
        // Other rights than those of the stream: its end may be on its way.
        if feeds[key]?.reading == nil || feeds[key]?.access != authorization.access {
            try await follow(key, project, base, authorization.access)
        }
        let messages = take(upTo: count, from: key, for: authorization.access)
        if !messages.isEmpty || !waits { return messages }
        guard let feed = feeds[key] else { return [] }
        guard feed.waiting < Self.maximumPulls else {
            throw HomeError.resourceExhausted(
                "\(Self.maximumPulls) pulls of this subscription are already waiting; wait for one of them to end")
        }
        feeds[key]?.waiting += 1
        let (news, patience) = (feed.news, patience)
        let seen = news.withLock { $0 }
        // A pull that waits must not hold the end of the gateway up. Without a message it ends empty, as Pub/Sub's does.
        await cancelWhenGracefulShutdown { _ = await news.wait(atMost: patience) { $0 != seen } }
        // Another subscription with this name may have begun meanwhile.
        guard feeds[key]?.news === news else { return [] }
        feeds[key]?.waiting -= 1
        // The rights may have changed meanwhile, which the next pull looks at.
        guard feeds[key]?.reading != nil else { return [] }
        return take(upTo: count, from: key, for: authorization.access)
    }

    /// Takes messages for a pull. What the principal may not read any more is not delivered, even though it happened
    /// before: it may have lost rights, or the device may be elsewhere now.
    private func take(upTo count: Int, from key: Key, for access: Access) -> [SDMSubscription.Message] {
        feeds[key]?.subscription.removeMessages { !access.permits(.read, hub.directory.device($0)) }
        return feeds[key]?.subscription.pull(upTo: count, at: clock() - Instant.zero) ?? []
    }

    /// Forgets messages.
    func acknowledge(_ acknowledgements: [String], of name: String, for principal: String) {
        feeds[Key(principal: principal, name: name)]?.subscription.acknowledge(acknowledgements)
    }

    /// Reads the changes of the home, from where the subscription stopped.
    private func follow(_ key: Key, _ project: String, _ base: String, _ access: Access) async throws {
        let number = nextReading
        nextReading &+= 1
        feeds[key]?.task?.cancel()
        feeds[key]?.task = nil
        feeds[key]?.reading = number
        feeds[key]?.project = project
        feeds[key]?.base = base
        feeds[key]?.access = access
        let events: HomeEvents
        do {
            // An app must not lose messages when its rights change. It reads the home's state elsewhere, and has to find the ids
            // of the messages there.
            events = try await hub.changes(
                principal: key.principal, access: access, after: feeds[key]?.cursor, keepsState: false)
        } catch {
            // A subscription that has read nothing has nothing to keep.
            if feeds[key]?.cursor == nil { end(key) } else { stopped(number, key) }
            throw error
        }
        guard feeds[key]?.reading == number else { return }
        feeds[key]?.task = Task { [weak self] in
            for await event in events {
                await self?.take(event, key, number)
            }
            await self?.stopped(number, key)
        }
    }

    /// The stream has ended. The messages stay.
    private func stopped(_ number: UInt64, _ key: Key) {
        guard feeds[key]?.reading == number else { return }
        feeds[key]?.reading = nil
        feeds[key]?.task = nil
        // Pulls that wait come back, and the next one resumes.
        wake(key)
    }

    private func take(_ event: HomeEvent, _ key: Key, _ number: UInt64) async {
        guard let feed = feeds[key], feed.reading == number else { return }
        guard clock() - feed.pulledAt <= Self.longestIdle else { return end(key) }
        let now = Date()
        defer { if !event.id.isEmpty, feeds[key]?.reading == number { feeds[key]?.cursor = event.id } }
        guard let change = event.change else { return }
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
            guard let data = try? encoder.encode(message), feeds[key]?.reading == number else { continue }
            feeds[key]?.subscription.add(data, about: change.deviceID, at: now)
        }
        if !messages.isEmpty { wake(key) }
    }

    private func wake(_ key: Key) {
        feeds[key]?.news.withLock { $0 &+= 1 }
    }

    private func end(_ key: Key) {
        wake(key)
        feeds.removeValue(forKey: key)?.task?.cancel()
    }

    private func endIdle(at now: Instant) {
        for (key, feed) in feeds where now - feed.pulledAt > Self.longestIdle { end(key) }
    }
}
