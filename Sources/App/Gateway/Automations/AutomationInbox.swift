import Automation
import AutomationGraph
import DatagramPort
import HomeHub
import HomeTypes
import Transport

/// What waits for the engine of automations: what the hub reports, and what became of commands. The hub adds to it between
/// two changes, so adding costs little and never waits.
final class AutomationInbox: HomeObserver {
    /// One thing that waits.
    enum Item: Sendable {
        case home(HomeObservation)
        case outcome(CommandRequest, Automation.CommandOutcome)
    }

    /// What the engine takes at once.
    struct Batch: Sendable {
        var items: [Item] = []
        var missed = Missed()
    }

    /// The devices and structures whose changes were dropped. Their present state has to be read.
    struct Missed: Sendable, Hashable {
        var devices: Set<String> = []
        /// Whether changes of structures were dropped: of who is at home, for example.
        var structures = false

        var isEmpty: Bool { devices.isEmpty && !structures }
    }

    private struct State {
        var batch = Batch()
        /// The bytes of the reports that wait, more or less.
        var bytes = 0
        /// When the oldest of them came.
        var oldest: Instant?
        /// How many automations name each device.
        var watched: [String: Int] = [:]
        var dropped: UInt64 = 0
        /// Devices that the service waits for at its start.
        var awaited: Awaited?
    }

    /// Devices that something waits for.
    private struct Awaited {
        let devices: Set<String>
        /// Those that are offline or not in the home.
        var missing: Set<String>
        let pause: EndablePause

        /// Ends the pause if nothing is missing any more.
        mutating func take(_ observation: HomeObservation) {
            guard let id = observation.deviceID, devices.contains(id) else { return }
            switch observation {
            case .device(let device) where device.connectivityState != .offline: missing.remove(id)
            case .device, .deviceRemoved: missing.insert(id)
            case .event, .structure, .structureRemoved: return
            }
            if missing.isEmpty { pause.end() }
        }
    }

    /// How many bytes of reports of the home wait at most. A device that changes a thousand times a second fills no memory.
    static let capacity = 16 * 1_048_576
    /// How long the oldest report may have waited. What is later than that starts nothing that people would understand.
    static let longestWait = Duration.seconds(60)

    private let state = Locked(State())
    private let signal: AsyncStream<Void>.Continuation
    /// Yields when something waits.
    let signals: AsyncStream<Void>
    private let now: @Sendable () -> Instant

    init(now: @escaping @Sendable () -> Instant = { MonotonicClock.now }) {
        self.now = now
        (signals, signal) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    }

    func watches(deviceID: String) -> Bool { state.withLock { $0.watched[deviceID] != nil } }

    func take(_ observation: HomeObservation) {
        let (bytes, now) = (observation.bytes, self.now())
        state.withLock { state in
            // This also counts for a report that is dropped.
            state.awaited?.take(observation)
            let isTimely = state.oldest.map { now - $0 < Self.longestWait } ?? true
            guard state.bytes + bytes <= Self.capacity, isTimely else {
                state.dropped += 1
                if let id = observation.deviceID {
                    state.batch.missed.devices.insert(id)
                } else {
                    state.batch.missed.structures = true
                }
                return
            }
            state.batch.items.append(.home(observation))
            state.bytes += bytes
            state.oldest = state.oldest ?? now
        }
        wake()
    }

    /// Takes what became of a command. It is never dropped, because the number of commands on their way is limited.
    func take(_ request: CommandRequest, _ outcome: Automation.CommandOutcome) {
        state.withLock { $0.batch.items.append(.outcome(request, outcome)) }
        wake()
    }

    /// Ends a pause as soon as the hub has reported all of the devices as being in the home and not offline. Only reports from now
    /// on count, and only those of devices that are watched.
    func end(_ pause: EndablePause, whenPresent devices: Set<String>) {
        guard !devices.isEmpty else { return pause.end() }
        state.withLock { $0.awaited = Awaited(devices: devices, missing: devices, pause: pause) }
    }

    /// Ends no pause any more.
    func stopAwaiting() { state.withLock { $0.awaited = nil } }

    /// Lets the engine look.
    func wake() { signal.yield() }

    /// Ends the signals.
    func finish() { signal.finish() }

    /// Takes out what waits.
    func drain() -> Batch {
        state.withLock { state in
            let batch = state.batch
            state.batch = Batch()
            state.bytes = 0
            state.oldest = nil
            return batch
        }
    }

    /// How many reports of the home were dropped.
    var dropped: UInt64 { state.withLock { $0.dropped } }

    /// Watches the devices of a graph.
    /// - Returns: those that nobody watched before.
    func watch(_ devices: Set<String>) -> [String] {
        state.withLock { state in
            var new: [String] = []
            for id in devices {
                if state.watched[id] == nil { new.append(id) }
                state.watched[id, default: 0] += 1
            }
            return new
        }
    }

    /// Watches the devices of a graph no longer.
    func unwatch(_ devices: Set<String>) {
        state.withLock { state in
            for id in devices {
                guard let count = state.watched[id] else { continue }
                state.watched[id] = count > 1 ? count - 1 : nil
            }
        }
    }
}

extension HomeObservation {
    /// The device that it is about; nil for a structure.
    fileprivate var deviceID: String? {
        switch self {
        case .device(let device): device.id
        case .deviceRemoved(let id): id
        case .event(let id, _, _, _, _): id
        case .structure, .structureRemoved: nil
        }
    }

    /// How many bytes it takes, more or less: what a part and a trait with a few attributes take, and the texts of an event.
    fileprivate var bytes: Int {
        switch self {
        case .device(let device): device.endpoints.reduce(512) { $0 + 256 + 512 * $1.traits.all.count }
        case .structure: 2_048
        case .deviceRemoved, .structureRemoved: 128
        case .event(_, _, _, _, let fields): fields.reduce(512) { $0 + 128 + $1.value.bytes }
        }
    }
}

extension JSONObject.Value {
    /// The bytes of its texts, and a few for everything else.
    fileprivate var bytes: Int {
        switch self {
        case .null, .bool, .integer, .large, .number: 16
        case .text(let text): 16 + text.utf8.count
        case .list(let items): items.reduce(16) { $0 + $1.bytes }
        case .object(let members): members.reduce(16) { $0 + 64 + $1.value.bytes }
        }
    }
}

extension Graph {
    /// The devices that it names.
    var devices: Set<String> {
        var result: Set<String> = []
        func visit(_ node: GraphNode) {
            switch node {
            case .attributeStarter(let reader), .stateReader(let reader): add(reader.source)
            case .eventStarter(let starter): add(starter.source)
            case .action(let action): add(action.target)
            default: break
            }
            for child in node.children { visit(child.node) }
        }
        func add(_ trait: GraphTrait) {
            if case .device(let id) = trait.entity { result.insert(id) }
        }
        for node in nodes { visit(node) }
        return result
    }
}
