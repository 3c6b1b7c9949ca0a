import CloudToCloud
import DatagramPort
import Foundation
import HomeHub
import HomeTypes
import Logging
import Transport

/// Reports the changes of the home to the cloud, for one linked account and within its grants.
actor AccountReporter {
    /// How long it waits until it follows the home again, after its stream of changes has ended.
    static let pause = Duration.seconds(1)

    private let id: String
    private let hub: HomeHub
    private let registry: TokenRegistry
    private let client: ReportClient
    private let logger: Logger
    private var queue = CloudReportQueue()
    /// What was reported to the cloud in SYNC: the entries without their states, by id; nil until the home was read.
    private var entries: [String: JSONValue]?
    private var isSending = false
    private var timer: Task<Void, Never>?
    private var follower: Task<Void, Never>?
    private var isEnded = false

    /// - Parameter id: the token's record, which names the account for the cloud.
    init(_ id: String, hub: HomeHub, registry: TokenRegistry, client: ReportClient, logger: Logger) {
        self.id = id
        self.hub = hub
        self.registry = registry
        self.client = client
        self.logger = logger
    }

    /// How many messages were accepted, refused and failed, and how many states found no room.
    var counts: ReportCounts {
        ReportCounts(
            accepted: queue.accepted, refused: queue.refused, failed: queue.failed, overflowed: queue.overflowed)
    }

    /// Begins to follow the home.
    func begin() {
        guard follower == nil, !isEnded else { return }
        follower = Task { [weak self] in
            while !Task.isCancelled {
                guard await self?.follow() == true else { return }
                try? await Task.sleep(for: Self.pause)
            }
        }
    }

    /// Ends at once, with the message that is on its way. The account is no longer linked.
    func end() {
        isEnded = true
        follower?.cancel()
        timer?.cancel()
    }

    /// The cloud has asked for all devices, so it wants all states (Cloud-to-cloud, "Report state").
    func synced() async {
        guard !isEnded, let record = try? registry.token(id).record else { return }
        queue.forget()
        await look(record.access, isSynced: true)
    }

    /// Follows the home until the stream of changes ends: the account's grants have changed, or it is no longer linked.
    /// - Returns: whether to come back.
    private func follow() async -> Bool {
        guard !isEnded, let record = try? registry.token(id).record else { return false }
        let events: HomeEvents
        do throws(HomeError) {
            events = try await hub.changes(principal: record.name, access: record.access)
        } catch {
            logger.warning(
                "changes are not reported to the cloud yet",
                metadata: ["account": "\(record.name)", "reason": "\(error.message)"])
            return true
        }
        // What ended the streams of an account that has just lost rights did not know of this one.
        guard (try? registry.token(id).record.access) == record.access else { return true }
        await look(record.access, isSynced: false)
        for await event in events {
            guard !isEnded, !Task.isCancelled else { return false }
            switch event.change {
            case .device(let device), .deviceAdded(let device):
                take(device, rooms: await hub.rooms(for: record.access))
            case .deviceRemoved, .room, .roomRemoved, .missed: await look(record.access, isSynced: false)
            default: break
            }
        }
        return !isEnded
    }

    /// Looks at all devices of the account.
    private func look(_ access: Access, isSynced: Bool) async {
        let rooms = await hub.rooms(for: access)
        let endpoints = await hub.devices(for: access).flatMap { CloudEndpoint.all(of: $0, in: rooms) }
        let now = MonotonicClock.now
        var found: [String: JSONValue] = [:]
        for endpoint in endpoints {
            found[endpoint.id] = endpoint.cloudDevice(willReportState: true)
            queue.record(endpoint.cloudStates(), of: endpoint.id, at: now)
        }
        queue.keep(only: Set(found.keys))
        // After a start nobody knows what the cloud has. It asks once more than it may have to.
        if !isSynced, found != entries { queue.recordDevices(at: now) }
        entries = found
        schedule()
    }

    /// Takes the new state of one device.
    private func take(_ device: DeviceSnapshot, rooms: [RoomSnapshot]) {
        let now = MonotonicClock.now
        let endpoints = CloudEndpoint.all(of: device, in: rooms)
        for endpoint in endpoints {
            let entry = endpoint.cloudDevice(willReportState: true)
            if entries?[endpoint.id] != entry {
                entries?[endpoint.id] = entry
                queue.recordDevices(at: now)
            }
            queue.record(endpoint.cloudStates(), of: endpoint.id, at: now)
        }
        let present = Set(endpoints.map(\.id))
        let gone = (entries ?? [:]).keys.filter { id in
            !present.contains(id) && (id == device.id || CloudEndpoint.deviceID(ofPart: id) == device.id)
        }
        if !gone.isEmpty {
            for id in gone { entries?[id] = nil }
            queue.keep(only: Set((entries ?? [:]).keys))
            queue.recordDevices(at: now)
        }
        schedule()
    }

    /// Wakes the sender when the next message is due.
    private func schedule() {
        guard !isSending, !isEnded, let deadline = queue.deadline else { return }
        timer?.cancel()
        timer = Task { [weak self] in
            try? await Task.sleep(for: max(deadline - MonotonicClock.now, .zero))
            guard !Task.isCancelled else { return }
            await self?.send()
        }
    }

    private func send() async {
        guard !isSending, !isEnded else { return }
        isSending = true
        while !isEnded, let message = queue.next(at: MonotonicClock.now) {
            let delivery = await client.send(message, user: id)
            queue.finish(delivery.outcome, at: MonotonicClock.now, jitter: Double.random(in: 0...1))
            if let problem = delivery.problem, !isEnded {
                logger.warning("a report to the cloud failed", metadata: ["reason": "\(problem)"])
            }
        }
        isSending = false
        if queue.isIncomplete, queue.deadline == nil, let record = try? registry.token(id).record {
            queue.forget()
            await look(record.access, isSynced: true)
        }
        schedule()
    }
}

/// What became of the reports of all accounts.
struct ReportCounts: Sendable, Equatable {
    var accepted: UInt64 = 0
    var refused: UInt64 = 0
    var failed: UInt64 = 0
    var overflowed: UInt64 = 0

    /// Adds the counts of another account.
    mutating func add(_ other: ReportCounts) {
        accepted &+= other.accepted
        refused &+= other.refused
        failed &+= other.failed
        overflowed &+= other.overflowed
    }
}
