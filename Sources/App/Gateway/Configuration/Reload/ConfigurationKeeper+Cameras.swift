import Foundation
import HomeTypes

/// The commands of the API on single cameras.
extension ConfigurationKeeper {
    /// The camera with this `id`, and where it is written.
    func entry(of id: String) throws(HomeError) -> Entry {
        guard let entry = entries.first(where: { $0.camera.id == id }) else {
            throw HomeError.notFound("no camera has the id \(id.prefix(64).debugDescription)")
                .advising(request: "GET /v1/cameras lists them", command: "gatehouse devices lists them")
        }
        return entry
    }

    /// Adds a camera, or replaces the one with this id.
    /// - Parameter version: the settings that the client has read; nil for any.
    /// - Returns: the camera, and whether it is new.
    func put(
        _ entry: CameraEntry, id: String, ifVersion version: String? = nil
    ) async throws(HomeError) -> (entry: Entry, isNew: Bool) {
        await takeTurn()
        defer { endTurn() }
        if version != nil { try self.entry(of: id).require(version) }
        var stored = changeable(id)
        let index = stored.cameras.firstIndex { $0.camera.id == id }
        let shown = index.map { stored.cameras[$0] }
        let entry = try entry.restoringSecrets(of: shown?.entry, shownAs: shown?.camera)
        let camera = try checked(entry, id: id)
        // A change of nothing leaves the config file's entry in force.
        guard entry != shown?.entry else { return (try self.entry(of: id), false) }
        let made = StoredCamera(camera: camera, entry: entry)
        if let index {
            stored.cameras[index] = made
        } else {
            stored.cameras.append(made)
        }
        try requireRoom(for: stored)
        try await store(stored)
        return (try self.entry(of: id), index == nil)
    }

    /// Changes some keys of a camera (RFC 7396).
    /// - Parameter version: the settings that the client has read; nil for any.
    func patch(
        _ patch: CameraEntry, id: String, ifVersion version: String? = nil
    ) async throws(HomeError) -> Entry {
        await takeTurn()
        defer { endTurn() }
        try self.entry(of: id).require(version)
        var stored = changeable(id)
        guard let index = stored.cameras.firstIndex(where: { $0.camera.id == id }) else {
            throw HomeError.internal("the camera \(id) is not in \(CameraStore.fileName)")
        }
        let before = stored.cameras[index]
        let restored = try patch.restoringSecrets(of: before.entry, shownAs: before.camera)
        let entry = before.entry.merged(with: restored)
            .droppingForeignPassword(of: before.entry, shownAs: before.camera, patch: restored)
        // A change of nothing leaves the config file's entry in force.
        guard entry != before.entry else { return try self.entry(of: id) }
        stored.cameras[index] = StoredCamera(camera: try checked(entry, id: id), entry: entry)
        try requireRoom(for: stored)
        try await store(stored)
        return try self.entry(of: id)
    }

    /// The address of a camera that somebody wants to try before it is added or changed.
    /// - Parameter settings: the settings; `id` names a camera whose stored password a masked one in `source` stands for.
    func probeAddress(of settings: CameraEntry) throws(HomeError) -> CameraProbeAddress {
        var settings = settings
        var shown: GatewayConfiguration.Camera?
        if case .text(let id)? = settings.values.removeValue(forKey: "id") { shown = try entry(of: id).camera }
        guard case .text(let given)? = settings.values["source"] else {
            throw .invalidArgument("source: expected a text")
        }
        try Self.checkLengths(.text(given), "source")
        let restored = try CameraEntry(values: ["source": .text(given)])
            .restoringSecrets(
                of: shown.map { camera in
                    // What is tried may be the smaller stream, which has a login of its own.
                    var values = ["source": CameraEntry.Value.text(EnvironmentReferences.escaped(camera.sourceText))]
                    if let url = camera.substreamURL {
                        values["substream"] = .text(EnvironmentReferences.escaped(url))
                    }
                    return CameraEntry(values: values)
                }, shownAs: shown)
        guard case .text(let source)? = restored.values["source"] else {
            throw .invalidArgument("source: expected a text")
        }
        hide(CameraAddress(text: source).secrets)
        do {
            return try CameraProbeAddress(source, environment: environment)
        } catch {
            throw .invalidArgument("source: \(error)")
        }
    }

    /// Removes a camera; its sessions end. The entry of a camera of the config file stays there, and does not count.
    /// - Parameter version: the settings that the client has read; nil for any.
    func remove(_ id: String, ifVersion version: String? = nil) async throws(HomeError) {
        await takeTurn()
        defer { endTurn() }
        try entry(of: id).require(version)
        var stored = changeable(id)
        stored.remove(id)
        // A camera that only the API has leaves nothing behind.
        if !current.cameras.contains(where: { $0.id == id }) { stored.replaced[id] = nil }
        try await store(stored)
    }

    /// The cameras of the API before a change of the camera with this `id`, which is among them if there is one. A
    /// camera of the config file has become one of theirs.
    func changeable(_ id: String) -> StoredCameras {
        if file != nil { return overriding(id) }
        // With the first change, the built-in doorbell becomes one of the API's cameras, so that it can be removed.
        guard stored.cameras.isEmpty, entries.contains(where: { $0.origin == .builtin }) else { return stored }
        var changed = stored
        changed.cameras = current.cameras.map { StoredCamera(camera: $0, entry: CameraEntry(describing: $0)) }
        return changed
    }

    /// Fails if a change has made more cameras than there may be.
    private func requireRoom(for changed: StoredCameras) throws(HomeError) {
        guard changed.cameras.count <= max(stored.cameras.count, CameraStore.maximumCount) else {
            throw HomeError.resourceExhausted("there are \(stored.cameras.count) cameras already; remove one first")
        }
    }

    private func checked(_ entry: CameraEntry, id: String) throws(HomeError) -> GatewayConfiguration.Camera {
        guard ConfigurationLoader.isIdentifier(id) else {
            throw HomeError.invalidArgument(
                "id: expected 1 to 64 letters, digits, '.', '_' or '-', starting with a letter or digit")
        }
        guard entry.values["id"] == nil || entry.values["id"] == .text(id) else {
            throw HomeError.invalidArgument(
                "id: the body and the path name different cameras; leave id out of the body")
        }
        for (key, value) in entry.values.sorted(by: { $0.key < $1.key }) { try Self.checkLengths(value, key) }
        do {
            return try GatewayConfiguration.Camera(id: id, checking: entry, environment: environment)
        } catch {
            throw HomeError.invalidArgument(
                error.problems.map { $0.key.isEmpty ? $0.reason : "\($0.key): \($0.reason)" }.joined(separator: "; "))
        }
    }

    private static func checkLengths(_ value: CameraEntry.Value, _ key: String) throws(HomeError) {
        switch value {
        case .text(let text) where text.utf8.count > 2_048:
            throw HomeError.invalidArgument("\(key.prefix(64)): longer than 2048 bytes")
        case .group(let values):
            for (inner, value) in values.sorted(by: { $0.key < $1.key }) {
                try checkLengths(value, "\(key).\(inner)")
            }
        case .text, .flag, .list, .none: break
        }
    }
}
