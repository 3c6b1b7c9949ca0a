import HomeHub
import HomeTypes
import Transport

/// Notices when devices and structures become other than automations were validated for. Changes of state, of which there
/// are many, cost a comparison of names.
final class HomeShapes: Sendable {
    /// What validation asks of a device or structure, besides values.
    private enum Shape: Hashable {
        case device(structureID: String?, types: [[String]], traits: [[String]], sendsDetections: Bool)
        case structure(hasCoordinates: Bool)
    }

    private struct State {
        var shapes: [String: Shape] = [:]
        /// The devices that automations name, or have named.
        var watched: Set<String> = []
        /// The devices that have been offline for long.
        var absent: Set<String> = []
        /// The devices and structures that have changed since somebody asked.
        var changed: Set<String> = []
        /// The structures that were deleted since somebody asked.
        var removedStructures: Set<String> = []
    }

    private let state = Locked(State())
    private let continuation: AsyncStream<Void>.Continuation
    /// Yields after something has changed, once for any number of changes.
    let signals: AsyncStream<Void>

    init() {
        (signals, continuation) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
    }

    /// Adds devices and structures that an automation names.
    func watch(_ entities: Set<String>) { state.withLock { $0.watched.formUnion(entities) } }

    /// Whether an automation names a device.
    func isWatched(_ device: String) -> Bool { state.withLock { $0.watched.contains(device) } }

    /// What has changed since the last call.
    func takeChanged() -> Set<String> {
        state.withLock { state in
            defer { state.changed = [] }
            return state.changed
        }
    }

    /// The structures that were deleted since the last call.
    func takeRemovedStructures() -> Set<String> {
        state.withLock { state in
            defer { state.removedStructures = [] }
            return state.removedStructures
        }
    }

    /// Sets the devices that have been offline for long. One that is no longer offline is treated as changed.
    func watchReturn(of absent: Set<String>) { state.withLock { $0.absent = absent } }

    private func record(_ id: String, _ shape: Shape?, isOffline: Bool = false) {
        let isNew = state.withLock { state in
            let isBack = !isOffline && state.absent.remove(id) != nil
            guard state.shapes[id] != shape || isBack else { return false }
            state.shapes[id] = shape
            return state.changed.insert(id).inserted
        }
        if isNew { continuation.yield() }
    }

    func record(_ device: DeviceSnapshot) {
        record(
            device.id,
            .device(
                structureID: device.structureID, types: device.endpoints.map(\.types),
                traits: device.endpoints.map { $0.traits.names }, sendsDetections: device.activeDetections != nil),
            isOffline: device.connectivityState == .offline)
    }

    func record(_ structure: StructureSnapshot) {
        record(structure.id, .structure(hasCoordinates: structure.latitude != nil && structure.longitude != nil))
    }

    func recordRemoval(of id: String) { record(id, nil) }

    func recordRemoval(ofStructure id: String) {
        state.withLock { _ = $0.removedStructures.insert(id) }
        record(id, nil)
        continuation.yield()
    }
}
