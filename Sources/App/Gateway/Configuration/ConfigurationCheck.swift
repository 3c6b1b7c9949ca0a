import Foundation
import Yams

/// What is found when the config and the cameras that were added or changed over the API are checked, without a gateway.
public struct ConfigurationCheck: Sendable {
    /// What there is to say about the files without problems, in the order of the files.
    public private(set) var remarks: [String] = []
    /// The problems of the other files, in the order of the files.
    public private(set) var problems: [ConfigurationError] = []

    /// Checks the files. Problems of the config do not hide those of the cameras.
    /// - Parameter file: the config; nil for the built-in one.
    public init(file: String?, environment: [String: String] = ProcessInfo.processInfo.environment) {
        let standard = StateDirectory.standard(environment: environment)
        var directory: StateDirectory? = standard
        var valid: GatewayConfiguration?
        do throws(ConfigurationError) {
            var configuration = GatewayConfiguration.demonstration
            if let file { configuration = try GatewayConfiguration(contentsOfFile: file, environment: environment) }
            if let path = configuration.stateDirectory { directory = StateDirectory(path: path) }
            valid = configuration
            let cameras = Self.cameras(configuration.cameras.count)
            remarks.append("\(file ?? "the built-in config") is valid: \(cameras)")
        } catch {
            problems.append(error)
            directory = file.flatMap { Self.stateDirectory(ofFile: $0, standard: standard) }
        }
        guard let directory else { return }
        let store = CameraStore(directory: directory)
        do throws(ConfigurationError) {
            let stored = try store.read(environment: environment)?.cameras
            if let stored {
                remarks.append("\(store.path) is valid: \(Self.cameras(stored.count)) added or changed over the API")
            }
            guard let file, let valid, let recording = valid.recording else { return }
            let ids = Set(valid.cameras.map(\.id) + (stored ?? []).map(\.camera.id))
            for camera in recording.rulesWithoutCamera(among: ids) {
                remarks.append("\(file): \(ConfigurationNote.rulesWithoutCamera(camera: camera))")
            }
        } catch {
            problems.append(error)
        }
    }

    private static func cameras(_ count: Int) -> String { "\(count) \(count == 1 ? "camera" : "cameras")" }

    /// The state folder of a config that has problems elsewhere.
    /// - Parameter standard: the folder for a config that names none.
    /// - Returns: nil where nobody can say which folder is meant. The cameras of another one must not be reported.
    private static func stateDirectory(ofFile path: String, standard: StateDirectory) -> StateDirectory? {
        guard let bytes = try? RegularFile.read(path, limit: GatewayConfiguration.maximumFileSize),
            let text = String(validating: bytes, as: UTF8.self), let root = (try? Yams.compose(yaml: text)) ?? nil,
            root.mapping != nil
        else { return nil }
        let reader = YAMLReader()
        let key = "stateDirectory"
        let named = reader.string(root[key].map { YAMLReader.Place(node: $0, path: key) })
        guard reader.problems.isEmpty else { return nil }
        guard let named else { return standard }
        let folder = URL(fileURLWithPath: path).deletingLastPathComponent().path
        let loader = ConfigurationLoader(reader: reader, directory: folder, environment: [:])
        return StateDirectory(path: loader.path(named))
    }
}
