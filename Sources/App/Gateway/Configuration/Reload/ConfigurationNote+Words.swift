extension ConfigurationNote: CustomStringConvertible {
    /// The note as people read it.
    var description: String {
        switch self {
        case .ignored(let entry, let file):
            "camera \(entry.id): its entry in the config file \(file) is ignored, because \(entry.reason)"
        case .inBothFiles(let camera):
            "camera \(camera) is in both the config file and \(CameraStore.fileName); the config file's entry is used"
        case .rulesWithoutCamera(let camera):
            "recording.cameras has rules for \(camera), but no camera has this id"
        }
    }
}

extension ConfigurationKeeper.ReplacedEntry {
    /// Why the entry does not count.
    var reason: String {
        let what = isRemoved ? "removed" : "changed"
        return "the camera was \(what) on the page or over the API"
            + (hasChangedSince ? "; the entry in the config file has changed since then" : "")
    }
}
