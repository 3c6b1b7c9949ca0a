import Foundation
import Yams

/// The cameras that were added over the API: the file `cameras.yaml` in the state folder, which only its owner can
/// read.
///
/// They are not in the config file, because that belongs to its author. It may be read-only, kept under version
/// control, or written by another program, and a rewrite would not keep every comment and every anchor. Each camera is
/// therefore in one file: the user changes those in the config file, and the API changes its own.
public struct CameraStore: Sendable {
    static let fileName = "cameras.yaml"
    /// More cameras than this are refused.
    static let maximumCount = 1_000

    private static let head = """
        # Cameras that were added over the API or the web page. The gateway rewrites this file at each such change.
        # You may edit it by hand; an edit is applied at once. Keys: docs/configuration.md, "cameras".

        """

    let directory: StateDirectory

    /// The store of a state folder.
    public init(directory: StateDirectory) {
        self.directory = directory
    }

    /// The file's path.
    public var path: String { directory.file(Self.fileName) }

    /// How many cameras the file holds; nil when there is none.
    /// - Throws: `ConfigurationError` with every problem of it.
    public func check(
        environment: [String: String] = ProcessInfo.processInfo.environment
    ) throws(ConfigurationError) -> Int? {
        try read(environment: environment)?.count
    }

    /// The contents of the file, in its order; nil if there is none.
    func read(environment: [String: String]) throws(ConfigurationError) -> [StoredCamera]? {
        let text: String?
        do {
            text = try directory.readPrivate(Self.fileName)
        } catch {
            throw ConfigurationError(file: path, problems: [.init(line: 0, key: "", reason: error.reason)])
        }
        guard let text else { return nil }
        let configuration = try GatewayConfiguration(
            yaml: text, file: path, directory: directory.path, environment: environment, keys: ["cameras"])
        let nodes = (try? Yams.compose(yaml: text))?["cameras"]?.sequence.map(Array.init) ?? []
        // By the id, which is checked to be unique. An entry that is left out on one side must not shift the other
        // side.
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
                    file: path,
                    problems: [.init(line: 0, key: "cameras", reason: "the entry of \(camera.id) is missing")])
            }
            stored.append(StoredCamera(camera: camera, entry: entry))
        }
        return stored
    }

    /// Writes the file again.
    func write(_ cameras: [StoredCamera]) throws(StateDirectory.Failure) {
        let list = Node(cameras.map { $0.entry.node(id: $0.camera.id) })
        let text: String
        do {
            text = try Yams.serialize(node: Node([(Node("cameras"), list)]), allowUnicode: true)
        } catch {
            throw StateDirectory.Failure(path: path, reason: "cannot be written as YAML: \(error)")
        }
        try directory.writePrivate(Self.fileName, Self.head + text)
    }
}

/// A camera of the API with the entry that describes it.
struct StoredCamera: Sendable, Equatable {
    var camera: GatewayConfiguration.Camera
    var entry: CameraEntry
}
