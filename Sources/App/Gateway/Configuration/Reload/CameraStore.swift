import Foundation
import Yams

/// The cameras that were added or changed over the API: the file `cameras.yaml` in the state folder, which only its
/// owner can read.
///
/// They are not in the config file, because that belongs to its author. It may be read-only, kept under version
/// control, or written by another program, and a rewrite would not keep every comment and every anchor. A camera of the
/// config file that is changed over the API is copied into this file, which from then on counts for it.
public struct CameraStore: Sendable {
    static let fileName = "cameras.yaml"
    /// The key of ``StoredCameras/replaced``. A file without such cameras can be read by gateways that do not know it.
    static let replacedKey = "replaced"
    /// More cameras than this are refused.
    static let maximumCount = 1_000

    private static let head = """
        # Cameras that were added or changed over the API or the web page. The gateway rewrites this file at each such
        # change. You may edit it by hand; an edit is applied at once.
        # The document configuration.md explains the keys under "cameras".

        """

    let directory: StateDirectory

    /// The store of a state folder.
    public init(directory: StateDirectory) {
        self.directory = directory
    }

    /// The file's path.
    public var path: String { directory.file(Self.fileName) }

    /// The contents of the file, in its order; nil if there is none.
    /// - Throws: `ConfigurationError` with every problem of it.
    func read(environment: [String: String]) throws(ConfigurationError) -> StoredCameras? {
        let text: String?
        do {
            text = try directory.readPrivate(Self.fileName)
        } catch {
            throw ConfigurationError(file: path, problems: [.init(line: 0, key: "", reason: error.reason)])
        }
        guard let text else { return nil }
        let configuration = try GatewayConfiguration(
            yaml: text, file: path, directory: directory.path, environment: environment,
            keys: ["cameras", Self.replacedKey])
        var stored = StoredCameras(replaced: try replaced(in: text))
        for camera in configuration.cameras {
            guard let entry = configuration.cameraEntries[camera.id] else {
                throw ConfigurationError(
                    file: path,
                    problems: [.init(line: 0, key: "cameras", reason: "the entry of \(camera.id) is missing")])
            }
            stored.cameras.append(StoredCamera(camera: camera, entry: entry))
        }
        return stored
    }

    /// The cameras of the config file whose entries do not count.
    private func replaced(in text: String) throws(ConfigurationError) -> [String: String] {
        let root = (try? Yams.compose(yaml: text)) ?? nil
        guard let node = root?[Self.replacedKey], node.null == nil else { return [:] }
        var replaced: [String: String] = [:]
        var isReadable = node.mapping != nil
        for (key, value) in node.mapping ?? [:] {
            guard let id = key.scalar?.string, ConfigurationLoader.isIdentifier(id), let entry = value.scalar?.string
            else {
                isReadable = false
                continue
            }
            replaced[id] = entry
        }
        guard isReadable else {
            let problem = ConfigurationError.Problem(
                line: node.mark?.line ?? 0, key: Self.replacedKey,
                reason: "expected ids of cameras of the config file, each with the value that the gateway wrote")
            throw ConfigurationError(file: path, problems: [problem])
        }
        return replaced
    }

    /// Writes the file again.
    func write(_ stored: StoredCameras) throws(StateDirectory.Failure) {
        let list = Node(stored.cameras.map { $0.entry.node(id: $0.camera.id) })
        var pairs = [(Node("cameras"), list)]
        if !stored.replaced.isEmpty {
            let replaced = stored.replaced.sorted { $0.key < $1.key }
                .map { (Node($0.key, Tag(.str), .doubleQuoted), Node($0.value, Tag(.str), .doubleQuoted)) }
            pairs.append((Node(Self.replacedKey), Node(replaced)))
        }
        let text: String
        do {
            text = try Yams.serialize(node: Node(pairs), allowUnicode: true)
        } catch {
            throw StateDirectory.Failure(path: path, reason: "cannot be written as YAML: \(error)")
        }
        try directory.writePrivate(Self.fileName, Self.head + text)
    }
}

/// What the file of the API's cameras holds.
struct StoredCameras: Sendable, Equatable {
    /// The cameras, in the file's order.
    var cameras: [StoredCamera] = []
    /// The cameras of the config file whose entries there do not count, by their ids, each with the fingerprint
    /// (``CameraEntry/fingerprint``) of the entry as it was then. One that is not among ``cameras`` was removed. An entry that
    /// the config file lacks stays here: it may only be missing while somebody edits the file.
    var replaced: [String: String] = [:]

    /// Removes the camera with this id, if there is one.
    mutating func remove(_ id: String) { cameras.removeAll { $0.camera.id == id } }
}

/// A camera of the API with the entry that describes it.
struct StoredCamera: Sendable, Equatable {
    var camera: GatewayConfiguration.Camera
    var entry: CameraEntry
}
