import Foundation
import Yams

extension GatewayConfiguration.Camera {
    /// The source as the config's key has it. It may hold a password: never print it.
    var sourceText: String {
        switch source {
        case .builtInDoorbell: "builtin:doorbell"
        case .builtInSilent: "builtin:silent"
        case .rtsp(let url), .onvif(let url), .pictures(let url), .stream(let url), .videoDevice(let url): url
        case .publisher: "publisher"
        }
    }

    /// Checks an entry with the rules of the config file.
    /// - Throws: what is wrong, each with its key.
    init(
        id: String, checking entry: CameraEntry, environment: [String: String]
    ) throws(ConfigurationError) {
        let reader = YAMLReader()
        let loader = ConfigurationLoader(reader: reader, directory: ".", environment: environment)
        let camera = loader.camera(.init(node: entry.node(id: id), path: ""))
        guard let camera, reader.problems.isEmpty else {
            throw ConfigurationError(file: "", problems: reader.problems)
        }
        self = camera
    }
}
