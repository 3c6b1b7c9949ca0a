import Foundation
import Yams

/// Settings that arrive as text from outside, one function for each kind: the config file, the file of the API's
/// cameras, and the body of a request to the API. The fuzz targets use it.
package enum ConfigurationTexts {
    /// Reads a config file's text. Returns nil if it has problems, all of which are put into words.
    package static func readConfig(_ text: String) -> [String]? {
        do throws(ConfigurationError) {
            return try GatewayConfiguration(yaml: text, environment: ["NAME": "value"]).cameras.map(\.id)
        } catch {
            _ = error.description
            return nil
        }
    }

    /// Reads a text as the file of the API's cameras, writes its contents, and reads the result.
    /// - Returns: whether both readings agree; nil if the text cannot be read.
    package static func cameraFileIsStable(_ text: String) -> Bool? {
        guard let node = (try? Yams.compose(yaml: text)) ?? nil else { return nil }
        let entry = CameraEntry(node: node)
        guard let written = try? Yams.serialize(node: entry.node(id: "a"), allowUnicode: true),
            let again = (try? Yams.compose(yaml: written)) ?? nil
        else { return false }
        var read = CameraEntry(node: again)
        read.values["id"] = nil
        var first = entry
        first.values["id"] = nil
        return read == first
    }

    /// Reads the body of a request that changes a camera, with `environment` at hand, and writes out the resulting
    /// camera. Returns nil if the body is refused.
    package static func readCameraBody(_ body: [UInt8], environment: [String: String]) -> String? {
        guard let entry = CameraEntry(json: Data(body)) else { return nil }
        let merged = CameraEntry(values: ["name": .text("Door")]).merged(with: entry)
        do throws(ConfigurationError) {
            let camera = try GatewayConfiguration.Camera(id: "a", checking: merged, environment: environment)
            return "\(camera)"
        } catch {
            // The message that a client gets.
            return error.description
        }
    }

    /// Checks the body of a request with sections of a config. Returns what is wrong with them; nil if it is not an object.
    package static func checkDraft(_ body: [UInt8]) -> [String]? {
        ConfigurationDraft(json: Data(body))?.problems.map(\.description)
    }
}
