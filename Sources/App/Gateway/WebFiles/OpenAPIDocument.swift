import CWebFiles
import Foundation
import Yams

/// The OpenAPI 3.1 description of the HTTP API. People read and write it as YAML, in
/// `Sources/App/WebFiles/openapi.yaml`. The gateway serves it as JSON.
enum OpenAPIDocument {
    /// The document as YAML.
    static var yaml: String { openapi_document().text }

    /// The document as JSON.
    static func json() throws -> String {
        let value = try Yams.load(yaml: yaml) ?? [String: Any]()
        let data = try JSONSerialization.data(withJSONObject: value, options: [.sortedKeys, .withoutEscapingSlashes])
        return String(decoding: data, as: UTF8.self)
    }
}
