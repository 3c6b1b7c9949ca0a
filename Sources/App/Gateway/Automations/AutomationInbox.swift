import Automation
import AutomationGraph
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
        /// Devices of which changes were dropped. Their present state has to be read.
        var missed: Set<String> = []
    }

    private struct State {
        var batch = Batch()
        /// How many automations name each device.
        var watched: [String: Int] = [:]
        var dropped: UInt64 = 0
    }

    /// How many reports of the home wait at most. A device that changes a thousand times a second fills no memory.
    static let capacity = 10_000

    private let state = Locked(State())
    private let signal: AsyncStream<Void>.Continuation
    /// Yields when something waits.
    let signals: AsyncStream<Void>

    init() {
        (signals, signal) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    }

    func watches(deviceID: String) -> Bool { state.withLock { $0.watched[deviceID] != nil } }

    func take(_ observation: HomeObservation) {
        state.withLock { state in
            guard state.batch.items.count >= Self.capacity else { return state.batch.items.append(.home(observation)) }
            state.dropped += 1
            if let id = observation.deviceID { state.batch.missed.insert(id) }
        }
        wake()
    }

    /// Takes what became of a command. It is never dropped, because the number of commands on their way is limited.
    func take(_ request: CommandRequest, _ outcome: Automation.CommandOutcome) {
        state.withLock { $0.batch.items.append(.outcome(request, outcome)) }
        wake()
    }

    /// Lets the engine look.
    func wake() { signal.yield() }

    /// Ends the signals.
    func finish() { signal.finish() }

    /// Takes out what waits.
    func drain() -> Batch {
        state.withLock { state in
            let batch = state.batch
            state.batch = Batch()
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
