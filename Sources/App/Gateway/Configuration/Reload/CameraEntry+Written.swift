import HomeTypes
import Yams

/// Entries as a file has them.
extension CameraEntry {
    /// The cameras of a list of a file, by their ids. References to the environment stay as they are written.
    static func written(in list: Node?) -> [String: CameraEntry] {
        guard let sequence = list?.sequence else { return [:] }
        // By the id, which the loader checks to be unique.
        var entries: [String: CameraEntry] = [:]
        for node in sequence {
            guard let id = node["id"]?.scalar?.string else { continue }
            var entry = CameraEntry(node: node)
            entry.values["id"] = nil
            entries[id] = entry
        }
        return entries
    }

    /// A camera that no file has. It has its name, its kind and its source, as the built-in doorbell does.
    init(describing camera: GatewayConfiguration.Camera) {
        self.init(values: [
            "name": .text(camera.name), "source": .text(EnvironmentReferences.escaped(camera.sourceText)),
            "type": .text(camera.kind == .doorbell ? "doorbell" : "camera"),
        ])
    }
}
