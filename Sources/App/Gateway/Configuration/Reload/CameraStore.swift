import Foundation
import Yams

/// The cameras that were added over the API: the file `cameras.yaml` of the state folder, which its owner alone can read.
///
/// They do not stand in the config file, because that is its author's: it may be read-only, be kept under version
/// control, or be written by another program, and no rewriting keeps every comment and every anchor. So each camera has
/// one home: those of the config file are changed there, those of the API by the API.
public struct CameraStore: Sendable {
    static let fileName = "cameras.yaml"
    /// More cameras than this are refused.
    static let maximumCount = 1_000

    private static let head = """
        # Cameras that were added over the API or the web page. The gateway writes this file again at each such change;
        # it may be edited by hand, and the edit is applied at once. Keys: docs/configuration.md, "cameras".

        """

    let directory: StateDirectory

    /// The store of a state folder.
    public init(directory: StateDirectory) {
        self.directory = directory
    }

    /// The file's path.
    public var path: String { self.directory.file(Self.fileName) }

    /// How many cameras the file holds; nil when there is none.
    /// - Throws: `ConfigurationError` with all that is wrong with it.
    public func check(
        environment: [String: String] = ProcessInfo.processInfo.environment
    ) throws(ConfigurationError) -> Int? {
        try self.read(environment: environment)?.count
    }

    /// What the file holds, in its order; nil when there is none.
    func read(environment: [String: String]) throws(ConfigurationError) -> [StoredCamera]? {
        let text: String?
        do {
            text = try self.directory.readPrivate(Self.fileName)
        } catch {
            throw ConfigurationError(file: self.path, problems: [.init(line: 0, key: "", reason: error.reason)])
        }
        guard let text else { return nil }
        let configuration = try GatewayConfiguration(
            yaml: text, file: self.path, directory: self.directory.path, environment: environment, keys: ["cameras"])
        let nodes = (try? Yams.compose(yaml: text))?["cameras"]?.sequence.map(Array.init) ?? []
        // By the id, which is checked to stand once: what is left out on one side must not shift the other.
        var entries: [String: CameraEntry] = [:]
        for node in nodes {
            guard let id = node["id"]?.scalar?.string else { continue }
            entries[id] = CameraEntry(node: node)
            entries[id]?.values["id"] = nil
        }
        var stored: [StoredCamera] = []
        for camera in configuration.cameras {
            guard let entry = entries[camera.id] else {
                throw ConfigurationError(
                    file: self.path,
                    problems: [.init(line: 0, key: "cameras", reason: "the entry of \(camera.id) cannot be found")])
            }
            stored.append(StoredCamera(camera: camera, entry: entry))
        }
        return stored
    }

    /// Writes the file anew.
    func write(_ cameras: [StoredCamera]) throws(StateDirectory.Failure) {
        let list = Node(cameras.map { $0.entry.node(id: $0.camera.id) })
        let text: String
        do {
            text = try Yams.serialize(node: Node([(Node("cameras"), list)]), allowUnicode: true)
        } catch {
            throw StateDirectory.Failure(path: self.path, reason: "cannot be written as YAML: \(error)")
        }
        try self.directory.writePrivate(Self.fileName, Self.head + text)
    }
}

/// A camera of the API with the entry that it was made from.
struct StoredCamera: Sendable, Equatable {
    var camera: GatewayConfiguration.Camera
    var entry: CameraEntry
}
