import Foundation
import Yams

/// The OpenAPI 3.1 description of the HTTP API. It is written in YAML for people and served as JSON.
enum OpenAPIDocument {
    /// The document as YAML.
    static let yaml =
        Self.head + Self.paths + Self.livePaths + Self.streamingPaths + Self.cameraPaths + Self.eventPaths
        + Self.components + Self.cameraSchemas + Self.eventComponents

    /// The document as JSON.
    static func json() throws -> String {
        let value = try Yams.load(yaml: self.yaml) ?? [String: Any]()
        let data = try JSONSerialization.data(withJSONObject: value, options: [.sortedKeys, .withoutEscapingSlashes])
        return String(decoding: data, as: UTF8.self)
    }
}
