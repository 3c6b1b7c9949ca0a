import HomeTypes
import Logging

/// Cameras of the config file that were changed or removed over the API, which never writes that file.
extension ConfigurationKeeper {
    /// An entry of the config file that does not count.
    struct ReplacedEntry: Sendable, Equatable {
        /// The key of the camera.
        let id: String
        /// What people call the camera.
        let name: String
        /// What kind of device the camera is.
        let kind: DeviceKind
        /// Whether the camera was removed. Otherwise it was changed, and its settings are among the API's cameras.
        let isRemoved: Bool
        /// Whether the entry is not the one that was there then.
        let hasChangedSince: Bool
    }

    /// The entries of the config file that do not count, in their order there.
    var replacedEntries: [ReplacedEntry] {
        guard file != nil else { return [] }
        let own = Dictionary(stored.cameras.map { ($0.camera.id, $0.camera) }) { first, _ in first }
        return current.cameras.compactMap { camera in
            guard let before = stored.replaced[camera.id] else { return nil }
            let shown = own[camera.id] ?? camera
            return ReplacedEntry(
                id: camera.id, name: shown.name, kind: shown.kind, isRemoved: own[camera.id] == nil,
                hasChangedSince: written(camera).fingerprint != before)
        }
    }

    /// What may surprise about the two files.
    var notes: [ConfigurationNote] {
        guard let file else { return [] }
        let replaced = replacedEntries.map { ConfigurationNote.ignored($0, file: file) }
        let shadowed = Set(current.cameras.map(\.id)).intersection(stored.cameras.map(\.camera.id))
            .subtracting(stored.replaced.keys)
        return replaced + shadowed.sorted().map { ConfigurationNote.inBothFiles(camera: $0) }
            + rulesWithoutCamera.map { ConfigurationNote.rulesWithoutCamera(camera: $0) }
    }

    /// The cameras that the section `recording` has rules for and that do not exist: their names are probably mistyped.
    var rulesWithoutCamera: [String] {
        current.recording?.rulesWithoutCamera(among: Set(entries.map(\.camera.id))) ?? []
    }

    /// Restores a camera's entry in the config file.
    /// - Parameter version: the settings that the client has read; nil for any.
    func restoreFileEntry(of id: String, ifVersion version: String? = nil) async throws(HomeError) {
        await takeTurn()
        defer { endTurn() }
        if version != nil { try entry(of: id).require(version) }
        guard replacedEntries.contains(where: { $0.id == id }) else {
            _ = try entry(of: id)
            throw HomeError.failedPrecondition("the camera \(id) has no entry in the config file that is ignored")
        }
        var changed = stored
        changed.remove(id)
        changed.replaced[id] = nil
        try await store(changed)
    }

    /// The cameras of the API, with the camera of the config file that has this id as one of them.
    func overriding(_ id: String) -> StoredCameras {
        guard stored.replaced[id] == nil, let camera = current.cameras.first(where: { $0.id == id }) else {
            return stored
        }
        let entry = written(camera)
        var changed = stored
        // One that the config file's entry has kept out of force is gone with the change.
        changed.remove(id)
        changed.cameras.append(StoredCamera(camera: camera, entry: entry))
        changed.replaced[id] = entry.fingerprint
        return changed
    }

    /// A camera of the config file as it is written there, with its references to the environment.
    private func written(_ camera: GatewayConfiguration.Camera) -> CameraEntry {
        current.cameraEntries[camera.id] ?? CameraEntry(describing: camera)
    }

    /// Logs each entry that does not count, once for each reading of the files.
    func announceReplacedEntries() {
        let replaced = replacedEntries
        for entry in replaced where !announced.contains(entry) {
            logger.notice(
                "a camera's entry in the config file is ignored",
                metadata: ["camera": "\(entry.id)", "because": "\(entry.reason)"])
        }
        announced = replaced
    }
}
