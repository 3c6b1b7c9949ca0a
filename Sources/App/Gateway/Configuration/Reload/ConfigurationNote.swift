/// What may surprise about the config file and the cameras of the API.
enum ConfigurationNote: Sendable, Equatable {
    /// An entry of the config file at this path does not count.
    case ignored(ConfigurationKeeper.ReplacedEntry, file: String)
    /// A camera with this key is in both files. The config file's entry is used.
    case inBothFiles(camera: String)
    /// The section `recording` has rules for this camera, and there is none.
    case rulesWithoutCamera(camera: String)
}
