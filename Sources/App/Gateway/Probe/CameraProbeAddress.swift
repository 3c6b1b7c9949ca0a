import Foundation
import RTSP

/// The address of a camera to probe, as it was typed.
public struct CameraProbeAddress: Sendable {
    /// Why an address cannot be probed; holds no password.
    public struct Failure: Error, Sendable, CustomStringConvertible {
        /// What is wrong and what would be right.
        public var description: String
    }

    /// The text that was typed.
    public let typed: String
    /// The text with `${NAME}` replaced by the environment's values. Never print it.
    public let expanded: String
    /// The address.
    public let url: RTSPURL

    /// Reads an address with the rules of the config's `source`: an `rtsp://` or `rtsps://` URL.
    public init(
        _ typed: String, environment: [String: String] = ProcessInfo.processInfo.environment
    ) throws(Failure) {
        let camera: GatewayConfiguration.Camera
        do {
            camera = try .init(
                id: "camera", checking: CameraEntry(values: ["source": .text(typed)]), environment: environment)
        } catch {
            throw Failure(description: error.problems.map(\.reason).joined(separator: "; "))
        }
        guard case .rtsp(let text) = camera.source else {
            throw Failure(description: "expected an rtsp:// or rtsps:// URL")
        }
        do {
            self.url = try RTSPURL(parsing: text)
        } catch {
            throw Failure(description: "the URL cannot be used: \(error)")
        }
        self.typed = typed
        self.expanded = text
    }
}
