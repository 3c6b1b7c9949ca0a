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
        var stored = try changeable(id)
        let index = stored.firstIndex { $0.camera.id == id }
        let shown = index.map { stored[$0] }
        let entry = try entry.restoringSecrets(of: shown?.entry, shownAs: shown?.camera)
        let camera = try checked(entry, id: id)
        let made = StoredCamera(camera: camera, entry: entry)
        if let index {
            stored[index] = made
        } else {
            guard stored.count < CameraStore.maximumCount else {
                throw HomeError.resourceExhausted("there are \(stored.count) cameras already; remove one first")
            }
            stored.append(made)
        }
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
        var stored = try changeable(id)
        guard let index = stored.firstIndex(where: { $0.camera.id == id }) else {
            throw HomeError.internal("the camera \(id) is not in \(CameraStore.fileName)")
        }
        let before = stored[index]
        let restored = try patch.restoringSecrets(of: before.entry, shownAs: before.camera)
        let entry = before.entry.merged(with: restored)
            .droppingForeignPassword(of: before.entry, shownAs: before.camera, patch: restored)
        stored[index] = StoredCamera(camera: try checked(entry, id: id), entry: entry)
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
                of: shown.map {
                    CameraEntry(values: ["source": .text(EnvironmentReferences.escaped($0.sourceText))])
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

    /// Removes a camera; its sessions end.
    /// - Parameter version: the settings that the client has read; nil for any.
    func remove(_ id: String, ifVersion version: String? = nil) async throws(HomeError) {
        await takeTurn()
        defer { endTurn() }
        try entry(of: id).require(version)
        try await store(try changeable(id).filter { $0.camera.id != id })
    }

    /// The cameras of the API, if the camera with this `id` may be changed there.
    func changeable(_ id: String) throws(HomeError) -> [StoredCamera] {
        if let file, current.cameras.contains(where: { $0.id == id }) {
            throw HomeError.failedPrecondition(
                "the camera \(id) is defined in the config file \(file); change it there, which takes effect at once")
        }
        // With the first change, the built-in doorbell becomes one of the API's cameras, so that it can be removed.
        guard stored.isEmpty, entries.contains(where: { $0.origin == .builtin }) else { return stored }
        return current.cameras.map { camera in
            StoredCamera(
                camera: camera,
                entry: CameraEntry(values: [
                    "name": .text(camera.name), "source": .text(camera.sourceText),
                    "type": .text(camera.kind == .doorbell ? "doorbell" : "camera"),
                ]))
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
